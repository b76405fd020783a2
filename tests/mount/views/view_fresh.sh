#!/usr/bin/env bash
# After close(2) the views are right: edits, copies, renames and removals one after the other, each
# looked at without waiting.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
links() { ls -C "$MNT/similar/$1" | xargs; }

mkdir -p "$SOURCE/d"
words 1 100 > "$SOURCE/report"
start
"$KINFS" settle "$MNT"
expect_equal 'alone' '' "$(links report)"

cp "$MNT/report" "$MNT/report-v2"
expect_equal 'a copy' '100-report-v2' "$(links report)"
expect_equal 'state' current "$(value "$MNT/report-v2" state)"
expect_equal 'nearest' report-v2 "$(value "$MNT/report" nearest)"
expect_equal 'its cluster' 2 "$(value "$MNT/report" cluster.size)"

words 101 10 >> "$MNT/report-v2"
expect_equal 'after an addition' '090-report-v2' "$(links report)"
expect_equal 'its number' 0.9057 "$(value "$MNT/report" resemblance:report-v2)"
expect_equal 'contained' 0.9999 "$(value "$MNT/report" containment:report-v2)"
expect_equal 'the other way' 0.9057 "$(value "$MNT/report-v2" containment:/report)"

mv "$MNT/report-v2" "$MNT/d/renamed"
expect_equal 'after a rename' '090-renamed' "$(links report)"
expect_equal 'its target' '../../d/renamed' "$(readlink "$MNT/similar/report/090-renamed")"
[[ ! -L $MNT/similar/report/090-report-v2 ]] || fail 'the old name is there'

mv "$MNT/d" "$MNT/e"
expect_equal 'after its directory was renamed' '../../e/renamed' \
    "$(readlink "$MNT/similar/report/090-renamed")"
expect_equal 'listed where it is' 'renamed' "$(ls "$MNT/similar/e")"

words 50000 100 > "$MNT/e/renamed" # in place
expect_equal 'after a rewrite' '' "$(links report)"
getfattr -n user.kinfs.cluster "$MNT/report" 2> /dev/null && fail 'still in a cluster'

words 1 100 > "$MNT/e/.renamed.new"
mv "$MNT/e/.renamed.new" "$MNT/e/renamed" # as editors save
expect_equal 'after a save' '100-renamed' "$(links report)"

ln "$MNT/e/renamed" "$MNT/hard"
expect_match 'a second name' '^100-(hard|renamed)$' "$(links report)"
rm "$MNT/e/renamed"
expect_equal 'the first name removed' '100-hard' "$(links report)"
rm "$MNT/hard"
expect_equal 'the last name removed' '' "$(links report)"

words 1 100 > "$MNT/twin"
expect_equal 'a twin' '100-twin' "$(links report)"

# A view held open while what it mirrors goes.
mkdir "$MNT/gone"
cp "$MNT/report" "$MNT/gone/copy"
exec 9< "$MNT/similar/gone"
(
    cd "$MNT/similar/gone/copy"
    rm -r "$MNT/gone"
    ! ls > "$SCRATCH/out" 2>&1 || [[ ! -s $SCRATCH/out ]]
) || fail 'a removed document still has links'
! stat /proc/self/fd/9/. > /dev/null 2>&1 || fail 'a removed directory is still there'
exec 9<&-
[[ ! -e $MNT/similar/gone ]] || fail 'a removed directory is found'

# A directory in the place of a document, and the other way round.
rm "$MNT/twin"
mkdir "$MNT/twin"
cp "$MNT/report" "$MNT/twin/inside"
expect_equal 'now a directory' 'inside' "$(ls "$MNT/similar/twin")"
rm -r "$MNT/twin"
cp "$MNT/report" "$MNT/twin"
expect_equal 'a document again' '100-report' "$(links twin)"

# In the backing tree, behind the mount: found when the document itself is asked about. (Last, as
# the kernel may go on for a while with the size that it knows.)
words 1 110 > "$SOURCE/report"
expect_equal 'written behind the mount' '090-twin' "$(links report)"
# Changed, and made, behind the mount: seen when asked about, in a listing of another too.
words 50000 200 > "$SOURCE/behind"
words 50000 190 > "$SOURCE/kin1"
words 50000 180 > "$SOURCE/kin2"
for name in behind kin1 kin2; do
    expect_equal "$name, made behind the mount" current \
        "$(getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/$name")"
done
expect_match "kin" 'kin1.*kin2|kin2.*kin1' "$(ls "$MNT/similar/behind" | tr '\n' ' ')"
words 90000 200 > "$SOURCE/kin1"
expect_match "kin when one has changed" '^[0-9]+-kin2 $' "$(ls "$MNT/similar/behind" | tr '\n' ' ')"
stop
