#!/usr/bin/env bash
# A user who waits for hundreds of locks, as itself or by set-uid programs, is refused more, while others still wait and are granted
# theirs.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
crowd=$LIB/greed/lock_crowd.py
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
touch "$SOURCE/file"
chmod 666 "$SOURCE/file"
ulimit -n "$(ulimit -Hn)"
start -o allow_other,views=none
python3 "$crowd" "$MNT/file" 54321 54322
# There is room again.
python3 "$crowd" "$MNT/file" 54321 54322
python3 "$crowd" "$MNT/file" 54321 0 setuid
stop
