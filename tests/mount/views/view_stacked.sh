#!/usr/bin/env bash
# An overlay on the mount asks as who mounted it, root, for everybody: nobody is shown views by that, nor what attributes tell of them.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs_fuse
needs setpriv getfattr
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/closed" "$SCRATCH"/{empty,over}
words 1 100 > "$SOURCE/public"
words 3 100 > "$SOURCE/other"
words 1 101 > "$SOURCE/closed/secret"
chmod 700 "$SOURCE/closed"
start -o allow_other,list_xattr
"$KINFS" settle "$MNT"
mount -t overlay overlay -o "ro,lowerdir=$MNT:$SCRATCH/empty" "$SCRATCH/over" || { stop; skip 'no overlay here'; }

as_user() { setpriv --reuid 12345 --regid 12345 --clear-groups "$@"; }
expect_equal 'the tree' "$(cat "$SOURCE/public")" "$(as_user cat "$SCRATCH/over/public")"
for path in similar/public similar/closed clusters; do
    ! OUT=$(as_user ls -R "$SCRATCH/over/$path" 2>&1) || fail "$path: $OUT"
    [[ $OUT != *secret* && $OUT != *other* ]] || fail "$path tells: $OUT"
done
for name in similar nearest cluster cluster.size state; do
    ! as_user getfattr -n "user.kinfs.$name" "$SCRATCH/over/public" > /dev/null 2>&1 || fail "$name is told"
done
expect_equal 'a list of attributes' '' "$(as_user getfattr "$SCRATCH/over/public")"
# The mount itself answers as before.
expect_match 'for root' secret "$(ls "$MNT/similar/public")"
expect_match 'for the user' '^[0-9]+-other$' "$(as_user ls "$MNT/similar/public")"
umount "$SCRATCH/over"
stop
