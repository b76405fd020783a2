#!/usr/bin/env bash
# kinfs scan makes the clusterings of the configuration, as a mount does.
. "${0%/mount/*}/lib/shell/mount.sh"

mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/b" # 86 of 106 windows are those of a
words 46 100 > "$SOURCE/c" # 51 of 141, of b 61 of 131
cp "$SOURCE/c" "$SOURCE/d"
printf '[clustering "near"]\nrule = components:0.3\n[clustering "same"]\nrule = components:1\n' > one
printf '[clustering "same"]\nrule = components:1\n' > two
: > none
names() { "$KINFS" clusters --clustering="$1" "$2" | cut -f 2 | xargs; } # the size of each cluster

"$KINFS" scan -c one "$SOURCE" > scanned
expect_equal 'near' 4 "$(names near "$SOURCE")"
expect_equal 'same' 2 "$(names same "$SOURCE")"
"$KINFS" scan "$SOURCE" > scanned # whose configuration has none: they stay
expect_equal 'they stay' 4 "$(names near "$SOURCE")"
KINFS_CONFIG=two "$KINFS" scan "$SOURCE" > scanned
expect_code 3 "$KINFS" clusters --clustering=near "$SOURCE"
expect_equal 'and those of the other are there' 2 "$(names same "$SOURCE")"
"$KINFS" scan -c none "$SOURCE" > scanned
expect_code 3 "$KINFS" clusters --clustering=same "$SOURCE"

# The other route: a mount with the same configuration has nothing to do.
"$KINFS" scan -c one "$SOURCE" > scanned
ids=$("$KINFS" clusters --clustering=near "$SOURCE" | cut -f 1)
if [[ -c /dev/fuse ]]; then
    start -o config="$PWD/one"
    "$KINFS" settle "$MNT" > settled
    expect_equal 'the same clusters' "$ids" "$("$KINFS" clusters --clustering=near "$MNT" | cut -f 1)"
fi
printf '[clustering "near"]\nrule = nothing\n' > wrong
expect_code 2 "$KINFS" scan -c wrong "$SOURCE"
