#!/usr/bin/env bash
# kinfs check: with a mount and without, what it counts, and what it finds in a damaged store.
. "$(dirname "$0")/../lib/mount.sh"
needs_fuse

mkdir -p "$SOURCE/sub"
for i in 1 2 3; do
    words $((i * 1000)) 100 > "$SOURCE/$i-a"
    words $((i * 1000 + 10)) 100 > "$SOURCE/sub/$i-b"
done
cp "$SOURCE/1-a" "$SOURCE/copy"
"$KINFS" scan "$SOURCE" > /dev/null

# -- nothing is wrong --

expect_code 0 "$KINFS" check "$SOURCE"
expect_match 'names' 'names +8' "$OUT"
expect_match 'documents' 'documents +7' "$OUT"
expect_match 'clusters' 'clusters +3, with 7 documents' "$OUT"
expect_match 'wrong' 'wrong +0' "$OUT"
expect_code 0 "$KINFS" check --deep --json "$SOURCE"
expect_match 'json' '"documents":7,.*"wrong":0,"findings":\[\]' "$OUT"

start
expect_code 0 "$KINFS" check --deep "$MNT"
expect_match 'beside the daemon' 'documents +7' "$OUT"
# It goes on meanwhile, and each check is of its moment.
for i in $(seq 40); do
    words "$i" 60 > "$MNT/new$i"
    [[ $i = 1 ]] || rm "$MNT/new$((i - 1))"
done &
for i in 1 2 3 4 5; do
    expect_code 0 "$KINFS" check "$MNT"
done
wait
expect_code 0 "$KINFS" settle "$MNT"
expect_code 0 "$KINFS" check --deep "$SOURCE"
expect_match 'afterwards' 'documents +8' "$OUT"
stop

# -- a crash leaves nothing that is wrong --

"$KINFS" mount -f "$SOURCE" "$MNT" 2> /dev/null &
pid=$!
soon 'mounted' test -d "$MNT/similar"
words 5000 100 > "$MNT/before-the-crash"
expect_code 0 "$KINFS" settle "$MNT"
kill -KILL "$pid"
wait "$pid" 2> /dev/null || true
umount -l "$MNT"
expect_code 0 "$KINFS" check --deep "$SOURCE"
expect_match 'after a crash' 'documents +9' "$OUT"

# -- there is nothing to check --

expect_code 3 "$KINFS" check "$SCRATCH"
start -o nosketch
expect_code 3 "$KINFS" check "$MNT"
expect_match 'no sketches' 'nosketch' "$OUT"
stop
