#!/usr/bin/env bash
# B10: the containment of a short document in a very long one rests on few samples, and that is said
# wherever it is shown.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr python3

mkdir -p "$SOURCE"
words 1 60000 > "$SOURCE/long"
for i in $(seq 20); do # each with 56 shingles, of which one in 25 is looked at
    words $((i * 2000)) 60 > "$SOURCE/short$i"
done
start
"$KINFS" settle "$MNT"

n_low=0
for i in $(seq 20); do
    "$KINFS" compare "$MNT/short$i" "$MNT/long" > compared || [[ $? = 1 ]]
    "$KINFS" compare --json "$MNT/short$i" "$MNT/long" > row || [[ $? = 1 ]]
    samples=$(python3 -c 'import json; print(json.load(open("row"))["containment_ab_samples"])')
    said=$(grep '^containment of A in B' compared)
    if [[ $samples = 0 ]]; then
        expect_match 'no answer' 'A in B +-$' "$said"
        continue
    fi
    error=$(getfattr --only-values --absolute-names -n user.kinfs.containment.error:long "$MNT/short$i")
    listed=$("$KINFS" similar --containing -t 0.1 "$MNT/short$i" | grep $'\tlong$' || true)
    if ((samples < 8)); then
        n_low=$((n_low + 1))
        marked="\($samples samples?: low confidence\)"
        expect_match 'compare' "$marked\$" "$said"
        expect_match 'attribute' "^0\.[0-9]{4} $marked\$" "$error"
        expect_match 'similar' "^0.9999 $marked" "$listed"
        expect_match 'similar --json' "\"containment_samples\":$samples," \
            "$("$KINFS" similar --json --containing -t 0.1 "$MNT/short$i" | grep '"long"')"
    else
        expect_match 'compare' "\($samples samples\)\$" "$said"
        expect_match 'attribute' '^0\.[0-9]{4}$' "$error"
        expect_match 'similar' $'^0.9999\tlong$' "$listed"
    fi
done
((n_low > 0)) || fail 'no document of low confidence among 20'
expect_match 'the other way round' 'B in A +[0-9.]+ \+- [0-9.]+ \([0-9]{3,} samples\)' "$(cat compared)"
