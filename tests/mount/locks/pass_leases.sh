#!/usr/bin/env bash
# A lease on a file of the tree (fcntl(F_SETLEASE)) is waited for by those who open that file, and by nobody else.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
leases=$LIB/greed/leases.py
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/leased" "$SOURCE/open"
(cd "$SOURCE/leased" && touch $(seq 0 271))
chown -R 54321:54321 "$SOURCE/leased"
chmod 777 "$SOURCE/open"
ulimit -n "$(ulimit -Hn)"
for option in passthrough nopassthrough; do
    start -o "allow_other,views=none,$option"
    python3 "$leases" "$MNT" "$SOURCE" 54321 54322
    stop
done
