#!/usr/bin/env bash
# Documents that are declared to be distinct do not stand in for each other; what unique/ left out of a copy is made again in it,
# where it was equal.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
UNIQUE=$MNT/unique
skipped() { cut -f 1 "$UNIQUE/.kinfs-skipped.tsv" | LC_ALL=C sort | xargs; }

mkdir -p "$SOURCE/d"
words 1 600 > "$SOURCE/a"
words 1 600 > "$SOURCE/d/b"
words 1 600 > "$SOURCE/d/c"
words 1 602 > "$SOURCE/d/version"
odd=$'odd \t\n\\ \xff\xfe name'
words 1 600 > "$SOURCE/$odd"
touch -d @1000000000 "$SOURCE/a"
start
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'left out' 'd/b d/c d/version odd \t\n\\ \377\376 name' "$(cut -f 1 "$UNIQUE/.kinfs-skipped.tsv" | LC_ALL=C sort | sed 's,\\ , ,g' | tr '\n' ' ' | sed 's, $,,')"

# By the daemon, and without one; over a rename and an edit, a rebuild and a repair.
expect_code 0 "$KINFS" distinct "$MNT/a" "$MNT/d/b"
expect_equal 'nothing is said' '' "$OUT"
expect_match 'JSON' '"distinct": ?true' "$("$KINFS" distinct --json "$MNT/d/b" "$SOURCE/a")"
expect_match 'left out' '^d/c d/version' "$(skipped)"
expect_code 3 "$KINFS" distinct "$MNT/a" "$MNT/a"
expect_match 'with itself' 'one file' "$OUT"
expect_code 3 "$KINFS" distinct "$MNT/a" "$MNT/none"
mv "$MNT/d/b" "$MNT/d/renamed"
words 1 601 > "$SOURCE/d/renamed"
expect_match 'after a rename and an edit' '^d/c d/version' "$(skipped)"
# An editor puts a new file in the place of either, in the mount and beside it, again and again.
for place in "$MNT" "$SOURCE"; do
    for name in d/renamed a d/renamed; do
        cp -p "$place/$name" "$place/$name.new"
        mv "$place/$name.new" "$place/$name"
        "$KINFS" settle "$MNT" > /dev/null
        expect_match "after $name is another file" '^d/c d/version' "$(skipped)"
        # Or it keeps the old one by another name until the new one is written, which somebody looks at meanwhile.
        mv "$place/$name" "$place/$name.old"
        : > "$place/$name"
        "$KINFS" settle "$MNT" > /dev/null
        cat "$place/$name.old" > "$place/$name"
        touch -r "$place/$name.old" "$place/$name"
        rm "$place/$name.old"
        "$KINFS" settle "$MNT" > /dev/null
        expect_match "after $name was another file for a while" '^d/c d/version' "$(skipped)"
    done
done
stop
expect_code 0 "$KINFS" distinct "$SOURCE/d/c" "$SOURCE/a"
for command in 'rebuild' 'check --repair'; do
    # shellcheck disable=SC2086
    "$KINFS" $command "$SOURCE" > /dev/null
    start
    "$KINFS" settle "$MNT" > /dev/null
    expect_match "after $command" '^d/version' "$(skipped)"
    stop
done
start
"$KINFS" settle "$MNT" > /dev/null
expect_code 0 "$KINFS" distinct --undo "$MNT/d/c" "$MNT/a"
expect_code 0 "$KINFS" distinct -u "$MNT/a" "$MNT/d/renamed"
expect_match 'taken back' '^d/c d/renamed d/version' "$(skipped)"
expect_code 0 "$KINFS" distinct -u "$MNT/a" "$MNT/d/renamed"

