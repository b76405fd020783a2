#!/usr/bin/env bash
# scan without a mount follows the tree; rebuild gives the same answers, with the same cluster ids.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse

mkdir -p "$SOURCE"
for i in 1 2 3; do
    words $((i * 1000)) 100 > "$SOURCE/$i-a"
    words $((i * 1000 + 10)) 100 > "$SOURCE/$i-b"
done
expect_equal 'scan' '6 documents in 3 clusters' "$("$KINFS" scan "$SOURCE")"
words 2000 100 > "$SOURCE/2-c"
rm "$SOURCE/1-b"
expect_equal 'scanned again' '6 documents in 2 clusters' "$("$KINFS" scan "$SOURCE")"

answers() {
    "$KINFS" clusters "$SOURCE"
    for file in "$SOURCE"/*; do
        echo "$file"
        "$KINFS" clusters "$file" 2>&1 || true
        "$KINFS" similar -t 0 -n 0 "$file" || true
    done
}
answers > before
expect_equal 'rebuilt' '6 documents in 2 clusters' "$("$KINFS" rebuild "$SOURCE")"
answers > after
diff before after

start
expect_code 3 "$KINFS" rebuild "$MNT"
expect_match 'refused' "mounted on $MNT .*unmount it first" "$OUT"
expect_code 3 "$KINFS" rebuild "$SOURCE"

# A change behind the mount's back is found by the next scan.
words 3000 100 > "$SOURCE/3-d"
expect_equal 'scan of a mount' '7 documents in 2 clusters' "$("$KINFS" scan "$MNT")"
expect_match 'found' '3-d' "$("$KINFS" similar "$MNT/3-a")"
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
stop
expect_code 0 "$KINFS" settle "$SOURCE"
expect_code 0 "$KINFS" rebuild --json "$SOURCE"
expect_equal 'json' '{"documents":7,"clusters":2,"skipped":0}' "$OUT"
