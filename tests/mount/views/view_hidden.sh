#!/usr/bin/env bash
# What a user is told does not depend on what the user cannot list and read: all of it, before such documents come,
# while they are there, and after.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
USER=54321
seen() { python3 "$LIB/callers/seen_by.py" "$MNT" $USER "$SCRATCH"/questions/*; }

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{open,more,closed,blind} "$SCRATCH/questions"
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
# A chain whose links are there, one with a gap, twins, a pair, one alone, and some with boilerplate of their own.
words 1 300 > "$SOURCE/open/chain1"
words 46 300 > "$SOURCE/open/chain2"
words 91 300 > "$SOURCE/more/chain3"
words 2001 300 > "$SOURCE/open/gap1"
words 2161 300 > "$SOURCE/open/gap3"
words 2321 300 > "$SOURCE/more/gap5"
words 4001 300 | tee "$SOURCE/open/twin1" > "$SOURCE/more/twin2"
words 6001 300 > "$SOURCE/open/pair1"
words 6011 300 > "$SOURCE/open/pair2"
words 8001 300 > "$SOURCE/open/alone"
for i in {1..12}; do
    { words 90001 40; words $((20000 + i * 1000)) 60; } > "$SOURCE/more/boilerplate$i"
done
# There from the beginning, and of no document at first.
: > "$SOURCE/open/secret"
chmod 600 "$SOURCE/open/secret"
words 2081 300 > "$SCRATCH/questions/gap"
words 8001 280 > "$SCRATCH/questions/alone"
{ words 90001 40; words 50001 20; } > "$SCRATCH/questions/boilerplate"
chown -R $USER "$SOURCE/open/chain1" "$SOURCE/more/twin2"

start -o allow_other,passages,list_xattr,clusters=near:components:0.7,clusters=tight:center:0.7
"$KINFS" settle "$MNT" > /dev/null
seen > "$SCRATCH/before"
grep -q ' chain1 ' "$SCRATCH/before" || fail 'nothing is told'
expect_equal 'clusters seen' 3 "$(grep -cE '^clusters [0-9]+ ' "$SCRATCH/before")"

# What brings them together, what names them, what is a twin, what makes lists long and clusters large.
words 2081 300 > "$SOURCE/closed/gap2"
words 2241 300 > "$SOURCE/blind/gap4"
words 1 900 > "$SOURCE/closed/longest"
words 6001 400 > "$SOURCE/open/secret"
words 8001 300 | tee "$SOURCE/closed/alone-twin1" "$SOURCE/blind/alone-twin2" > /dev/null
words 4001 300 > "$SOURCE/blind/twin3"
mkdir "$SOURCE/closed/many"
for i in {1..400}; do
    { words 90001 40; words $((100000 + i * 1000)) 60; } > "$SOURCE/closed/many/$i"
    { words 46 300; words $((900000 + i * 10)) 8; } > "$SOURCE/closed/many/chain$i"
done
"$KINFS" scan "$MNT" > /dev/null
"$KINFS" settle "$MNT" > /dev/null
root=$(getfattr --only-values --absolute-names -n user.kinfs.cluster.size "$MNT/open/chain2")
((root > 400)) || fail "root sees a cluster of $root"
seen > "$SCRATCH/among"
diff "$SCRATCH/before" "$SCRATCH/among" > "$SCRATCH/diff" || fail "hidden documents are told of: $(head -n 5 "$SCRATCH/diff")"

rm -r "$SOURCE/closed" "$SOURCE/blind"
mkdir "$SOURCE/closed" "$SOURCE/blind"
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
: > "$SOURCE/open/secret"
"$KINFS" scan "$MNT" > /dev/null
"$KINFS" settle "$MNT" > /dev/null
seen > "$SCRATCH/after"
diff <(grep -v 'closed\|blind' "$SCRATCH/before") <(grep -v 'closed\|blind' "$SCRATCH/after") > "$SCRATCH/diff" ||
    fail "what was hidden and is gone is told of: $(head -n 5 "$SCRATCH/diff")"

# What a file held before it was given to the user is not told, whatever is known of it still.
words 4001 300 > "$SOURCE/open/secret"
"$KINFS" scan "$MNT" > /dev/null
"$KINFS" settle "$MNT" > /dev/null
words 70001 300 > "$SOURCE/open/secret"
chmod 644 "$SOURCE/open/secret"
! setpriv --reuid=$USER --regid=$USER --clear-groups ls "$MNT/similar/open/twin1" | grep -q secret ||
    fail 'what it held before is told'
stop
