#!/usr/bin/env bash
# Documents in directories so deep that no path leads to them: they take no place among the answers, and their paths no memory.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"
words 1 200 > "$SOURCE/public"
start -o settle_ms=60000
cp "$MNT/public" "$MNT/near"
python3 - "$MNT" << 'PYTHON'
import os, sys

DEPTH, COPIES, NAME = 1500, 40, "d" * 255
document = open(f"{sys.argv[1]}/public", "rb").read()
at = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(DEPTH):
    os.mkdir(NAME, dir_fd=at)
    below = os.open(NAME, os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = below
for i in range(COPIES):
    fd = os.open(f"copy{i}", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(fd, document)
    os.close(fd)
PYTHON
"$KINFS" settle "$MNT" > /dev/null
expect_match 'all are documents' '"documents": *42\b' "$("$KINFS" status --json "$MNT")"
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$daemon/status"; }

before=$(peak)
expect_equal 'what resembles it' 100-near "$(ls "$MNT/similar/public")"
expect_equal 'the first that resembles it' near "$("$KINFS" similar -n 1 "$MNT/public" | cut -f 2 | head -c 40)"
# One such path has 384,000 bytes, and 1,500 of them 288 MB.
(($(peak) - before < 100000)) || fail "$((($(peak) - before) / 1024)) MiB for paths"
# rm(1) goes down by descriptors, and takes none for each depth.
rm -rf "$MNT/$(printf 'd%.0s' {1..255})"
stop
