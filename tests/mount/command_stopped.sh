#!/usr/bin/env bash
# A daemon that is stopped: no command waits for it for ever, each says what is wrong and what helps; let go on it answers again.
. "$(dirname "$0")/../lib/mount.sh"
needs_fuse
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
start
holder=$(echo "$KINFS_STATE_DIR"/*/holder)
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$holder")
expect_code 0 "$KINFS" status "$MNT"
# umount(8), by which a test that failed cleans up, waits for ever.
trap 'kill -CONT "$pid" 2> /dev/null || true' EXIT

kill -STOP "$pid"
expect_code 3 "$KINFS" similar "$MNT/nothing of that name"
expect_match 'a question by the mount' "the mount $MNT has not answered.*kill -CONT.*umount --force" "$OUT"
expect_code 3 "$KINFS" status -s "${holder%/*}"
expect_match 'a question by the store' "daemon \(process $pid\) is stopped; kill -CONT $pid" "$OUT"
kill -CONT "$pid"
expect_code 0 "$KINFS" status "$MNT"

kill -STOP "$pid"
expect_code 0 "$KINFS" umount --force "$MNT"
kill -CONT "$pid"
timeout 60 tail --pid="$pid" -f /dev/null || fail "the daemon does not end"
