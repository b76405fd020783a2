#!/usr/bin/env bash
# sqlite under two writers and a reader, in each way it can keep its journal: no transaction lost, none
# torn, and the database whole on both sides of the mount.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
python3 -c 'import sqlite3' 2> /dev/null || skip "python3 has no sqlite3"
writers=$LIB/work/sqlite_writers.py

mkdir plain
python3 "$writers" run plain
for option in passthrough nopassthrough; do
    start -o "$option"
    mkdir "$MNT/$option"
    python3 "$writers" run "$MNT/$option" || fail "with $option"
    stop
    python3 "$writers" check "$SOURCE/$option" || fail "with $option, seen in the source"
done
