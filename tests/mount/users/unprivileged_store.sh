#!/usr/bin/env bash
# An ordinary user's own store works where such stores are; those of others, root's among them, and such that others can change, are
# refused in one line, and stay as they are.
. "${0%/mount/*}/lib/shell/unprivileged.sh"
STRANGER=54322
if [[ $EUID = 0 && ${KINFS_TEST_NAMESPACE-} ]]; then # what the user cannot make alone
    mkdir -p "$SCRATCH/roots/store" "$SCRATCH/strangers/store" "$SCRATCH/above"
    for owner in 0:roots $STRANGER:strangers; do
        store=$SCRATCH/${owner#*:}/store
        printf 'kinfs\n' > "$store/lock"
        mkdir "$store/db"
        chown -R "${owner%:*}" "$SCRATCH/${owner#*:}"
    done
    mkdir -m 1777 "$SCRATCH/sticky"
    ln -s "$SCRATCH/own" "$SCRATCH/sticky/link"
    chown -h $STRANGER "$SCRATCH/sticky/link"
fi
become_ordinary_user
. "${0%/mount/*}/lib/shell/mount.sh"
[[ -d $SCRATCH/roots ]] || skip "only root can make what other users left"
umask 022
mkdir -p "$SOURCE" "$MNT"
words 1 100 > "$SOURCE/a"
words 1 100 > "$SOURCE/b"

# refused REGEX COMMAND...: exit code 3 and one line.
refused() {
    local regex=$1
    shift
    expect_code 3 timeout 60 "$@"
    [[ $OUT =~ $regex && $OUT != *$'\n'* ]] || fail "$*: said '$OUT', not one line with '$regex'" 1
}

for store in "$SCRATCH/own" "$SCRATCH/sticky/own" "$HOME/.local/state/kinfs/own"; do
    start -o store="$store"
    "$KINFS" settle "$MNT" > /dev/null
    expect_equal "views" "100-b" "$(ls "$MNT/similar/a")"
    expect_match "asked by the mount" $'\tb$' "$("$KINFS" similar "$MNT/a")"
    expect_match "asked with a document" $'\tb$' "$("$KINFS" similar --tree="$MNT" "$SOURCE/a")"
    stop
    expect_match "asked without a mount" $'\tb$' "$("$KINFS" similar --store="$store" "$SOURCE/a")"
done

before=$(find "$SCRATCH/roots" "$SCRATCH/strangers" -printf '%p %U %m %s %T@\n')
for case in roots:root "strangers:user $STRANGER"; do
    store=$SCRATCH/${case%%:*}/store
    for command in "scan --store=$store $SOURCE" "status --store=$store" "check --store=$store $SOURCE" "mount -o store=$store $SOURCE $MNT"; do
        # shellcheck disable=SC2086
        refused "$SCRATCH/${case%%:*}(/store)? belongs to ${case#*:}" "$KINFS" $command
    done
done
refused "$SCRATCH/strangers belongs to user $STRANGER" "$KINFS" mount -o store="$SCRATCH/strangers/new" "$SOURCE" "$MNT"
expect_equal "what belongs to others" "$before" "$(find "$SCRATCH/roots" "$SCRATCH/strangers" -printf '%p %U %m %s %T@\n')"

refused "symbolic link $SCRATCH/sticky/link belongs to user $STRANGER" "$KINFS" scan --store="$SCRATCH/sticky/link" "$SOURCE"
chmod 0770 "$SCRATCH/own"
refused "others can write $SCRATCH/own; chmod go-w $SCRATCH/own" "$KINFS" scan --store="$SCRATCH/own" "$SOURCE"
chmod go-w "$SCRATCH/own" # as it says
"$KINFS" scan --store="$SCRATCH/own" "$SOURCE" > /dev/null
rm -f "$SCRATCH/own/db/SEAL"
ln -s /etc/passwd "$SCRATCH/own/db/SEAL.new"
refused "$SCRATCH/own/db/SEAL.new is a symbolic link" "$KINFS" scan --store="$SCRATCH/own" "$SOURCE"
