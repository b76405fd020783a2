#!/usr/bin/env bash
# kinfs stores says which stores there are, of which trees; kinfs forget removes one that nobody uses, and no document.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
export KINFS_STATE_DIR=$SCRATCH/state
expect_code 1 "$KINFS" stores
mkdir -p "$SOURCE" tree gone other
words 1 100 | tee "$SOURCE/a" tree/a > gone/a
odd=$'odd \t\nname'
mkdir "$odd"
for directory in tree gone "$odd"; do
    "$KINFS" scan "$directory" > /dev/null
done
store() { # DIRECTORY: the store of it
    "$KINFS" stores --json | python3 -c 'import json, sys
print(*[r["store"] for r in map(json.loads, sys.stdin) if r["source"] == sys.argv[1]])' "$SCRATCH/$1"
}
state() { # DIRECTORY
    "$KINFS" stores | grep -F $'\t'"$SCRATCH/$1"$'\t' | cut -f 2
}
expect_equal 'stores' 3 "$("$KINFS" stores | wc -l)"
expect_equal 'of a tree' unused "$(state tree)"
expect_match 'of an odd name' 'odd\\ \\t\\nname' "$("$KINFS" stores)"
expect_equal 'its size' "$(du -sB1 "$(store tree)" | cut -f 1)" "$("$KINFS" stores | grep -F $'\t'"$SCRATCH/tree"$'\t' | cut -f 1)"
gone=$(store gone)
mv gone elsewhere
expect_equal 'of what is not there' gone "$(state gone)"

# Without the file that says whose it is the store itself does.
rm "$(store tree)/holder"
expect_equal 'of a tree' unused "$(state tree)"

# What is no store is not shown, nor what others can change.
mkdir state/empty state/other
echo something > state/other/file
expect_equal 'stores' 3 "$("$KINFS" stores | wc -l)"
chmod 777 "$(store tree)"
expect_code 3 "$KINFS" stores
expect_match 'that others can change' 'is not opened' "$OUT"
chmod 700 state/*/

# -- forgetting --
expect_code 0 "$KINFS" forget "$gone"
expect_equal 'nothing is said' '' "$OUT"
[[ ! -e $gone ]] || fail 'the store is there still'
expect_equal 'stores' 2 "$("$KINFS" stores | wc -l)"
cmp elsewhere/a tree/a
expect_code 3 "$KINFS" forget "$gone"
expect_match 'one that is not there' 'no store' "$OUT"
for wrong in state/empty state/other tree "$SCRATCH"; do
    before=$(find "$wrong" | sort)
    expect_code 3 "$KINFS" forget "$wrong"
    expect_equal "$wrong, after $OUT" "$before" "$(find "$wrong" | sort)"
done
tree=$(store tree)
echo mine > "$tree/notes"
mkdir "$tree/db/mine"
expect_code 3 "$KINFS" forget "$tree"
expect_match 'with a directory of somebody in it' 'not all of the store can be removed' "$OUT"
rmdir "$tree/db/mine"
expect_code 3 "$KINFS" forget "$tree"
expect_match 'with other files in it' 'there are other files' "$OUT"
expect_equal 'what is left' notes "$(ls -A "$tree")"
rm -r "$tree"
expect_code 2 "$KINFS" forget
expect_code 0 "$KINFS" scan tree

# What is in use stays, and what a killed daemon left goes.
start
store=$(store source)
expect_match 'mounted' "^mounted on $MNT \(process [0-9]+\)$" "$(state source)"
expect_code 3 "$KINFS" forget "$store"
expect_match 'in use' "mounted on $MNT .*; unmount it first" "$OUT"
kill -9 "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$store/holder")"
"$KINFS" umount "$MNT" > /dev/null 2>&1 || true
expect_code 0 "$KINFS" forget "$store"
[[ ! -e $store ]] || fail "there are still: $(ls -A "$store")"
