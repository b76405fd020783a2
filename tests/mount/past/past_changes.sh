#!/usr/bin/env bash
# History and changes of planted events: what was born, changed, moved and died, how often and by how much, where it was then.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

mkdir -p "$SOURCE/in" "$SOURCE/out"
words 1 300 > "$SOURCE/in/kept"
words 1000 300 > "$SOURCE/in/dies"
words 2000 300 > "$SOURCE/in/moves"
words 3000 300 > "$SOURCE/out/other"
# Born long ago, as far as anyone knows: its times are of before; ctime is of now, so all four count as born today.
start
expect_code 0 "$KINFS" settle "$MNT"
settle() { expect_code 0 "$KINFS" settle "$MNT"; }
sum() { # NAME [DIRECTORY]: of all periods
    "$KINFS" changes --json --since=3d "$MNT/${2-in}" | python3 -c '
import json, sys
print(sum(row.get(sys.argv[1], 0) for row in map(json.loads, sys.stdin)))' "$1"
}
expect_all() { # WHAT BORN CHANGED MOVED DIED DIRECTORIES
    expect_equal "$1" "$2 $3 $4 $5 $6" "$(sum born) $(sum changed) $(sum moved) $(sum died) $(sum directories_moved)"
}
expect_all 'at first' 3 0 0 0 0
# One comes and is edited: born and changed. 30 of 300 words: r = (296 - 34) / (296 + 34) = 0.79.
words 4000 300 > "$MNT/in/new"
settle
{ words 4000 100; words 90000 30; words 4130 170; } > "$SCRATCH/edited"
cp "$SCRATCH/edited" "$MNT/in/new" # at once: what is sketched half written is a version, too
settle
expect_all 'came and was edited' 4 1 0 0 0
amount=$(sum change)
python3 -c 'import sys; sys.exit(not abs(1 - 262 / 330 - float(sys.argv[1])) < 4 * (0.25 / 128) ** 0.5)' "$amount" || fail "change: $amount"
# The same words again, and other times: nothing.
cp "$MNT/in/kept" "$SCRATCH/kept"
cat "$SCRATCH/kept" > "$MNT/in/kept"
touch "$MNT/in/kept"
chmod 600 "$MNT/in/kept"
settle
expect_all 'as it was' 4 1 0 0 0
# A death after a rename is one death, and the rename a move.
mv "$MNT/in/dies" "$MNT/in/dies2"
settle
rm "$MNT/in/dies2"
settle
expect_all 'moved and died' 4 1 1 1 0
# Moved out of the directory: a move from there, no death; a directory moved is one of those, and neither moves nor deaths.
mv "$MNT/in/moves" "$MNT/out/moved"
settle
mkdir "$MNT/in/sub"
words 5000 300 > "$MNT/in/sub/one"
settle
mv "$MNT/in/sub" "$MNT/in/sub2"
settle
expect_all 'moved' 4 1 2 1 1
expect_equal 'elsewhere' '2 0' "$(sum born out) $(sum died out)"

# The history of a document follows it, and says where it was then.
history_of() { "$KINFS" history --json "$MNT/$1" | python3 -c '
import json, sys
print(" ".join(row["event"] + ":" + row["path"] for row in map(json.loads, sys.stdin)))'; }
expect_equal 'edited' 'changed:in/new now:in/new' "$(history_of in/new)"
expect_equal 'moved' 'moved:in/moves now:out/moved' "$(history_of out/moved)"
expect_equal 'by where it was' 'moved:in/moves' "$(history_of in/moves)"
expect_equal 'dead' 'moved:in/dies died:in/dies2' "$(history_of in/dies2)"
words 6000 300 > "$MNT/out/moved"
settle
expect_equal 'rewritten' 'moved:in/moves changed:out/moved now:out/moved' "$(history_of out/moved)"
# An editor that puts new files in the place: other documents, of one path. The new one's first name is none of a document's,
# so that it has no past by then, however long the machine takes.
words 1 310 > "$MNT/in/.kept.swp"
mv "$MNT/in/.kept.swp" "$MNT/in/kept"
settle
expect_equal 'replaced' 'died:in/kept now:in/kept' "$(history_of in/kept)"
expect_equal 'two documents' '1 2' "$("$KINFS" history "$MNT/in/kept" | cut -f 5 | tr '\n' ' ' | sed 's/ $//')"
expect_code 1 "$KINFS" history "$MNT/in/never"
# Sixteen contents at most, the first among them.
for i in {1..30}; do
    words $((10000 + 1000 * i)) 200 > "$MNT/out/often"
    settle
done
[[ $("$KINFS" history "$MNT/out/often" | wc -l) -eq 17 ]] || fail "$("$KINFS" history "$MNT/out/often")"

# The table has a line a day, a bar in each that has anything, and what the changes left.
table=$("$KINFS" changes --since=3d "$MNT/in")
expect_match 'table' 'day +born +died +moved +dirs +changed +change' "$table"
expect_match 'bars' '\+{4}' "$table"
expect_match 'left' '(60|70|80)- *[0-9]+ % +1  #' "$table"
expect_equal 'weeks' 5 "$("$KINFS" changes --since=28d --by=week "$MNT" | sed -n '2,/^$/p' | grep -c '^[0-9]')"
expect_code 2 "$KINFS" changes --since=x "$MNT"
expect_code 2 "$KINFS" changes --by=year "$MNT"
before=$("$KINFS" changes --json --since=3d "$MNT")
stop
expect_equal 'of the store' "$before" "$("$KINFS" changes --json --since=3d "$SOURCE")"
# A store that is named is asked from anywhere, about the whole tree; a path with it, from where that is.
store=$("$KINFS" status --json "$SOURCE" | python3 -c 'import json, sys; print(json.load(sys.stdin)["store"])')
expect_equal 'of a store that is named' "$before" "$(cd / && "$KINFS" changes --json --since=3d -s "$store")"
expect_equal 'of a directory of it' "$("$KINFS" changes --json --since=3d "$SOURCE/in")" \
    "$(cd "$SOURCE/in" && "$KINFS" changes --json --since=3d -s "$store" .)"
expect_equal 'of the store' 'died:in/kept now:in/kept' "$("$KINFS" history --json "$SOURCE/in/kept" | python3 -c '
import json, sys
print(" ".join(row["event"] + ":" + row["path"] for row in map(json.loads, sys.stdin)))')"
expect_code 0 "$KINFS" rebuild "$SOURCE"
expect_equal 'after a rebuild' "$before" "$("$KINFS" changes --json --since=3d "$SOURCE")"
expect_code 0 "$KINFS" check "$SOURCE"
