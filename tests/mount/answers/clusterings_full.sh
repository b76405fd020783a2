#!/usr/bin/env bash
# A clustering that is made anew finds no room for its scratch files: it stays as it was and says so,
# all else goes on, and when there is room again it is made.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr
[[ $(id -u) = 0 ]] || skip "mounting a small file system takes root"

disk=$SCRATCH/disk
mkdir "$disk"
mount -t tmpfs -o size=256m kinfs-test "$disk"
trap 'stop 2> /dev/null; umount "$disk"' EXIT

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
line_of() { "$KINFS" status "$MNT" | grep "^  $1 "; }

mkdir -p "$SOURCE/many"
words 1 300 > "$SOURCE/a"
words 11 300 > "$SOURCE/b"
common=$(words 5001 400)
for i in $(seq 1005); do # enough of their own to be told apart by their sketches
    echo "$common $(words $((10000 + 100 * i)) 100)" > "$SOURCE/many/$i"
done
start -o store="$disk/store,clusters=all:exact:0.5,paper:broder1997"
"$KINFS" settle "$MNT"
id=$(value "$MNT/a" cluster.paper)
expect_equal 'made' "$id" "$(value "$MNT/b" cluster.paper)"
expect_equal 'all agree' "$(value "$MNT/many/1" cluster.all)" "$(value "$MNT/many/2" cluster.all)"
[[ ! $(line_of all) =~ stale ]] || fail "$(line_of all)"

# What the cap of 1,000 leaves out is told of the clustering whose cluster is explained.
expect_match 'loss' 'left out +[1-9][0-9]* of [0-9]+ shared shingles, of more than 1,000 documents each' \
    "$("$KINFS" clusters --clustering=paper --explain="$id" "$MNT")"
expect_match 'loss' '"shared_shingles_left_out":[1-9]' \
    "$("$KINFS" clusters --json --clustering=paper --explain="$id" "$MNT" | tr -d ' ')"
[[ ! $("$KINFS" clusters --clustering=all --explain="$(value "$MNT/a" cluster.all)" "$MNT") =~ 'left out' ]] ||
    fail 'exact leaves nothing out'

# Not a file more: the store goes on in those it has.
take_room() { # again where the store has removed a file meanwhile
    rm -f "$disk/one"
    mount -o "remount,nr_inodes=$(df --output=iused "$disk" | tail -1 | tr -d ' ')" "$disk"
    ! : 2> /dev/null > "$disk/one"
}
soon 'no room for a file' take_room
words 21 300 > "$MNT/c"
rm "$MNT/many/1"
both_say() { [[ $(line_of paper) =~ 'No space' && $(line_of all) =~ 'No space' ]]; }
soon 'both say that there is no room' both_say
for name in all paper; do
    expect_match "$name" 'stale: No space left on device; make room where the store is, then kinfs settle' "$(line_of $name)"
    expect_equal "$name" stale "$(value "$MNT/clusters/$name" state)"
    expect_equal "$name of a" "$(value "$MNT/a" "cluster.$name")" "$(value "$MNT/b" "cluster.$name")"
    ! value "$MNT/c" "cluster.$name" 2> /dev/null || fail "c is in a cluster of $name"
done
expect_match 'JSON' '"error":"No space left on device"' "$("$KINFS" status --json "$MNT" | tr -d '\n' | sed 's/": *"/":"/g')"
expect_equal 'all else' "$(value "$MNT/a" cluster)" "$(value "$MNT/c" cluster)"
[[ $(ls "$MNT/similar/c") =~ -a ]] || fail 'a does not resemble c'
expect_code 0 "$KINFS" settle "$MNT" # tried once more, and nobody waits for what cannot come
expect_match 'again' 'No space' "$(line_of all)"
expect_match 'the last error' 'last error +clustering (all|paper): No space' "$("$KINFS" status "$MNT")"

mount -o remount,nr_inodes=0 "$disk"
expect_code 0 "$KINFS" settle "$MNT"
for name in all paper; do
    [[ ! $(line_of $name) =~ stale ]] || fail "$(line_of $name)"
    expect_equal "$name" current "$(value "$MNT/clusters/$name" state)"
    expect_equal "c is in $name" "$(value "$MNT/a" "cluster.$name")" "$(value "$MNT/c" "cluster.$name")"
done
[[ ! $("$KINFS" status "$MNT") =~ 'last error' ]] || fail 'an error that is over'
expect_code 0 "$KINFS" check --deep "$MNT"
for name in all paper; do
    expect_match "counts of $name" "(^|"$'\n'")  $name +[1-9][0-9]*, with [1-9][0-9]* documents" "$OUT"
done
expect_match 'JSON' '"clusterings":\[\{"name":"(all|paper)","clusters":[1-9][0-9]*,"members":[1-9]' \
    "$("$KINFS" check --json "$MNT" | tr -d ' ')"
