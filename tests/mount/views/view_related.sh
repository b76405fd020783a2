#!/usr/bin/env bash
# related/ has links to what is about the same as a document, as kinfs related has it, and so has user.kinfs.related; both are there where words of
# documents are kept, for root and the owner of the mount alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 getfattr

mkdir -p "$SOURCE/a" "$SOURCE/b"
# Of subjects, each with words of its own, of consonants, so that stems are the words themselves.
python3 - "$SOURCE" << 'E2'
import random, sys
rng = random.Random(3)
word = lambda n: "".join("bdkmqxz"[n // 7 ** i % 7] for i in range(6))
for i in range(60):
    with open(f"{sys.argv[1]}/{'ab'[i % 2]}/d{i:02}", "w") as file:
        file.write(" ".join(word(1000 * (i % 4 + 1) + rng.randrange(50)) if rng.random() < .7 else word(rng.randrange(500)) for _ in range(300)))
E2
echo 1984 > "$SOURCE/a/none"

start
[[ ! -e $MNT/related && ! -e $MNT/.kinfs/related ]] || fail 'without words there is a view of them'
expect_equal 'no attribute' '' "$(getfattr --only-values -n user.kinfs.related "$MNT/a/d00" 2> /dev/null || true)"
stop

start -o topics=content
"$KINFS" settle "$MNT"
! ls "$MNT" | grep -q related || fail 'it is listed'
expect_equal 'below .kinfs' 'clusters contains lost metrics query related similar topics unique within' "$(ls -A "$MNT/.kinfs" | sort | xargs)"
for document in a/d00 b/d01 a/d02; do
    "$KINFS" related "$MNT/$document" | awk -F '\t' '{ n = split($2, part, "/"); printf "%03d-%s\n", int($1 * 100 + 1e-9), part[n] }' | sort > expected
    expect_equal 'ten' 10 "$(wc -l < expected)"
    expect_equal "what is related to $document" "$(cat expected)" "$(ls "$MNT/related/$document" | sort)"
    expect_equal 'the same by an attribute' "$("$KINFS" related "$MNT/$document")" "$(getfattr --only-values -n user.kinfs.related "$MNT/$document")"
done
link=$(ls "$MNT/.kinfs/related/a/d00" | head -n 1)
expect_match 'where a link leads' "^$MNT/[ab]/${link#*-}\$" "$(readlink -f "$MNT/.kinfs/related/a/d00/$link")"
expect_equal 'of none' '' "$(ls "$MNT/related/a/none")"
expect_equal 'what has some at all' 30 "$(ls "$MNT/related/a" | wc -l)"
# As it is now.
cat "$MNT/a/d04" "$MNT/a/d08" > "$MNT/b/d01"
expect_match 'after a change' 'd04|d08' "$(ls "$MNT/related/b/d01" | xargs)"
rm "$MNT/a/d04"
! ls "$MNT/related/b/d01" | grep -q d04 || fail 'what is gone is related'
stop

start -o topics=content,views=related:listed
expect_equal 'listed' 'a b related' "$(ls -A "$MNT" | sort | xargs)"
stop

[[ $EUID = 0 ]] || exit 0
needs setpriv
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
chmod 755 "$SCRATCH"
start -o topics=content,allow_other,views=related:similar:listed
"$KINFS" settle "$MNT"
expect_equal 'root sees it' 10 "$(ls "$MNT/related/a/d00" | wc -l)"
expect_equal 'a user is not shown it' 'a b similar' "$(as_user ls -A "$MNT" | sort | xargs)"
expect_equal 'nor below .kinfs' 'clusters contains metrics query similar within' "$(as_user ls -A "$MNT/.kinfs" | sort | xargs)"
for directory in related related/a related/a/d00 .kinfs/related/a/d00; do
    expect_code 2 as_user ls "$MNT/$directory"
    expect_match "$directory is refused" 'Permission denied' "$OUT"
done
for name in $(ls "$MNT/related/a/d00"); do
    ! as_user test -L "$MNT/related/a/d00/$name" || fail "$name is found"
done
expect_equal 'nor has a document the attribute' '' "$(as_user getfattr --only-values -n user.kinfs.related "$MNT/a/d00" 2> /dev/null || true)"
expect_equal 'what resembles it is told' '' "$(as_user ls "$MNT/similar/a/d00")"
