#!/usr/bin/env bash
# Where an ordinary user's daemon serves root too, who may both see all, each is given a list of unique/ of one's own.
. "${0%/mount/*}/lib/shell/unprivileged.sh"
# What looks as root, for the ordinary user.
[[ $EUID != 0 ]] || install -m 4755 "$(command -v stat)" "$SCRATCH/stat-as-root"
export USER_ALLOW_OTHER=1
become_ordinary_user
. "${0%/mount/*}/lib/shell/mount.sh"
needs fusermount3 setpriv
LIST=$MNT/unique/.kinfs-skipped.tsv
[[ -x $SCRATCH/stat-as-root ]] || skip 'only root can make what looks as root'
mkdir -p "$SOURCE"
words 1 600 | tee "$SOURCE/a" > "$SOURCE/b"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null
[[ $("$SCRATCH/stat-as-root" -c %u "$LIST") = 0 ]] || skip 'no program acts as root here'
expect_equal "the user's list" "$UID" "$(stat -c %u "$LIST")"
expect_equal 'its lines' 1 "$(wc -l < "$LIST")"
expect_equal "root's list" 0 "$("$SCRATCH/stat-as-root" -c %u "$LIST")"
stop
