#!/usr/bin/env bash
# contains/ and within/ tell nobody of a part, or of a whole, that this user could not list and read: no name, number or order,
# nor that a document has any.
. "${0%/mount/*}/lib/shell/mount.sh"
needs setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open" "$SOURCE/closed" "$SOURCE/blind"
words 1 8000 > "$SOURCE/open/book"
words 1 400 > "$SOURCE/open/chapter"
words 401 400 > "$SOURCE/open/secret"
words 801 400 > "$SOURCE/closed/chapter"
words 1201 400 > "$SOURCE/blind/chapter"
words 1601 10 > "$SOURCE/open/note"
words 1701 10 > "$SOURCE/closed/note"
{ words 1 400; words 20000 8000; } > "$SOURCE/closed/whole"
# Of these the only part, or the only whole, is hidden.
words 30000 4000 > "$SOURCE/open/alone"
words 30000 400 > "$SOURCE/closed/of_alone"
words 40000 400 > "$SOURCE/open/stray"
words 40000 4000 > "$SOURCE/closed/of_stray"
chmod 600 "$SOURCE/open/secret"
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
start -o allow_other
"$KINFS" settle "$MNT"

seen() { # COMMAND...: the names of what is listed
    "$@" | xargs
}
check() {
    expect_equal 'root sees all parts' '099-chapter 099-chapter~2 099-chapter~3 099-note 099-note~2 099-secret' "$(seen ls "$MNT/contains/open/book")"
    expect_equal 'a user those that can be listed and read' '099-chapter 099-note' "$(seen as_user ls "$MNT/contains/open/book")"
    expect_equal 'root sees all wholes' '099-book 099-whole' "$(seen ls "$MNT/within/open/chapter")"
    expect_equal 'a user those' '099-book' "$(seen as_user ls "$MNT/within/open/chapter")"
    expect_equal 'what has parts, for root' 'alone book' "$(seen ls "$MNT/contains/open")"
    expect_equal 'for a user' 'book' "$(seen as_user ls "$MNT/contains/open")"
    expect_equal 'what is in a whole, for root' 'chapter secret stray' "$(seen ls "$MNT/within/open" | sed 's/ *note//')"
    expect_equal 'for a user ' 'chapter' "$(seen as_user ls "$MNT/within/open" | sed 's/ *note//')"
    expect_equal 'of the one with a hidden part' '' "$(as_user ls -A "$MNT/contains/open/alone")"
    expect_equal 'of the one in a hidden whole' '' "$(as_user ls -A "$MNT/within/open/stray")"
}
check
# Nor by a name that is guessed, nor out of what root was just told.
for name in '099-chapter~2' 099-secret '099-note~2'; do
    test -L "$MNT/contains/open/book/$name" || fail "root does not find $name"
    ! as_user test -L "$MNT/contains/open/book/$name" || fail "$name is found"
done
! as_user test -L "$MNT/within/open/chapter/099-whole" || fail 'a hidden whole is found'
check

# The views are as closed as the tree.
for view in contains within; do
    ! as_user ls "$MNT/$view/closed" 2> /dev/null || fail "$view: a closed directory is listed"
    ! as_user ls "$MNT/$view/closed/chapter" 2> /dev/null || fail "$view: a closed directory is searched"
    ! as_user ls "$MNT/$view/open/secret" 2> /dev/null || fail "$view: of a closed document"
    ! as_user ls "$MNT/$view/blind" 2> /dev/null || fail "$view: a directory without r is listed"
    expect_equal "$view: modes" "$(stat -c '%u %g %a' "$MNT/similar/open/secret" "$MNT/similar/closed" "$MNT/similar/blind")" \
        "$(stat -c '%u %g %a' "$MNT/$view/open/secret" "$MNT/$view/closed" "$MNT/$view/blind")"
done

# Who asks with a document of their own is told the same, and as much of what may be missing as if nothing were hidden.
ask() { # WORDS FILE
    (exec 3<> "$MNT/.kinfs/query/$1" && cat "$2" >&3 && cat <&3)
}
export -f ask
export MNT
words 1 8000 > "$SCRATCH/asked"
chmod 644 "$SCRATCH/asked"
expect_equal 'parts' $'0.9999\topen/chapter 0.9999\topen/note 1.0000\topen/book' "$(as_user bash -c "ask x,contained '$SCRATCH/asked'" | sort | xargs -d '\n')"
words 40000 400 > "$SCRATCH/asked"
expect_equal 'wholes' '1.0000	open/stray' "$(as_user bash -c "ask x,containing '$SCRATCH/asked'" | grep -v '^#')"

# What is opened is there, what is closed is gone, without a word to the index.
chmod 644 "$SOURCE/open/secret"
expect_equal 'opened' '099-chapter 099-note 099-secret' "$(seen as_user ls "$MNT/contains/open/book")"
chmod 600 "$SOURCE/open/chapter"
expect_equal 'closed' '099-note 099-secret' "$(seen as_user ls "$MNT/contains/open/book")"
! as_user ls "$MNT/within/open/chapter" 2> /dev/null || fail 'wholes of what was closed'
