#!/usr/bin/env bash
# compare --sketch, --resample, --within: two files sketched anew by any family.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
"$KINFS" scan "$SOURCE" > scanned
cd "$SCRATCH"
: > nothing

# B19, D10: sketched anew, by any family and under a key of its own; a and elsewhere have 106 shingles
# together, all of which a sketch of 128 keeps: whatever the key, --resample is exact.
words 11 100 > elsewhere
expect_equal 'resampled' "$("$KINFS" compare --exact "$SOURCE/a" elsewhere)" "$("$KINFS" compare --resample "$SOURCE/a" elsewhere)"
families=$("$KINFS" compare --sketch=help | awk '{ print $1 }')
expect_equal 'families' 10 "$(wc -w <<<"$families")"
for family in $families; do
    "$KINFS" compare --json --sketch="$family" --shingle=3 "$SOURCE/a" "$SOURCE/a" > same
    "$KINFS" compare --json --sketch="$family" --shingle=3 "$SOURCE/a" elsewhere > other || [[ $? = 1 && $family = broder1997 ]]
    expect_code 1 "$KINFS" compare --json --sketch="$family" --shingle=3 "$SOURCE/a" nothing
    python3 - "$family" <<'PYTHON'
import json, sys
same, other = json.load(open('same')), json.load(open('other'))
measure = same['measure']
assert same['sketch'] == other['sketch'] == sys.argv[1] and same['w'] == 3
assert same[measure] == (0 if measure == 'distance' else 1) and same['exact'], same
# 98 shingles each, 88 of them in both
exact = {'resemblance': 88 / 108, 'distance': 20, 'cosine': 88 / 98, 'super_shingles': (88 / 108) ** 14}[measure]
value, error = other[measure], other.get(measure + '_error')
if value is not None and error is not None:
    assert abs(value - exact) < 6 * error, other
PYTHON
done
expect_match 'w is 10' '"w":10' "$("$KINFS" compare --json --sketch=broder1997 "$SOURCE/a" "$SOURCE/a")"
expect_match 'w is the store'"'"'s' '"w":5' "$("$KINFS" compare --json --sketch=simhash "$SOURCE/a" "$SOURCE/a")"
words 1000 1400 > far
expect_equal 'within' 'at most 200 shingles differ (666 parities)' "$("$KINFS" compare --sketch=hamming --within=200 --shingle=5 "$SOURCE/a" elsewhere)"
expect_match 'not within' 'more than 20 shingles' "$("$KINFS" compare --sketch=hamming --within=20 --shingle=5 "$SOURCE/a" far)"
expect_match 'within any number' 'at most 4294967295 shingles' "$("$KINFS" compare --sketch=hamming --within=4294967295 --shingle=5 "$SOURCE/a" far)"
for wrong in '--sketch=none' '--sketch=simhash --exact' '--resample --exact' '--within=9' '--within=9 --sketch=simhash' '--sketch=hamming --within=1' '--shingle=3'; do
    # shellcheck disable=SC2086
    expect_code 2 "$KINFS" compare $wrong "$SOURCE/a" elsewhere
done
expect_match 'without a store, as a new one would have it' "\"w\":5" "$("$KINFS" compare --json --sketch=simhash elsewhere far || [[ $? = 1 ]])"
expect_code 3 "$KINFS" compare --resample --shingle=5 elsewhere missing

