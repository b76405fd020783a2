#!/usr/bin/env bash
# passages/ has links to what has passages of a document, named by their words, for who asks; it is there where passages are indexed, and listed where that
# is asked for.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

mkdir -p "$SOURCE/a" "$SOURCE/closed"
for i in 1 2 3 4; do words "${i}0000" 400 > "$SOURCE/a/d$i"; done
{ words 10100 60; words 50000 300; } > "$SOURCE/a/some"
{ words 60000 300; words 10300 100; words 61000 90; words 20000 40; } > "$SOURCE/a/more"
{ words 70000 100; words 10000 200; } > "$SOURCE/closed/hidden"
chmod 700 "$SOURCE/closed"

start
[[ ! -e $MNT/passages && ! -e $MNT/.kinfs/passages ]] || fail 'without passages there is a view of them'
stop

start -o passages
"$KINFS" settle "$MNT"
! ls "$MNT" | grep -q passages || fail 'it is listed'
expect_equal 'below .kinfs' 'clusters contains lost metrics passages query similar unique within' "$(ls -AC "$MNT/.kinfs" | xargs)"
# names DIRECTORY...: of links, without the words.
names() { ls "$@" | sed 's/^[0-9]*-//' | sort | xargs; }
expect_equal 'what has passages' 'hidden more some' "$(names "$MNT/passages/a/d1")"
expect_equal 'of another' 'more' "$(names "$MNT/passages/a/d2")"
expect_equal 'the other way' 'd1 d2' "$(names "$MNT/.kinfs/passages/a/more")"
expect_equal 'of none' '' "$(ls "$MNT/passages/a/d3")"
expect_equal 'what has some at all' 'd1 d2 more some' "$(ls "$MNT/passages/a" | xargs)"
# The words are at most 16 short at either end, and the link leads there.
python3 - "$MNT" << 'E2' || fail 'other words'
import os, sys
directory = f"{sys.argv[1]}/passages/a/d1"
for name, words in ("some", 60), ("more", 100), ("hidden", 200):
    link = next(link for link in os.listdir(directory) if link.endswith(f"-{name}"))
    shown = link.split("-")[0]
    assert len(shown) == 5 and words - 32 <= int(shown) <= words, link
    assert os.path.basename(os.path.realpath(f"{directory}/{link}")) == name, link
    assert os.path.samefile(f"{directory}/{link}", f"{sys.argv[1]}/{'closed' if name == 'hidden' else 'a'}/{name}"), link
E2
# As it is now.
words 10050 50 >> "$MNT/a/d3"
rm "$MNT/a/some"
expect_equal 'after a change' 'd3 hidden more' "$(names "$MNT/passages/a/d1")"
expect_equal 'the changed one' 'd1 hidden' "$(names "$MNT/passages/a/d3")"
stop

start -o passages,views=passages:listed
expect_equal 'listed' 'a closed passages' "$(ls -A "$MNT" | sort | xargs)"
stop

[[ $EUID = 0 ]] || exit 0
needs setpriv
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
chmod 755 "$SCRATCH"
rm "$SOURCE/a/d3"
words 20000 300 > "$SOURCE/closed/other"
start -o passages,allow_other
"$KINFS" settle "$MNT"
expect_equal 'root sees all' 'hidden more' "$(names "$MNT/passages/a/d1")"
expect_equal 'a user what can be read' 'more' "$(as_user ls "$MNT/passages/a/d1" | sed 's/^[0-9]*-//')"
chmod 600 "$SOURCE/a/more"
expect_equal 'and no more' '' "$(as_user ls "$MNT/passages/a/d1")"
expect_equal 'nor that a document has any' '' "$(as_user ls "$MNT/passages/a")"
for name in $(ls "$MNT/passages/a/d1"); do
    ! as_user test -L "$MNT/passages/a/d1/$name" || fail "$name is found"
done
