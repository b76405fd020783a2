#!/usr/bin/env bash
# clusters/ has a directory of links for each cluster, by decimal id.
. "${0%/mount/*}/lib/shell/mount.sh"
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

# A cluster that becomes part of another leaves its id as a link to that: not listed, and valid as
# long as the other is.
for i in 1 2; do words 30001 100 > "$MNT/left$i"; done
for i in 1 2 3; do words 30061 100 > "$MNT/right$i"; done
left=$(value "$MNT/left1" cluster) right=$(value "$MNT/right1" cluster)
[[ $left != "$right" ]] || fail 'one cluster too early'
words 30001 160 > "$MNT/bridge"
expect_equal 'the larger one stays' "$right" "$(value "$MNT/left1" cluster)"
check_alias() {
    expect_equal "$1: leads to" "$right" "$(readlink "$MNT/clusters/$left")"
    expect_equal "$1: leads there" "$(ls "$MNT/clusters/$right")" "$(ls "$MNT/clusters/$left/")"
    expect_equal "$1: below .kinfs" "$right" "$(readlink "$MNT/.kinfs/clusters/$left")"
    cmp "$MNT/clusters/$left/100-bridge" "$MNT/bridge"
    expect_equal "$1: its attributes" 6 "$(value "$MNT/clusters/$left" size)"
    expect_equal "$1: the command" "$("$KINFS" clusters --id="$right" "$MNT")" "$("$KINFS" clusters --id="$left" "$MNT")"
    ! ls "$MNT/clusters" | grep -qx "$left" || fail "$1: an id that became another is listed"
}
check_alias merged
stop
start
"$KINFS" settle "$MNT"
check_alias 'mounted again'
stop
"$KINFS" rebuild "$SOURCE" > /dev/null
start
"$KINFS" settle "$MNT"
check_alias rebuilt
stop
if [[ $EUID = 0 ]]; then
    chmod 755 "$SCRATCH"
    start -o allow_other
    as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
    # To another user it is no number: clusters of what that user may read have their own.
    ! as_user test -e "$MNT/clusters/$left" || fail 'an id among all documents is told to a user'
    ! as_user test -e "$MNT/clusters/$right" || fail 'and what it became'
    stop
fi
start
rm "$MNT/bridge"
[[ -L $MNT/clusters/$left ]] || fail 'gone with the document that joined them'
rm "$MNT"/right[123]
[[ ! -L $MNT/clusters/$left ]] || fail 'a link to a cluster that is no more'
stop
