#!/usr/bin/env bash
# One user has at most half of the descriptors there are for users, by whatever is open, locked or held, and little more by set-uid
# programs of root; others go on.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
share=$LIB/greed/descriptor_share.py
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/files" "$SOURCE/directories" "$SOURCE/mine" "$SOURCE/anybodys"
(cd "$SOURCE/files" && touch $(seq 0 1023))
(cd "$SOURCE/directories" && mkdir $(seq 0 1023))
chown 54321 "$SOURCE/mine"
chmod 777 "$SOURCE/anybodys"
(ulimit -n 1024 && start -o allow_other)
ulimit -n "$(ulimit -Hn)"
python3 "$share" "$MNT" 1024 54321 54322
python3 "$share" "$MNT" 1024 54321 0 setuid
stop
