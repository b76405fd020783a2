#!/usr/bin/env bash
# A kinfs mounted inside the tree of another shows each user through the other what it shows that user by itself.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs_fuse
needs setpriv
chmod 755 "$SCRATCH"
inner=$SOURCE/inner
mkdir -p "$SCRATCH/documents/closed" "$inner"
words 1 100 > "$SCRATCH/documents/public.txt"
words 3 100 > "$SCRATCH/documents/other.txt"
words 1 101 > "$SCRATCH/documents/closed/secret.txt"
chmod 700 "$SCRATCH/documents/closed"
"$KINFS" mount -o allow_other "$SCRATCH/documents" "$inner"
"$KINFS" settle "$inner"

seen() { # DIRECTORY UID
    setpriv --reuid "$2" --regid "$2" --clear-groups sh -c 'cd "$1" && ls similar/public.txt similar &&
        readlink similar/public.txt/*' - "$1"
}
[[ $(seen "$inner" 0) == *secret* ]] || fail 'nothing to hide'
of_user=$(seen "$inner" 12345)
expect_match 'of the user' other "$of_user"
for how in passthrough nopassthrough; do
    start -o allow_other,$how
    for n in 1 2; do
        expect_equal "for root, $n, $how" "$(seen "$inner" 0)" "$(seen "$MNT/inner" 0)"
        expect_equal "for a user, $n, $how" "$of_user" "$(seen "$MNT/inner" 12345)"
    done
    stop
done
"$KINFS" umount "$inner"
