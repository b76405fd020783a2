#!/usr/bin/env bash
# Documents of many gigabytes that somebody makes in no time, with holes, keep no other document from being read, be it
# short, long, or one that takes an extractor, and be it written or found by the scan; they are read in their turn.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr truncate

state() { getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/$1"; }
is_current() { [[ $(state "$1") = current ]]; }
slow() { "$KINFS" status --json "$MNT" | sed -n 's/.*"pending_slow": *\([0-9]*\).*/\1/p'; }
are_slow() { [[ $(slow) = "$1" ]]; }
gib=$((1 << 30))
make_long() { # FILE GIB: text, and then a hole
    words 1 1000 > "$1"
    truncate -s $(($2 * gib)) "$1" 2> /dev/null || skip 'no room for a long sparse file here'
}

# More than there are workers of any kind.
mkdir -p "$SOURCE"
words 1 200 > "$SOURCE/a.txt"
words 1 40000 > some
for i in $(seq 300); do cat some; done > other
(($(stat -c %s other) > 64 << 20)) || fail 'not long'
start -o workers=2
for i in 1 2 3 4; do make_long "$MNT/long$i" 60; done
soon 'they are known for long' are_slow 4

# At once, as ever: nobody waits for those.
words 11 200 > "$MNT/b.txt"
expect_match 'written and found' b.txt "$(ls "$MNT/similar/a.txt")"
for i in 1 2 3 4; do expect_equal "long$i" pending "$(state "long$i")"; done
expect_match 'status' 'pending .* 4 of the scan; 4 of them large or for extractors' "$("$KINFS" status "$MNT")"
# Written again, while it is read: neither.
echo more >> "$MNT/long1"
words 21 200 > "$MNT/c.txt"
expect_match 'written and found' c.txt "$(ls "$MNT/similar/a.txt")"

# Another owner's long one has its turn. It is the first that ends, so whoever it waited for has not: they are all read from the
# beginning again, and each takes a hundred times as long.
if ((EUID == 0)); then
    chown 54321 other
    for i in 1 2 3 4; do echo more >> "$MNT/long$i"; done
    mv other "$MNT/theirs"
    # It is 64 MiB, and three others are read beside it.
    for ((n = 0; n < 9000; n++)); do
        ! is_current theirs || break
        sleep 0.02
    done
    is_current theirs || fail 'it is not read'
    for i in 1 2 3 4; do expect_equal "long$i" pending "$(state "long$i")"; done
fi

# The mount ends while they are read.
stop

# Found by a scan, they keep it from nothing either.
rm -r "$KINFS_STATE_DIR"
mkdir "$SOURCE/d"
for i in $(seq 20); do words "$i" 200 > "$SOURCE/d/$i.txt"; done
start -o workers=2
for i in $(seq 20); do soon "$i is read" is_current "d/$i.txt"; done
for i in 1 2 3 4; do expect_equal "long$i" pending "$(state "long$i")"; done

# Once they are deleted they are not read on.
rm "$MNT"/long*
none_is_long() { are_slow 0; }
soon 'read no more' none_is_long

# Very many that are not so long: what is short does not wait for them.
truncate -s 60M "$MNT"/many{1..500}
words 31 200 > "$MNT/e.txt"
soon 'read before them' is_current e.txt
(($(slow) > 0)) || fail 'they were read first'
rm "$MNT"/many*

# So is what is packed, and small: 1 GiB is in each, packed twice.
head -c 64M /dev/zero | gzip > mib
for i in $(seq 16); do cat mib; done | gzip > bomb
(($(stat -c %s bomb) < 64 << 10)) || fail 'the bomb is large'
for i in $(seq 300); do cp bomb "$MNT/bomb$i"; done
words 41 200 > "$MNT/f.txt"
soon 'read before them' is_current f.txt
(($(slow) > 100)) || fail 'they were read first'
words 51 200 | gzip > "$MNT/g.gz"
rm "$MNT"/bomb*
soon 'what is small and packed is read' is_current g.gz
expect_match 'what is packed' 'current, text, gzip' "$("$KINFS" status "$MNT/g.gz")"

# Longer than is read at all; a shorter one in its place is a document as others.
make_long "$MNT/too_long" 65
is_too_long() { [[ $(state too_long) = 'skipped: longer than 64 GiB' ]]; }
soon 'too long' is_too_long
expect_match 'status' 'skipped: longer than 64 GiB' "$("$KINFS" status "$MNT/too_long")"
words 1 200 > "$MNT/too_long"
expect_match 'short again' too_long "$(ls "$MNT/similar/a.txt")"

# A hole is as good as the zeros it stands for.
{ words 1 1000; head -c 100M /dev/zero; words 2000 1000; } > "$SOURCE/zeros"
cp --sparse=always "$SOURCE/zeros" "$SOURCE/holes"
(($(stat -c %b "$SOURCE/holes") * 512 < 1 << 20)) || skip 'no holes can be made here'
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'the same' "$("$KINFS" status "$MNT/zeros" | grep tokens)" "$("$KINFS" status "$MNT/holes" | grep tokens)"
expect_match 'the same' '^1.0000' "$("$KINFS" similar "$MNT/zeros" | grep holes)"
stop
