#!/usr/bin/env bash
# The computed extended attributes of documents and of the root.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr setfattr

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
none() { # FILE NAME...: ENODATA
    local file=$1 name
    shift
    for name; do
        expect_code 1 getfattr -n "user.kinfs.$name" "$file"
        expect_match "$name" 'No such attribute' "$OUT"
    done
}

mkdir -p "$SOURCE/d"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/d/b"
words 1 100 > "$SOURCE/d/"$'odd\nname \\'
words 5000 60 > "$SOURCE/lonely"
: > "$SOURCE/empty"
head -c 5000 /dev/zero > "$SOURCE/binary"
cp "$SOURCE/binary" "$SOURCE/d/binary"
start
"$KINFS" settle "$MNT"

odd='d/odd\nname\ \\'
expect_equal 'state' current "$(value "$MNT/a" state)"
expect_match 'cluster' '^[1-9][0-9]*$' "$(value "$MNT/a" cluster)"
expect_equal 'the same cluster' "$(value "$MNT/a" cluster)" "$(value "$MNT/d/b" cluster)"
expect_equal 'cluster.size' 3 "$(value "$MNT/a" cluster.size)"
expect_equal 'nearest' "$odd" "$(value "$MNT/a" nearest)"
expect_equal 'similar' "$(printf '1.0000\t%s\n0.8113\td/b\n.' "$odd")" "$(value "$MNT/a" similar; echo .)"
expect_equal 'resemblance:PATH' 0.8113 "$(value "$MNT/a" resemblance:d/b)"
none "$MNT/a" resemblance.error:d/b containment.error:d/b # all their shingles are in their sketches
expect_equal 'with a slash' 0.8113 "$(value "$MNT/a" resemblance:/d/b)"
expect_equal 'an odd PATH' 1.0000 "$(value "$MNT/a" $'resemblance:d/odd\nname \\')"
expect_equal 'containment:PATH' "$(awk 'BEGIN { printf "%.4f", 86 / 96 }')" \
    "$(value "$MNT/a" containment:d/b)"
expect_equal 'of itself' 1.0000 "$(value "$MNT/a" resemblance:a)"
expect_equal 'the representative'\''s own' 1.0000 \
    "$(value "$MNT/$(value "$MNT/d/b" representative | sed 's/\\n/\n/; s/\\\(.\)/\1/g')" resemblance)"
none "$MNT/a" resemblance.error # all shingles are in the sketch
none "$MNT/a" resemblance: resemblance:missing resemblance:d resemblance:../a containment:. unknown ''
none "$MNT/lonely" cluster cluster.size representative resemblance nearest similar
expect_equal 'of two that share nothing' 0.0000 "$(value "$MNT/lonely" resemblance:a)"
none "$MNT/empty" cluster nearest
expect_equal 'binary ones' d/binary "$(value "$MNT/binary" nearest)"
none "$MNT/d" state cluster version
none "$MNT/a" version size

# Estimated, so with an error: more shingles than a sketch has values.
words 100000 4000 > "$MNT/large"
words 100500 4000 > "$MNT/larger"
for file in large larger; do
    r=$(value "$MNT/$file" resemblance)
    if [[ $r != 1.0000 ]]; then
        expect_match 'an error' '^0\.[0-9]{4}$' "$(value "$MNT/$file" resemblance.error)"
        awk -v r="$r" -v e="$(value "$MNT/$file" resemblance.error)" \
            'BEGIN { d = r - 3496 / 4496; exit !(e > 0 && d < 5 * e && d > -5 * e) }' ||
            fail "$r is no estimate of 0.7776"
    fi
done

expect_equal 'documents' "$(find "$SOURCE" -type f -printf x | wc -c)" "$(value "$MNT" documents)"
expect_equal 'clusters' "$(ls "$MNT/clusters" | wc -l)" "$(value "$MNT" clusters)"
"$KINFS" settle "$MNT" # what a watch was told of our own writes may wait as long as we ask
expect_equal 'pending' 0 "$(value "$MNT" pending)"
expect_equal 'policy' 'default (w=5 s=128 m=25)' "$(value "$MNT" policy)"
expect_match 'version' '^[0-9]+\.[0-9]+' "$(value "$MNT" version)"
[[ -d $(value "$MNT" store) ]] || fail 'store'
none "$MNT" state cluster unknown

# Not listed, so that nothing copies them; and nobody's to change.
setfattr -n user.own -v 1 "$MNT/a"
expect_equal 'listed' 'user.own' "$(getfattr --absolute-names "$MNT/a" | sed 1d | xargs)"
for name in state nearest resemblance:b made-up; do
    expect_code 1 setfattr -n "user.kinfs.$name" -v x "$MNT/a"
    expect_match 'refused' 'not permitted' "$OUT"
    expect_code 1 setfattr -x "user.kinfs.$name" "$MNT/a"
    expect_match 'refused' 'not permitted' "$OUT"
done
cp -a "$MNT/a" "$SCRATCH/copied"
expect_equal 'copied' 'user.own' "$(getfattr --absolute-names "$SCRATCH/copied" | sed 1d | xargs)"
stop

