#!/usr/bin/env bash
# kinfs tidy: what is planned is what unique/ leaves out, what is done is what was planned, and --undo leaves all as it was; whatever the names.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 getfattr
export HOME=$SCRATCH/home XDG_DATA_HOME=
mkdir -p home
chmod 755 "$SCRATCH"
all() { # DIRECTORY: all that is to be as it was
    (cd "$1" && {
        find . ! -type d -printf '%p %y %m %U %G %T@ %n\n'
        find . ! -type d -exec getfattr -h -d -m '^user\.' {} + || true # where there is no such thing it fails
        find . -type f -exec sha256sum {} +
    } | LC_ALL=C sort)
}
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
plan() { # ARGUMENT...: to the file plan
    rm -f plan plan.undo
    "$KINFS" tidy --json "$@" > plan
}
# The index looks again at what was changed beside the names of it, and in doubt leaves nothing out.
plans() { # NUMBER ARGUMENT...: as many documents are planned to be changed
    plan "${@:2}"
    [[ $(grep -cv '"do":"list"' plan) = "$1" ]]
}
doing() { python3 -c 'import json, sys; print(*sorted(row["path"] for row in map(json.loads, open("plan")) if row["do"] == sys.argv[1]))' "$1"; }

# -- every name, of a store alone --
n=$("$LIB/backup/hostile_names.py" make tree)
"$KINFS" scan tree > /dev/null
before=$(all tree)
plan --do=trash tree
expect_equal 'as many' "$n" "$(wc -l < plan)"
# The other tool says the same.
python3 - plan <("$KINFS" skip --json tree) << 'SAME'
import json, sys
def key(row, name):
    return row.get(name + "_bytes", row[name])
planned = sorted((key(row, "path"), key(row, "keep"), row["equal"], row["resemblance"]) for row in map(json.loads, open(sys.argv[1])))
skipped = sorted((key(row, "path"), key(row, "stand_in"), row["equal"], row["resemblance"]) for row in map(json.loads, open(sys.argv[2])))
assert planned == skipped, (planned, skipped)
SAME
expect_equal 'a plan changes nothing' "$before" "$(all tree)"
cp -a tree whole # before: what a copy reads is of no matter
tidy 0 --apply plan
expect_equal 'a line each' "$n" "$(grep -c ^trashed <<< "$OUT")"
expect_equal 'complaints' '' "$(cat said)"
trash=home/.local/share/Trash
[[ -d $trash ]] || trash=$(findmnt -no TARGET -T tree)/.Trash-$EUID
# What the specification's readers find: of each file where it was.
python3 - "$trash" "$PWD/whole" "$PWD/tree" << 'INFO'
import os, sys, urllib.parse
trash, whole, tree = map(os.fsencode, sys.argv[1:])
was = set()
for name in os.listdir(trash + b"/info"):
    lines = open(trash + b"/info/" + name, "rb").read().split(b"\n")
    assert lines[0] == b"[Trash Info]" and lines[1].startswith(b"Path=") and lines[2].startswith(b"DeletionDate=20") and lines[3:] == [b""], lines
    path = urllib.parse.unquote_to_bytes(lines[1][5:])
    if not path.startswith(tree + b"/"):
        continue
    file = trash + b"/files/" + name[: -len(b".trashinfo")]
    there = whole + path[len(tree):]
    assert open(file, "rb").read() == open(there, "rb").read() and os.stat(file).st_mtime_ns == os.stat(there).st_mtime_ns
    was.add(path)
gone = {os.path.join(at, name) for at, _, names in os.walk(whole) for name in names if not os.path.lexists(tree + os.path.join(at, name)[len(whole):])}
assert {tree + path[len(whole):] for path in gone} == was, (gone, was)
INFO
tidy 3 --apply plan
expect_match 'applied again' 'plan.undo is there, of an earlier run' "$(cat said)"
tidy 1 --apply plan --undo-file=again
expect_equal 'applied again' "$n" "$(grep -c ^left <<< "$OUT")"
expect_equal 'applied again: why' "$n" "$(grep -c 'unique/ does not leave it out' said)"
expect_equal 'the mode of the list' 600 "$(stat -c %a plan.undo)"
tidy 0 --undo again
tidy 0 --undo plan.undo
expect_equal 'undone' "$n" "$(grep -c ^restored <<< "$OUT")"
expect_equal 'undone' "$before" "$(all tree)"
! grep -rlF "$PWD/tree" "$trash/info" 2> /dev/null || fail 'the trash has lines of what is back'
tidy 0 --undo plan.undo
expect_equal 'undone again' "$n" "$(grep -c ^unchanged <<< "$OUT")"

