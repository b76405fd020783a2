#!/usr/bin/env bash
# What is not equal is shown as 1 nowhere: not where samples agree, not where one document contains the other. A threshold of 1
# joins equal documents alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr python3

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
basenames() { cut -f 2 | sed 's|.*/||' | xargs; }

# v1 to v5 differ in their last word: one shingle of some 3,000, which is in few samples. A sample has 128, or one in 25 of all where
# these are more; of the five texts' pairs all would disagree where four of these shingles are in, once in some 10,000 keys. `long` has all
# of v1 and more, and `short` is whole in each.
mkdir -p "$SOURCE"
for i in $(seq 5); do
    { words 1 3000; echo "last$i"; } > "$SOURCE/v$i"
done
{ cat "$SOURCE/v1"; words 9000 300; } > "$SOURCE/long"
words 500 1000 > "$SOURCE/short"
{ echo '<!DOCTYPE html><title></title><p>'; tr 'a-z' 'A-Z' < "$SOURCE/v1"; } > "$SOURCE/page" # the text of v1
cp "$SOURCE/v2" "$SOURCE/copy"
# Small ones, of which sketches hold all shingles: the same shingles, other texts.
for i in 7 9; do printf 'again %.0s' $(seq "$i") > "$SOURCE/again$i"; done

# Tables of the same values in each row, in other columns.
{ echo name,friend,n; for i in $(seq 5); do echo "alice$i,bob$i,$i"; done; } > "$SOURCE/table"
{ echo name,friend,n; for i in $(seq 5); do echo "bob$i,alice$i,$i"; done; } > "$SOURCE/table2"
sed 's/,/;/g; s/$/\r/' "$SOURCE/table" > "$SOURCE/table3" # the text of `table`

start -o clusters=same:components:1.0,middle:center:1.0,parts:components:1.0:containment:1.0,batch:exact:1.0
"$KINFS" settle "$MNT"
cd "$SOURCE"

for a in *; do
    for b in *; do
        [[ $a > $b ]] || "$KINFS" compare --json "$MNT/$a" "$MNT/$b"
    done
done > "$SCRATCH/rows"
python3 - "$SCRATCH/rows" <<'PYTHON'
import json, sys
same_shingles = [('again7', 'again9'), ('table', 'table2'), ('table2', 'table3')]
agreeing = 0
for row in map(json.loads, open(sys.argv[1])):
    pair = row['a'], row['b']
    same = pair[0] == pair[1] or pair in [('page', 'v1'), ('copy', 'v2'), ('table', 'table3')]
    for name in 'resemblance', 'containment_ab', 'containment_ba':
        assert same == (row[name] is not None and round(row[name], 4) == 1), (name, row)
    assert row['same_text'] == same, row
    assert row['same_shingles'] == (same or pair in same_shingles), row
    agreeing += not same and row['resemblance'] == 0.9999 and row['resemblance_samples'] >= 128
assert agreeing
PYTHON
for pair in 'v1 v3' 'v3 v4' 'short long' 'v1 long' 'again7 again9' 'table table2'; do
    read -r a b <<< "$pair"
    [[ $("$KINFS" compare "$MNT/$a" "$MNT/$b" | grep -E '1\.0000|^the same [^s]') = '' ]] || fail "compare $pair"
    [[ $(value "$MNT/$a" "containment:$b") = 0.9* ]] || fail "containment of $pair"
    [[ $(value "$MNT/$a" "resemblance:$b") = 0.* ]] || fail "resemblance of $pair"
done
expect_match 'with its standard error' $'\nresemblance +0\.9[0-9]+ \+- 0\.0[0-9]+ \(1[2-9][0-9] samples\)' $'\n'"$("$KINFS" compare "$MNT/v3" "$MNT/v4")"
expect_equal 'the same shingles' 'the same shingles' "$("$KINFS" compare "$MNT/again7" "$MNT/again9" | tail -n 1)"
expect_equal 'the same text' 'the same text' "$("$KINFS" compare "$MNT/v1" "$MNT/page" | tail -n 1)"
for option in --exact --resample --sketch=min-hash; do
    expect_equal "tables of other cells, $option" '' "$("$KINFS" compare "$option" table table2 | grep '^the same text')"
    expect_equal "the same table, $option" 'the same text' "$("$KINFS" compare "$option" table table3 | tail -n 1)"
done

for a in v1 v3 again7; do # with equal documents besides: page, none, none
    n=$([[ $a = v1 ]] && echo 1 || echo 0)
    for answer in "$(ls "$MNT/similar/$a" | sed 's/^100-/1.0000/')" "$(value "$MNT/$a" similar)" \
        "$("$KINFS" similar -t 0 -n 0 "$MNT/$a")" "$("$KINFS" similar --containing -t 0 -n 0 "$MNT/$a")"; do
        [[ -n $answer ]] || fail "$a resembles nothing: this shows nothing"
        expect_equal "equal to $a" "$n" "$(grep -c '^1\.0000' <<< "$answer")"
    done
    expect_equal "of what is asked about, $a" $((n + 1)) "$("$KINFS" similar -t 0 -n 0 --tree "$MNT" - < "$a" | grep -c '^1\.0000')"
done

# What reaches 1 is equal, and so is who is together at 1.
expect_equal 'similar -t 1' $'1.0000\tpage' "$("$KINFS" similar -t 1 "$MNT/v1")"
expect_code 1 "$KINFS" similar -t 1 "$MNT/v3"
expect_code 1 "$KINFS" similar --containing -t 1 "$MNT/short"
for name in same middle parts batch; do
    members=$(for cluster in "$MNT/clusters/$name"/*; do ls "$cluster" | sed 's/^...-//' | sort | xargs; done | sort | xargs)
    expect_equal "$name" 'copy v2 page v1 table table3' "$members"
done
expect_equal 'kinfs cluster -t 1' 'copy v2 page v1 table table3' "$("$KINFS" cluster -t 1 . | basenames)"
expect_equal 'fast' 'copy v2 page v1 table table3' "$("$KINFS" cluster --mode=fast -t 1 . | basenames)"
expect_match 'below 1 samples decide' 'v3' "$("$KINFS" cluster -t 0.9999 . | basenames)"
stop
"$KINFS" check -d "$SOURCE" > "$SCRATCH/checked" || fail "$(cat "$SCRATCH/checked")"
expect_equal 'kinfs cluster --stored -t 1' 'copy v2 page v1 table table3' "$("$KINFS" cluster --stored -t 1 . | basenames)"
