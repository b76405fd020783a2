#!/usr/bin/env bash
# What the views are called: in the root by choice, below .kinfs always, and the tree wins.
. "${0%/mount/*}/lib/shell/mount.sh"

mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
words 1 100 > "$SOURCE/b"
start
"$KINFS" settle "$MNT"
expect_equal 'by default' 'a b clusters similar' "$(ls -AC "$MNT" | xargs)"
expect_equal 'below .kinfs' 'clusters contains lost metrics query similar unique within' "$(ls -AC "$MNT/.kinfs" | xargs)"
! mkdir "$MNT/.kinfs/x" 2> /dev/null || fail 'could make .kinfs/x'
stop

start -o views=similar
expect_equal 'similar only' 'a b similar' "$(ls -AC "$MNT" | xargs)"
[[ ! -e $MNT/clusters ]] || fail 'clusters is found'
[[ -e $MNT/.kinfs/clusters ]] || fail '.kinfs/clusters is not'
stop

start -o views=none
expect_equal 'none' 'a b' "$(ls -AC "$MNT" | xargs)"
[[ ! -e $MNT/similar ]] || fail 'similar is found'
expect_equal 'still below .kinfs' 100-b "$(ls "$MNT/.kinfs/similar/a")"
stop

# The tree's own `similar` is what is shown; and it is mirrored like all else.
mkdir "$SOURCE/similar"
words 1 100 > "$SOURCE/similar/c"
start
"$KINFS" settle "$MNT"
expect_equal 'the tree wins' 'a b clusters similar' "$(ls -AC "$MNT" | xargs)"
expect_equal 'the tree'\''s own' c "$(ls "$MNT/similar")"
expect_equal 'the view' '100-b 100-c' "$(ls -C "$MNT/.kinfs/similar/a" | xargs)"
expect_equal 'its mirror' '100-a 100-b' "$(ls -C "$MNT/.kinfs/similar/similar/c" | xargs)"
cmp "$MNT/.kinfs/similar/a/100-c" "$MNT/similar/c"
stop

# Names that clash, that are too long and that are strange.
rm -r "$SOURCE/similar"
long=$(printf '\342\202\254%.0s' $(seq 85))
for i in 1 2 3; do
    mkdir -p "$SOURCE/d$i"
    words 1 100 > "$SOURCE/d$i/same"
    words 1 100 > "$SOURCE/d$i/$long"
    words 1 100 > "$SOURCE/d$i/"$'new\nline \\ and\ttab\377'
done
start
"$KINFS" settle "$MNT"
cd "$MNT/similar/a"
expect_equal 'clashes' '100-same 100-same~2 100-same~3' "$(ls -dC 100-same* | xargs)"
names=(*)
expect_equal 'links' 10 "${#names[@]}"
for name in "${names[@]}"; do
    ((${#name} <= 255)) && cmp -s "$name" "$MNT/a" || fail "the link $name is not good"
done
expect_equal 'cut within no character' '' \
    "$(printf '%s\n' 100-$'\342'* | iconv -f utf-8 -t utf-8 2>&1 > /dev/null)"
expect_equal 'the same each time' "$(printf '%s\n' "${names[@]}")" "$(printf '%s\n' *)"
cd "$SCRATCH"
stop

# From far down the way up and down again may be longer than a link can be.
rm -r "$SOURCE"
deep=$(printf 'fifteen letters/%.0s' {1..220})
mkdir -p "$SOURCE/$deep"
for document in top "${deep}a" "${deep}b"; do
    words 1 100 > "$SOURCE/$document"
done
start
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'from the top' '100-a 100-b' "$(ls "$MNT/similar/top" | xargs)"
expect_equal 'from below' '100-top' "$(ls "$MNT/similar/${deep}a" | xargs)"
for link in "$MNT/similar/top/100-b" "$MNT/similar/${deep}a/100-top" "$MNT/clusters/"*/*; do
    readlink "$link" > /dev/null || fail "$link cannot be read"
    cmp "$link" "$MNT/top"
done
expect_equal 'but it resembles' 2 "$("$KINFS" similar "$MNT/${deep}a" | wc -l)"
stop