# -- what is planned --
mkdir -p "$SOURCE"/{a,b}
words 1 600 > "$SOURCE/a/first"
{ words 1 600; echo more; } > "$SOURCE/b/near"
for name in equal moded timed named attributed; do
    cp -p "$SOURCE/a/first" "$SOURCE/b/$name"
done
touch -d @1000000000.123456789 "$SOURCE"/{a,b}/*
touch -d @1000000001 "$SOURCE/b/timed"
chmod 600 "$SOURCE/b/moded"
ln "$SOURCE/b/named" "$SOURCE/b/other name"
setfattr -n user.mine -v x "$SOURCE/b/attributed" 2> /dev/null || rm "$SOURCE/b/attributed"
"$KINFS" scan "$SOURCE" > /dev/null
before=$(all "$SOURCE")
tidy 0 "$SOURCE"
expect_match 'for people' $'^keep\ta/first\n.*list\tb/equal\tequal\t[0-9]+\n.*list\tb/near\t0\\.99[0-9]*\t[0-9]+\n.*\n\nonly listed: [0-9]+, [0-9]+ bytes\nnothing has been changed$' "$OUT"
expect_equal 'of a directory without the one that stays' '' "$("$KINFS" tidy "$SOURCE/b")"
plan --do=trash "$SOURCE"
expect_equal 'near-duplicates are listed' b/near "$(doing list)"
plan --do=trash --near "$SOURCE"
expect_equal 'near-duplicates, too' '' "$(doing list)"
expect_equal 'what it saves' "$(cd "$SOURCE/b" && stat -c '%h %s' -- * | awk '$1 == 1 { sum += $2 } END { print sum }')" \
    "$(python3 -c 'import json; print(sum(json.loads(line)["saves"] for line in open("plan")))')"
plan --do=reflink "$SOURCE"
expect_equal 'what is no copy is not reflinked' b/near "$(doing list)"
plan --do=link "$SOURCE"
expect_equal 'what can be linked' "$([[ ! -e $SOURCE/b/attributed ]] || echo -n 'b/attributed ')b/equal" "$(doing link)"
tidy 0 --do=link "$SOURCE"
for said in $'b/moded\tequal\t[0-9]*\towner, group or mode is another' $'b/timed\tequal\t[0-9]*\tthe time is another' \
    $'b/named\tequal\t[0-9]*\tit has other names' $'b/near\t0[.0-9]*\t[0-9]*\ta near-duplicate'; do
    grep -q $'^list\t'"$said" <<< "$OUT" || fail "not said: $said: $OUT"
done

# -- a link is made where all else is the same, and is a file again --
sed -i '/"path":"b\/\(moded\|timed\|named\)"/s/"do":"list"/"do":"link"/' plan # whatever a plan says
tidy 1 --apply plan
expect_equal 'one is linked' 'linked b/equal' "$(grep linked <<< "$OUT" | tr '\t' ' ')"
for said in 'b/moded: owner, group or mode' 'b/timed: the time' 'b/named: it has other names' ${said:+$([[ ! -e $SOURCE/b/attributed ]] || echo b/attributed:)}; do
    grep -q "^kinfs: $said" said || fail "not said: $said: $(cat said)"
done
expect_equal 'it is one file' "$(stat -c %i "$SOURCE/a/first")" "$(stat -c %i "$SOURCE/b/equal")"
expect_equal 'nothing is left beside it' '' "$(find "$SOURCE" -name '.#*')"
tidy 0 --undo plan.undo
expect_equal 'undone' "$before" "$(all "$SOURCE")"
"$KINFS" scan "$SOURCE" > /dev/null
plan --do=link "$SOURCE"
tidy "$([[ -e $SOURCE/b/attributed ]] && echo 1 || echo 0)" --apply plan
echo changed >> "$SOURCE/b/equal"
tidy 1 --undo plan.undo
expect_match 'what has been changed' 'b/equal: has been changed since it was linked; stays a link' "$(cat said)"
expect_equal 'stays a link' "$(stat -c %i "$SOURCE/a/first")" "$(stat -c %i "$SOURCE/b/equal")"
rm "$SOURCE/b/equal"
words 1 600 > "$SOURCE/a/first"
touch -d @1000000000.123456789 "$SOURCE/a/first"
cp -p "$SOURCE/a/first" "$SOURCE/b/equal"
expect_equal 'the tree of before' "$before" "$(all "$SOURCE")"

# -- undoing overwrites nothing, and says what it could not --
for name in taken emptied edited left; do
    mkdir "$SOURCE/$name"
    cp "$SOURCE/a/first" "$SOURCE/$name/$name"
done
"$KINFS" scan "$SOURCE" > /dev/null
plan --do=trash "$SOURCE"
chosen=$SCRATCH/chosen
mkdir -m 700 "$chosen"
tidy 0 --apply plan --trash="$chosen"
echo mine > "$SOURCE/taken/taken"
rm "$chosen/files/emptied"
echo >> "$chosen/files/edited"
rmdir "$SOURCE/left"
tidy 1 --undo plan.undo
expect_equal 'not undone' 'edited/edited emptied/emptied left/left taken/taken' "$(sed -n 's/^failed\t//p' <<< "$OUT" | sort | xargs)"
for said in 'taken/taken: something else has its name; is in the trash as taken' 'emptied/emptied: is neither where it was nor in the trash' \
    'edited/edited: edited in the trash is another file, or has been changed' 'left/left: the directory it was in: No such file'; do
    grep -q "^kinfs: $said" said || fail "not said: $said: $(cat said)"
done
expect_equal 'what was there' mine "$(cat "$SOURCE/taken/taken")"
cmp "$SOURCE/a/first" "$chosen/files/taken"
rm "$SOURCE/taken/taken"
mkdir "$SOURCE/left"
tidy 1 --undo plan.undo --json
expect_match 'JSON' '"what": ?"restored", ?"path": ?"taken/taken"' "$OUT"
expect_match 'JSON' '"what": ?"failed", ?"path": ?"emptied/emptied", ?"why": ?"is neither where' "$OUT"
cmp "$SOURCE/a/first" "$SOURCE/left/left"
rm -rf "$SOURCE"/{taken,emptied,edited,left} "$chosen"

# -- a mount: the tree itself is tidied, and the mount sees it --
if [[ -c /dev/fuse ]]; then
    n_equal=$(find "$SOURCE/b" -type f ! -name near | wc -l)
    n_linked=$([[ -e $SOURCE/b/attributed ]] && echo 2 || echo 1)
    start
    "$KINFS" settle "$MNT" > /dev/null
    soon 'the plan' plans "$n_equal" --do=trash "$MNT"
    expect_match 'the tree itself' "\"directory\": ?\"$SOURCE\"" "$(head -n 1 plan)"
    tidy 0 --apply plan
    soon 'what is gone' test ! -e "$MNT/b/equal"
    tidy 0 --undo plan.undo
    soon 'what is back' cmp "$MNT/b/equal" "$SOURCE/a/first"
    "$KINFS" settle "$MNT" > /dev/null
    stop
    # Mounted over itself, where it is not told who has a document open below.
    "$KINFS" mount "$SOURCE"
    "$KINFS" settle "$SOURCE" > /dev/null
    soon 'the plan' plans "$n_linked" --do=link "$SOURCE"
    tidy 1 --apply plan
    expect_equal 'over itself, nothing is linked' "$n_linked 1" "$(grep -c ^left <<< "$OUT") $(stat -c %h "$SOURCE/b/equal")"
    tidy 0 --undo plan.undo
    "$KINFS" settle "$SOURCE" > /dev/null
    soon 'the plan' plans "$n_equal" --do=trash "$SOURCE"
    tidy 0 --apply plan
    [[ -e $SOURCE/.Trash-$EUID/files/equal ]] || fail "over itself, the trash: $(find "$SOURCE" -name equal)"
    grep -qx Path=b/equal "$SOURCE/.Trash-$EUID/info/equal.trashinfo" || fail 'its path is relative'
    tidy 0 --undo plan.undo
    "$KINFS" umount "$SOURCE"
    expect_equal 'a mount' "$(grep '^\./' <<< "$before")" "$(all "$SOURCE" | grep '^\./')"
fi

# -- a directory of it; a plan that is read from elsewhere --
mkdir "$SOURCE/b/deep"
words 5000 300 | tee "$SOURCE/b/deep/x" > "$SOURCE/b/deep/y"
touch -d @1000000000 "$SOURCE/b/deep/x"
"$KINFS" scan "$SOURCE" > /dev/null
plan --do=trash "$SOURCE/b"
expect_equal 'below it' deep/y "$(doing trash)"
expect_equal 'of the working directory' "$(cat plan)" "$(cd "$SOURCE/b" && "$KINFS" tidy --json --do=trash)"
tidy 3 --apply /dev/stdin < plan
expect_match 'a plan from elsewhere' 'name a list with --undo-file' "$(cat said)"
tidy 0 --apply /dev/stdin --undo-file=elsewhere < plan
[[ ! -e $SOURCE/b/deep/y && -e $SOURCE/b/deep/x ]] || fail 'below it: not done'
tidy 0 --undo elsewhere
cmp "$SOURCE"/b/deep/{x,y}
: > plan
tidy 0 --apply plan
[[ ! -e plan.undo ]] || fail 'of a plan that is empty there is a list'

# -- near-duplicates that are equal to each other: without --near one of them stays --
mkdir -p versions/sub
words 7000 400 > versions/first
{ words 7000 400; words 7900 2; } | tee versions/second > versions/sub/third
words 8000 400 > versions/apart
touch -d @1000000000 versions/first
touch -d @1100000000 versions/second
"$KINFS" scan versions > /dev/null
before=$(all versions)
for act in list trash link; do
    plan --do=$act versions
    expect_equal "$act" 'second first False sub/third second True' "$(python3 -c 'import json; print(*sorted(" ".join((row["path"], row["keep"], str(row["equal"]))) for row in map(json.loads, open("plan"))))')"
done
touch -r versions/second versions/sub/third
"$KINFS" scan versions > /dev/null
before=$(all versions)
for act in trash link; do
    plan --do=$act versions
    expect_equal "$act" sub/third "$(doing $act)"
    tidy 0 --apply plan
    [[ -e versions/second ]] && cmp versions/second "$([[ $act = trash ]] && echo versions/second || echo versions/sub/third)" || fail "$act: what was to stay"
    [[ $act = link || ! -e versions/sub/third ]] || fail 'it is not in the trash'
    tidy 0 --undo plan.undo
    expect_equal "$act, undone" "$before" "$(all versions)"
    "$KINFS" scan versions > /dev/null
done
# Both go with --near, for the first, which stays; in a plan that has the one for the other and that for the first one of them may stay, too.
plan --do=trash --near versions
expect_equal 'near' 'second first sub/third first' "$(python3 -c 'import json; print(*sorted(" ".join((row["path"], row["keep"])) for row in map(json.loads, open("plan"))))')"
plan --do=trash versions
sed -i 's/"do":"list"/"do":"trash"/' plan
tidy 1 --apply plan
[[ -e versions/first && -e versions/sub/third && ! -e versions/second ]] || fail "both for each other: $(ls -R versions)"
expect_match 'what was to be kept is gone' 'second, which is to be kept: No such file' "$(cat said)"
tidy 0 --undo plan.undo
expect_equal 'undone' "$before" "$(all versions)"
if ((EUID == 0)); then
    "$KINFS" scan versions > /dev/null
    mkdir -p mounted
    "$KINFS" mount versions mounted
    "$KINFS" settle mounted > /dev/null
    plan --do=trash mounted
    expect_equal 'by the rules of a mount' sub/third "$(doing trash)"
    "$KINFS" umount mounted
fi

# -- usage --
for wrong in --do=burn --near '--near --do=link' '--apply plan --undo x' '--apply plan .' '--undo x .' '--apply plan --do=link' --trash=x --undo-file=x 'a b'; do
    # shellcheck disable=SC2086 # words
    tidy 2 $wrong
done
tidy 3 "$SOURCE/a/first"
expect_match 'a document' 'first: no directory' "$(cat said)"
tidy 3 --apply none
tidy 3 --undo none
echo '{"kinfs_tidy":2}' > other
tidy 3 --apply other
expect_match 'no plan' 'other:1: no line of a plan' "$(cat said)"
tidy 3 --undo other
expect_match 'no list' 'other:1: no line of what kinfs tidy --apply has done' "$(cat said)"