# What can be made again, and is.
rm "$MNT/d/renamed"
cp -a "$UNIQUE" copy
stop
list=copy/.kinfs-skipped.tsv
expect_code 1 "$KINFS" restore-list $list copy
expect_equal 'what can be made' $'equal\td/c\ta\nsimilar\td/version\ta\nequal\todd\\ \\t\\n\\\\\\ \\377\\376\\ name\ta' "$(LC_ALL=C sort -t $'\t' -k 2 <<< "$OUT")"
[[ ! -e copy/d/c ]] || fail 'it is made without --apply'
expect_match 'JSON' '"what": ?"similar"' "$("$KINFS" restore-list --json $list copy)"
cp -a copy occupied
echo kept > occupied/d/c
expect_code 1 "$KINFS" restore-list --apply $list copy
cmp copy/d/c "$SOURCE/d/c"
cmp "copy/$odd" "$SOURCE/$odd"
[[ ! -e copy/d/version ]] || fail 'what was another text is made'
expect_equal 'names in the copy' $'c' "$(ls copy/d)"
expect_code 1 "$KINFS" restore-list --apply $list occupied
expect_match 'what is there' $'there\td/c\ta' "$OUT"
expect_equal 'what is there' kept "$(cat occupied/d/c)"
rm copy/d/c copy/a
expect_code 1 "$KINFS" restore-list --apply $list copy
expect_match 'without what stands in' $'lost\td/c\ta' "$OUT"

# Neither a list nor a copy leads out of it.
mkdir outside hostile
words 1 600 > outside/a
size=$(stat -c %s outside/a)
ln -s ../outside hostile/link
ln -s ../outside/a hostile/a
mkfifo hostile/fifo
digest=$(sha256sum outside/a | cut -c 1-64)
refuses() { # LINE, with nothing behind what it is
    refuses_line "$1\t0644\t0\t0\t1000000000.000000000\t$digest\t7"
}
refuses_line() { # LINE [CODE]
    printf "$1\n" > list
    expect_code "${2-3}" "$KINFS" restore-list --apply list hostile
    [[ $(find outside hostile | wc -l) = 6 ]] || fail "$1: $(find outside hostile)"
}
refuses "../outside/new\toutside/a\t1.0000\t$size\tequal"
refuses "/tmp/new\ta\t1.0000\t$size\tequal"
refuses "new\t../outside/a\t1.0000\t$size\tequal"
refuses_line "link/new\ta\t1.0000\t$size\tequal\t0644\t0\t0\t1.000000000\t$digest\t7" 1
refuses "a//b\ta\t1.0000\t$size\tequal"
refuses "new\ta\t1.0000\t$size"
refuses "new\ta\t1.0000\tmany\tequal"
refuses "new\\\\\ta\t1.0000\t$size\tequal"
for behind in "0644\t0\t0\t1.000000000\t-\t7" "0644\t0\t0\t1.0\t$digest\t7" "0648\t0\t0\t1.000000000\t$digest\t7" "10644\t0\t0\t1.000000000\t$digest\t7" \
    "0644\t-1\t0\t1.000000000\t$digest\t7" "0644\t0\t4294967295\t1.000000000\t$digest\t7" "0644\t0\t0\t1.000000000\t$digest\t7\t" \
    "0644\t0\t0\t1.000000000\t$digest\t" "0644\t0\t0\t1.000000000\t$digest\t-7" "0644\t0\t0\t1.000000000\t$digest" \
    "0644\t0\t0\t1.000000000\t${digest:1}\t7" "0644\t0\t0\t1.000000000\tG${digest:1}\t7"; do
    refuses_line "new\ta\t1.0000\t$size\tequal\t$behind"
done
refuses_line "new\ta\t1.0000\t$size\tsimilar\t0644\t0\t0\t1.000000000\t$digest\t7"
for from in a fifo link/a; do
    printf 'new\t%s\t1.0000\t%s\tequal\t0644\t0\t0\t1000000000.000000000\t%s\t7\n' "$from" "$size" "$digest" > list
    ! "$KINFS" restore-list --apply list hostile > /dev/null 2>&1 || fail "$from is copied"
    [[ ! -e hostile/new ]] || fail "$from is copied"
done
