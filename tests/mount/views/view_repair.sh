#!/usr/bin/env bash
# A cluster of thousands of documents loses the one that holds it together: what it falls into is found out in the
# background, also by the next daemon, and is waited for by kinfs settle.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }

# Those before 2300 and those behind it have 60 of 100 words in common; it has all words of both, so that they are one cluster.
mkdir -p "$SOURCE"
awk -v directory="$SOURCE" 'BEGIN {
    for (i = 1; i <= 4600; i++) {
        file = directory "/" i
        for (k = 0; i <= 2300 && k < 40; k++) printf "a%d ", k > file
        for (k = 0; k < 60; k++) printf "b%d ", k > file
        for (k = 0; i >= 2300 && k < 40; k++) printf "c%d ", k > file
        print "d" i > file
        close(file)
    }
}'
start
"$KINFS" settle "$MNT"
id=$(value "$MNT/1" cluster)
expect_equal 'one cluster' 4600 "$(value "$MNT/clusters/$id" size)"
expect_equal 'nothing to repair' current "$(value "$MNT/clusters/$id" state)"

rm "$MNT/2300"
state=$(value "$MNT/4600" state)
[[ $state = repairing || $state = current ]] || fail "state: $state"
state=$(value "$MNT/clusters/$id" state)
[[ $state = repairing || $state = current ]] || fail "state of the cluster: $state"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
kill -KILL "$pid"
start
"$KINFS" settle "$MNT"
other=$(value "$MNT/1" cluster)
expect_equal 'the larger part' "$id" "$(value "$MNT/4600" cluster)"
[[ $other != "$id" ]] || fail 'still one cluster'
expect_equal 'its size' 2300 "$(value "$MNT/4600" cluster.size)"
expect_equal 'the size of the other' 2299 "$(value "$MNT/1" cluster.size)"
expect_equal 'current' 'current current' "$(value "$MNT/1" state) $(value "$MNT/clusters/$id" state)"
expect_match 'status' $'clusters +2, with 4599 documents\n' "$("$KINFS" status "$MNT")"
stop
