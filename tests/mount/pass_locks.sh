#!/usr/bin/env bash
# Record locks and flock(2) hold between users of the mount, and between them and those of the tree.
. "$(dirname "$0")/../lib/mount.sh"
needs python3
locks=$(cd "$(dirname "$0")/../lib" && pwd)/locks.py
touch plain
python3 "$locks" plain plain || fail "the test itself is wrong here"
start
touch "$MNT/file"
python3 "$locks" "$MNT/file" "$MNT/file"
python3 "$locks" "$MNT/file" "$SOURCE/file"
python3 "$locks" "$SOURCE/file" "$MNT/file"
stop
