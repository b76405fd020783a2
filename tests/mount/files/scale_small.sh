#!/usr/bin/env bash
# 3,000 files, of which 1,000 in one directory, with few descriptors: made, walked, moved, mounted anew and
# deleted, and the index holds what the tree holds at every stop. (A million: tests/bench/scale.)
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "file handles need root"
needs python3 getfattr

# By ten: four unrelated, a copy of the fourth, five of a family; a family has 50.
write_files() { # DIRECTORY FIRST COUNT
    python3 - "$@" << 'PYTHON'
import random, sys
directory, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(first, first + count):
    kind = i % 10
    seed = i if kind < 4 else i - 1 if kind == 4 else f"family {i // 100}"
    words = [f"w{n}" for n in random.Random(seed).choices(range(100000), k=80)]
    if kind > 4:
        words[i % 80] = f"own{i}"
    with open(f"{directory}/{i}", "w") as file:
        file.write(" ".join(words))
PYTHON
}

status() { # FIELD
    "$KINFS" status --json "$MNT" | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}

# Beyond the 256 that the store may have open.
ulimit -n 512
start
mkdir "$MNT"/{moved,others,large}
for d in $(seq 0 19); do
    above=$([[ $((d % 2)) = 0 ]] && echo moved || echo others)
    mkdir "$MNT/$above/d$d"
    write_files "$MNT/$above/d$d" $((d * 100)) 100
done
write_files "$MNT/large" 2000 1000
"$KINFS" settle "$MNT"
expect_equal "documents" 3000 "$(status documents)"
clusters=$(status clusters)
expect_equal "clustered documents" 2100 "$(status clustered_documents)"
# A copy and its original, 300 times, and 30 families.
expect_equal "clusters" 330 "$clusters"

find "$MNT" -path "$MNT/.kinfs" -prune -o -type f -printf '%P\n' | sort > files
expect_equal "files walked" 3000 "$(wc -l < files)"
expect_equal "documents with kin listed" 700 "$(ls "$MNT/.kinfs/similar/large" | wc -l)"

# A directory of 1,000 documents under another name: every answer has it, and nothing is read again.
id=$(getfattr --absolute-names --only-values -n user.kinfs.cluster "$MNT/moved/d0/5")
sketched=$(status sketched_documents)
mv "$MNT/moved" "$MNT/elsewhere"
expect_equal "the cluster" "$id" "$(getfattr --absolute-names --only-values -n user.kinfs.cluster "$MNT/elsewhere/d0/5")"
expect_equal "kin" 49 "$(ls "$MNT/.kinfs/similar/elsewhere/d0/5" | wc -l)"
expect_equal "members" 50 "$(ls "$MNT/.kinfs/clusters/$id" | wc -l)"
for link in "$MNT/.kinfs/clusters/$id"/*; do
    [[ $(readlink "$link") = *elsewhere/d0/* ]] || fail "$link leads to $(readlink "$link")"
    [[ -f $link ]] || fail "$link leads nowhere"
done
# Those that were asked about may have been looked at again.
[[ $(($(status sketched_documents) - sketched)) -le 60 ]] || fail "the moved documents were read again"

stop
start
expect_equal "the cluster after another mount" "$id" \
    "$(getfattr --absolute-names --only-values -n user.kinfs.cluster "$MNT/elsewhere/d0/5")"
"$KINFS" settle "$MNT"
expect_equal "documents after another mount" 3000 "$(status documents)"

# Families whole, in part, and one document each; then the rest.
rm -r "$MNT"/elsewhere/d{0,2,4}
(cd "$MNT/large" && rm 20?? 217? 2295)
"$KINFS" settle "$MNT"
expect_equal "documents after the first deletes" 2589 "$(status documents)"
expect_equal "a family that lost five" 45 \
    "$(getfattr --absolute-names --only-values -n user.kinfs.cluster.size "$MNT/large/2105")"
expect_equal "one that lost one" 49 \
    "$(getfattr --absolute-names --only-values -n user.kinfs.cluster.size "$MNT/large/2299")"
rm -r "$MNT"/{elsewhere,others,large}
"$KINFS" settle "$MNT"
expect_equal "what is left" "0 0 0" "$(status documents) $(status clusters) $(status clustered_documents)"
stop
