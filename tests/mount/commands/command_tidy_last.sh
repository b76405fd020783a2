#!/usr/bin/env bash
# kinfs tidy never touches the last of a group, nor what is another than it was when it was planned: whatever a plan says, and however many
# there are.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3 setfattr
trash=$SCRATCH/trash
mkdir -m 700 "$trash"
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
apply() { # CODE PLAN
    rm -f undo
    tidy "$1" --apply "$2" --undo-file=undo --trash="$trash"
}
edit() { # PLAN EXPRESSION: of each row that which the expression gives
    python3 - "$1" "$2" << 'EDIT'
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    for other in eval(sys.argv[2]):
        print(json.dumps(other))
EDIT
}
texts() { find "$SOURCE" -type f -exec sha256sum {} + | cut -c 1-64 | sort -u; }
make() {
    rm -rf "${SOURCE:?}"/*
    mkdir -p "$SOURCE/group"
    words 1 600 > "$SOURCE/group/a"
    cp "$SOURCE/group/a" "$SOURCE/group/b"
    cp "$SOURCE/group/a" "$SOURCE/group/c"
    { words 1 600; echo more; } > "$SOURCE/group/near"
    words 90000 600 > "$SOURCE/other"
    local i=0 name
    for name in a b c near; do
        touch -d @100000000$((i++)) "$SOURCE/group/$name"
    done
    "$KINFS" settle "$MNT" > /dev/null
}
new_plan() { # FILE ARGUMENT...
    "$KINFS" settle "$MNT" > /dev/null
    "$KINFS" tidy --json "${@:2}" "$MNT" > "$1"
}
mkdir -p "$SOURCE"
start
make
all=$(texts)

# -- a plan that was changed --
turn='dict(row, path=row["keep"], keep=row["path"], **{"is": row["keep_is"], "keep_is": row["is"]})'
refused() { # WHAT REGEX
    expect_match "$1" "$2" "$(cat said)"
    expect_equal "$1: all is there" 'a b c near' "$(ls "$SOURCE/group" | xargs)"
    expect_equal "$1: nothing is in the trash" '' "$(find "$trash" -type f)"
}
new_plan plan --do=trash --near
expect_equal 'what is planned' 3 "$(wc -l < plan)"
edit plan "[$turn]" > edited
apply 1 edited
refused 'what is kept, for what is not' 'group/a: unique/ does not leave it out for group/b now'
edit plan '[dict(row, keep=row["path"], keep_is=row["is"])]' > edited
apply 1 edited
refused 'each for itself' 'group/b: unique/ does not leave it out for group/b now'
edit plan '[dict(row, keep="other")]' > edited
apply 1 edited
refused 'for another' 'does not leave it out for other now'
edit plan '[dict(row, path="other", **{"is": dict(row["is"])})]' > edited
apply 1 edited
refused 'another' 'other: unique/ does not leave it out for group/a now'
edit plan '[dict(row, do="link"), dict(row, do="reflink")] if not row["equal"] else []' > edited
apply 1 edited
refused 'a near-duplicate is not linked' 'group/near: is not the same byte for byte'
edit plan '[dict(row, do="link", equal=True)] if not row["equal"] else []' > edited
apply 1 edited
refused 'whatever is said of it' 'group/near: is not the same byte for byte'
for path in ../group/b group//b /group/b . '' group/../group/b; do
    edit plan "[dict(row, path='$path')]" > edited
    apply 3 edited
    refused "the path '$path'" '^kinfs: edited:1: no line of a plan'
done
edit plan '[dict(row, directory=row["directory"] + "/group")] if row["path"] == "group/c" else [row]' > edited
apply 3 edited
refused 'two directories' 'edited:2: of another directory'
# Both ways at once: the last one stays.
edit plan "[row, $turn, row]" > edited
apply 1 edited
expect_equal 'both ways at once' a "$(ls "$SOURCE/group" | xargs)"
tidy 0 --undo undo
expect_equal 'undone' "$all" "$(texts)"

# -- two plans in turns, one of which has it the other way --
stop
start -o representative=newest
new_plan newest --do=trash --near
stop
start
new_plan oldest --do=trash --near
expect_match 'the other way' '"path": ?"group/a"' "$(cat newest)"
apply 0 oldest
apply 1 newest
expect_equal 'what is there' a "$(ls "$SOURCE/group" | xargs)"
stop
start -o representative=newest
"$KINFS" settle "$MNT" > /dev/null
apply 1 newest
expect_equal 'what is there, by the rules of the second' a "$(ls "$SOURCE/group" | xargs)"

# At the same time: each is asked about by rules of its own, and one of them stays.
stop
printf '[unique]\nrepresentative = newest\n' > newest.conf
printf '[unique]\nrepresentative = oldest\n' > oldest.conf
running=()
for ((round = 0; round < 10; round++)); do
    rm -rf "$SOURCE"/* "$trash"/* undo.*
    mkdir "$SOURCE/group"
    words 1 600 | tee "$SOURCE/group/a" > "$SOURCE/group/b"
    touch -d @1000000000 "$SOURCE/group/a"
    "$KINFS" scan "$SOURCE" > /dev/null
    for rule in newest oldest; do
        "$KINFS" tidy --json --do=trash -c $rule.conf "$SOURCE" > $rule
    done
    for rule in newest oldest; do
        "$KINFS" tidy --apply $rule -c $rule.conf --undo-file=undo.$rule --trash="$trash" > /dev/null 2>&1 &
        running[${#running[@]}]=$!
    done
    for pid in "${running[@]}"; do
        wait "$pid" || true
    done
    running=()
    [[ -e $SOURCE/group/a || -e $SOURCE/group/b ]] || fail "both are gone"
    for rule in newest oldest; do
        [[ ! -e undo.$rule ]] || "$KINFS" tidy --undo undo.$rule > /dev/null
    done
    expect_equal 'both are back' 'a b' "$(ls "$SOURCE/group" | xargs)"
done
rm -rf "$trash"/*

# -- what is not as it was when it was planned --
start
changed() { # WHAT REGEX COMMAND...: done between plan and act
    make
    new_plan plan --do=trash --near
    in_source "${@:3}" > /dev/null
    "$KINFS" settle "$MNT" > /dev/null
    apply 1 plan
    expect_match "$1" "$2" "$(cat said)"
}
only_left() { # NAME...: these are left alone, the others are moved
    local name
    for name; do
        [[ -e $SOURCE/group/$name ]] || fail "$name is gone" 1
        grep -q $'^left\t'"group/$name" <<< "$OUT" || fail "nothing is said of $name: $OUT" 1
    done
}
in_source() { (cd "$SOURCE" && "$@"); }
changed 'written' "group/near: " bash -c 'words() { seq -f "word%.0f" $1 $2; }; words 90 700 > group/near'
only_left near
changed 'one byte, with size and time as before' "group/b: " bash -c 'printf W | dd of=group/b conv=notrunc status=none; touch -d @1000000001 group/b'
only_left b
changed 'a mode' "group/b: .*changed since the plan was made" chmod 600 group/b
only_left b
changed 'another file of this name' "group/b: " bash -c 'cp -p group/b new && mv new group/b'
only_left b
changed 'a link of this name' "group/b: " bash -c 'mv group/b ../b && ln -s ../../b group/b'
rm b
changed 'what is kept is gone' "group/b: unique/ does not leave it out for group/a now" rm group/a
only_left b c near
changed 'what is kept is another' "group/near: " bash -c 'echo more >> group/a'
only_left near b c
changed 'it is to be kept' "group/b: " setfattr -n user.kinfs.keep -v '' group/b
only_left b
changed 'declared to be distinct' "group/near: unique/ does not leave it out for group/a now" "$KINFS" distinct "$MNT/group/a" "$MNT/group/near"
only_left near
make
new_plan plan --do=trash
mv "$SOURCE/group" "$SOURCE/moved"
"$KINFS" settle "$MNT" > /dev/null
apply 1 plan
expect_equal 'a directory of another name' 'a b c near' "$(ls "$SOURCE/moved" | xargs)"
stop
