#!/usr/bin/env bash
# clusters/ has a directory of links for each cluster, by decimal id.
. "$(dirname "$0")/../lib/mount.sh"
needs getfattr

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }

mkdir -p "$SOURCE/x"
words 1 100 > "$SOURCE/x/a"
words 11 100 > "$SOURCE/b"
words 1 110 > "$SOURCE/c" # with the most words: what the cluster is named by
words 9001 80 > "$SOURCE/d"
words 9001 80 > "$SOURCE/x/e"
words 20000 50 > "$SOURCE/lonely"
start
"$KINFS" settle "$MNT"

ids=$(ls "$MNT/clusters" | sort -n)
expect_equal 'number of clusters' 2 "$(wc -l <<< "$ids")"
expect_equal 'those of the documents' "$(for document in c d; do value "$MNT/$document" cluster; echo; done | sort -n)" "$ids"
expect_match 'ids are decimal' $'^[1-9][0-9]*\n[1-9][0-9]*$' "$ids"
cluster=$MNT/clusters/$(value "$MNT/c" cluster)

# Shared with c, of 106 windows: all 96 of a, all 96 of b.
expect_equal 'members' '090-a 090-b 100-c' "$(ls -C "$cluster" | xargs)"
expect_equal 'target' '../../x/a' "$(readlink "$cluster/090-a")"
cmp "$cluster/100-c" "$MNT/c"
expect_equal 'size' 3 "$(value "$cluster" size)"
expect_equal 'representative' c "$(value "$cluster" representative)"
expect_equal 'least' 0.9057 "$(value "$cluster" resemblance.min)"
expect_equal 'mean' 0.9057 "$(value "$cluster" resemblance.mean)"

other=$MNT/clusters/$(value "$MNT/d" cluster)
expect_equal 'identical ones' '100-d 100-e' "$(ls -C "$other" | xargs)"
expect_equal 'from .kinfs' '../../../d' \
    "$(readlink "$MNT/.kinfs/clusters/$(value "$MNT/d" cluster)/100-d")"

for name in 0 01 +1 -1 999999 99999999999999999999 x 1x '1 '; do
    [[ ! -e $MNT/clusters/$name ]] || fail "clusters/$name is there"
done

# One that shrinks to a single document is gone; the other keeps its id.
rm "$MNT/d"
[[ ! -e $other ]] || fail 'a cluster of one document'
expect_equal 'left' "${cluster##*/}" "$(ls "$MNT/clusters")"
words 9001 80 > "$MNT/again"
expect_equal 'two again' 2 "$(ls "$MNT/clusters" | wc -l)"
expect_equal 'its members' '100-again 100-e' \
    "$(ls -C "$MNT/clusters/$(value "$MNT/again" cluster)" | xargs)"
stop