start -o list_xattr
"$KINFS" settle "$MNT"
listed=$(getfattr --absolute-names "$MNT/a" | sed '1d; /^$/d' | sort | xargs)
expect_equal 'with list_xattr' 'user.kinfs.cluster user.kinfs.cluster.size user.kinfs.nearest user.kinfs.representative user.kinfs.resemblance user.kinfs.similar user.kinfs.state user.own' "$listed"
expect_equal 'of a lonely one' 'user.kinfs.state' \
    "$(getfattr --absolute-names "$MNT/lonely" | sed '1d; /^$/d' | xargs)"
getfattr -d "$MNT" "$MNT/a" > "$SCRATCH/dump" || fail 'one that is listed has no answer'
stop

# What the limit of views, or the 64 KiB of an attribute, left out is counted; lines are whole.
start -o limit=2
"$KINFS" settle "$MNT"
none "$MNT/a" similar.left_out
cp "$MNT/a" "$MNT/third"
cp "$MNT/a" "$MNT/fourth"
expect_equal 'beyond the limit' 2 "$(value "$MNT/a" similar.left_out)"
expect_equal 'lines' 2 "$(value "$MNT/a" similar | wc -l)"
stop
start -o limit=0
long=$(printf '%0200d' 0)
mkdir -p "$MNT/$long/$long/$long/$long"
for ((i = 0; i < 100; i++)); do
    cp "$MNT/a" "$MNT/$long/$long/$long/$long/$i"
done
n_lines=$(value "$MNT/a" similar | wc -l)
expect_equal 'beyond an attribute' 104 "$((n_lines + $(value "$MNT/a" similar.left_out)))"
expect_match 'some are' '^[1-9][0-9]?$' "$n_lines"
expect_equal 'the last line ends' "$(printf '\n.')" "$(value "$MNT/a" similar | tail -c 1; echo .)"
stop

# -- user.xdg.robots.backup, where it is asked for: of what unique/ leaves out --
mkdir "$SOURCE/robots" "$SOURCE/robots/.git"
words 50000 300 | tee "$SOURCE/robots/first" "$SOURCE/robots/copy" "$SOURCE/robots/linked" "$SOURCE/robots/half" "$SOURCE/robots/own" > "$SOURCE/robots/kept"
touch -d @1000000000 "$SOURCE/robots/first"
ln "$SOURCE/robots/linked" "$SOURCE/robots/second"
ln "$SOURCE/robots/half" "$SOURCE/robots/.git/half"
setfattr -n user.kinfs.keep -v '' "$SOURCE/robots/kept"
setfattr -n user.xdg.robots.backup -v true "$SOURCE/robots/own"
robots() {
    local file
    for file in "$MNT"/robots/*; do
        echo "${file##*/}=$(getfattr --absolute-names --only-values -n user.xdg.robots.backup "$file" 2> /dev/null)"
    done | xargs
}
start
"$KINFS" settle "$MNT"
expect_equal 'unasked' 'copy= first= half= kept= linked= own=true second=' "$(robots)"
stop
as_root=; [[ $EUID != 0 ]] || as_root=,allow_other
start -o "robots$as_root"
"$KINFS" settle "$MNT"
# With a name where nothing is a document a file is in unique/ by that one, so it has none; and the tree's own counts.
expect_equal 'what is to be left out' 'copy=false first=false half= kept= linked=false own=true second=false' "$(robots)"
for name in copy first kept linked second; do
    shown=$([[ -e $MNT/unique/robots/$name ]] && echo '' || echo false)
    expect_match 'as unique/ has it' "(^| )$name=$shown( |\$)" "$(robots)"
done
if [[ $EUID = 0 ]]; then
    chmod 755 "$SCRATCH"
    expect_equal 'of a user who is not the owner' '' \
        "$(setpriv --reuid=54321 --regid=54321 --clear-groups getfattr --absolute-names --only-values -n user.xdg.robots.backup "$MNT/robots/copy" 2> /dev/null)"
fi
! getfattr -n user.xdg.robots.backup "$SOURCE/robots/copy" > /dev/null 2>&1 || fail 'it is stored in the tree'
expect_equal 'not listed' '' "$(getfattr --absolute-names "$MNT/robots/copy")"
words 60000 300 > "$MNT/robots/first"
rm "$MNT/robots/kept"
"$KINFS" settle "$MNT"
expect_match 'of a copy that stays by now' '^copy=(false)? first= ' "$(robots)"
expect_equal 'as many as are left out' "$(cut -f 1 "$MNT/unique/.kinfs-skipped.tsv" | grep '^robots/' | grep -vc '/half$\|/own$')" "$(robots | grep -o '=false' | wc -l)"
setfattr -n user.xdg.robots.backup -v mine "$MNT/robots/copy"
expect_equal 'one that is set is in the tree' mine "$(getfattr --absolute-names --only-values -n user.xdg.robots.backup "$SOURCE/robots/copy")"
expect_match 'and counts' '^copy=mine' "$(robots)"
setfattr -x user.xdg.robots.backup "$MNT/robots/copy"
stop
start -o robots,list_xattr
"$KINFS" settle "$MNT"
listing() { getfattr --absolute-names "$MNT/robots/$1" | grep -c xdg || true; }
for name in copy linked second; do
    expect_equal "listed of $name" "$([[ -e $MNT/unique/robots/$name ]] && echo 0 || echo 1)" "$(listing "$name")"
done
expect_equal 'listed once' 1 "$(listing own)"
stop
expect_code 2 "$KINFS" mount -o robots,nosketch "$SOURCE" "$MNT"
