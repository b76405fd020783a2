#!/usr/bin/env bash
# Deliveries into a Maildir and into an mbox, by several processes at once, while others read, mark
# and remove: no message lost, none twice, none torn.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
spool=$LIB/work/mail_spool.py

mkdir plain
python3 "$spool" "$PWD/plain"
for option in passthrough nopassthrough; do
    start -o "$option"
    mkdir "$MNT/$option"
    python3 "$spool" "$MNT/$option" || fail "with $option"
    stop
    diff -r --no-dereference "$SOURCE/$option/expected" "$SOURCE/$option/found"
done
