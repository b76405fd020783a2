#!/usr/bin/env bash
# kinfs tidy, run by root in a tree that others write: what changes right before each of its steps is told from what was looked at, no link is
# followed, nothing outside of the tree is touched, and what is open for writing is left alone.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3 setpriv setfacl setfattr
HIS=54321
as_user() { setpriv --reuid=$HIS --regid=$HIS --clear-groups "$@"; }
chmod 755 "$SCRATCH"
trash=$SCRATCH/trash
mkdir -m 700 "$trash"
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
make() { # a document to be kept, one to be moved or linked, and what somebody has ready
    rm -rf "${SOURCE:?}"/* "$trash"/* undo outside
    mkdir -p "$SOURCE/his" outside
    words 1 600 | tee "$SOURCE/first" "$SOURCE/his/equal" outside/equal > outside/first
    echo new > outside/new
    touch -d @1000000000 "$SOURCE"/{first,his/equal} outside/*
    chown -R $HIS:$HIS "$SOURCE" outside
    inode=$(stat -c %i "$SOURCE/his/equal")
    "$KINFS" settle "$MNT" > /dev/null
    "$KINFS" tidy --json --do="$1" "$SOURCE" > plan
    expect_equal 'what is planned' 1 "$(grep -c "\"do\":\"$1\"" plan)"
}
at() { # CALL COMMAND: what is done before a call of kinfs tidy --apply; it is printed in OUT
    local code=0
    OUT=$(cd "$SOURCE" && "$LIB/work/at_call.py" "$1" "$2" "$KINFS" tidy --apply "$SCRATCH/plan" --undo-file="$SCRATCH/undo" ${TRASH:+--trash="$trash"} 2>&1) || code=$?
    [[ $code != 77 ]] || skip "no program can be traced: $OUT"
    [[ $code = 1 ]] || fail "before $1, $2: code $code, $OUT" 1
}
is_there() { # WHAT: the document has its name, alone, and neither the trash nor its directory has anything
    expect_equal "$1" "$inode 1" "$(stat -c '%i %h' "$SOURCE/his/equal")"
    expect_equal "$1: beside it" equal "$(ls -A "$SOURCE/his")"
    expect_equal "$1: in the trash" '' "$(find "$trash" -type f)"
    "$KINFS" tidy --undo undo > /dev/null || fail "$1: it cannot be undone" 1
    expect_equal "$1, undone" "$inode 1" "$(stat -c '%i %h' "$SOURCE/his/equal")"
}
is_new() { # WHAT: somebody's own file has the name
    expect_equal "$1" new "$(cat "$SOURCE/his/equal")"
    expect_equal "$1: beside it" equal "$(ls -A "$SOURCE/his")"
    expect_equal "$1: in the trash" '' "$(find "$trash" -type f)"
}
nothing_outside() { expect_equal "$1: outside" "equal first new" "$(ls -A "$SCRATCH/outside" | xargs)"; }
# Opens for writing as one who waits for nobody; it fails, and has been seen.
write_to() { echo "python3 -c 'import os
try: os.open(\"$1\", os.O_WRONLY | os.O_NONBLOCK)
except BlockingIOError: pass'"; }

# The store is the daemon's, and what kinfs tidy calls is of documents alone.
start
for act in trash link; do
    [[ $act = trash ]] && TRASH=1 || TRASH=
    for call in $([[ $act = trash ]] || echo linkat) renameat2; do
        make $act
        at $call 'cp -p ../outside/new new && mv new his/equal'
        is_new "$act, $call: another file"
        make $act
        at $call 'mv his/equal saved && ln -s ../../outside/equal his/equal'
        expect_equal "$act, $call: a link" ../../outside/equal "$(readlink "$SOURCE/his/equal")"
        expect_equal "$act, $call: a link: beside it" equal "$(ls -A "$SOURCE/his")"
        nothing_outside "$act, $call"
        make $act
        at $call 'rm first'
        is_there "$act, $call: what is kept is gone"
        make $act
        at $call 'mv first elsewhere; ln -s ../outside/first first'
        is_there "$act, $call: what is kept is a link"
        make $act
        at $call "$(write_to his/equal)"
        is_there "$act, $call: it is opened for writing"
        expect_match "$act, $call: it is opened for writing" 'has just been opened for writing' "$OUT"
        [[ $act = link ]] || continue
        make $act
        at $call "$(write_to first)"
        is_there "$act, $call: what is kept is opened for writing"
    done
    # The directory is another one by now: the document is still the same, and what has its name elsewhere is not touched.
    make $act
    (cd "$SOURCE" && "$LIB/work/at_call.py" renameat2 'mv his moved && ln -s ../outside his' "$KINFS" tidy --apply "$SCRATCH/plan" \
        --undo-file="$SCRATCH/undo" ${TRASH:+--trash="$trash"} > /dev/null 2>&1) || true
    nothing_outside "$act: a link on the way"
    expect_equal "$act: a link on the way" 1 "$(stat -c %h outside/equal)"
    tidy 1 --undo undo
    nothing_outside "$act: a link on the way, undoing"
    rm "$SOURCE/his"
    mv "$SOURCE/moved" "$SOURCE/his"
    tidy 0 --undo undo
    expect_equal "$act: a link on the way, undone" "$(sha256sum < outside/equal) 1" "$(sha256sum < "$SOURCE/his/equal") $(stat -c %h "$SOURCE/his/equal")"
done
# What has the name when it is moved is somebody else's directory, and the name is taken before that goes back.
make trash
mkdir -m 700 "$SOURCE/his/work"
echo mine > "$SOURCE/his/work/thesis"
at renameat2:1,2 'if [ $AT = 1 ]; then mv his/equal saved; mv his/work his/equal; else cp -p ../outside/new his/equal; fi'
expect_match 'a directory, and its name is taken' 'what had its name is equal\.[0-9a-f]{16} now' "$OUT"
expect_match 'what is printed of it' "displaced[[:space:]]his/equal" "$OUT"
is_his() { # it is beside the name that was taken
    expect_equal 'who has taken its name' new "$(cat "$SOURCE/his/equal")"
    expect_equal 'the directory' mine "$(cat "$SOURCE"/his/equal.*/thesis)"
    expect_equal 'the trash' '' "$(ls -A "$trash"/*/)"
}
is_his
tidy 1 --undo undo
is_his
# The name beside it that the link has for a moment.
TRASH=
make link
at renameat2 'cp -p ../outside/new new && mv new his/.#kinfs-tidy-*'
expect_match 'the name beside it' 'others change its directory; look at .#kinfs-tidy-[0-9a-f]* beside it' "$OUT"
expect_equal 'the name beside it' "$inode new" "$(stat -c %i "$SOURCE/his/equal") $(cat "$SOURCE"/his/.#kinfs-tidy-*)"
# The document is taken away amid it, and comes back by undoing, or is beside what has its name then.
make link
at unlinkat 'rm first; mv his/.#kinfs-tidy-* his/mine'
[[ $(stat -c %i "$SOURCE/his/equal") = "$inode" || $(stat -c %i "$SOURCE/his/mine") = "$inode" ]] || fail "the document is gone: $OUT"

# -- before it is looked at --
make trash
ln -s ../outside "$SOURCE/link"
mv "$SOURCE/his" "$SOURCE/saved"
ln -s ../outside "$SOURCE/his"
tidy 1 --apply plan --undo-file=undo --trash="$trash"
expect_match 'a link in the place of its directory' 'his/equal: (Too many levels|unique/ does not leave)' "$(cat said)"
nothing_outside 'a link'

# -- what is open for writing --
for act in trash link; do
    make $act
    exec 9<> "$SOURCE/his/equal"
    tidy 1 --apply plan --undo-file=undo $([[ $act = link ]] || echo --trash="$trash")
    exec 9>&-
    expect_match "$act" 'open for writing' "$(cat said)"
    is_there "$act, open for writing"
    make $act
    rm -f mapped
    # As as_user(), but without a shell between, which would end alone.
    setpriv --reuid=$HIS --regid=$HIS --clear-groups python3 -c 'import mmap, os, signal, sys
fd = os.open(sys.argv[1], os.O_RDWR)
map = mmap.mmap(fd, 100)
os.close(fd)
print("mapped", flush=True)
signal.pause()' "$SOURCE/his/equal" > mapped &
    soon 'the mapping' test -s mapped
    tidy 1 --apply plan --undo-file=undo $([[ $act = link ]] || echo --trash="$trash")
    kill $!
    await_end $!
    expect_match "$act" 'open for writing' "$(cat said)"
    is_there "$act, mapped"
done

# -- a directory that lets nobody in --
# What has been moved away does not come back into one that somebody has put in the place of its own.
rm -rf "${SOURCE:?}"/* "$trash"/* undo
chown 0 "$SOURCE"
mkdir -m 777 "$SOURCE/shared"
mkdir -m 700 "$SOURCE/shared/private"
words 1 600 | tee "$SOURCE/first" > "$SOURCE/shared/private/equal"
touch -d @1000000000 "$SOURCE/first"
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" tidy --json --do=trash "$SOURCE" > plan
tidy 0 --apply plan --undo-file=undo --trash="$trash"
as_user sh -c "cd '$SOURCE/shared' && mv private old && mkdir private"
tidy 1 --undo undo
expect_match 'a directory in its place' 'private/equal: its directory is of another owner' "$(cat said)"
expect_equal 'what is in it' '' "$(ls "$SOURCE/shared/private")"
as_user sh -c "cd '$SOURCE/shared' && rmdir private && mv old private"
chmod 711 "$SOURCE/shared/private"
tidy 1 --undo undo
chmod 700 "$SOURCE/shared/private"
tidy 0 --undo undo
cmp "$SOURCE/first" "$SOURCE/shared/private/equal"

# -- another user's --
stop
start -o stand_in=anyone
# A document that only its directory keeps others from writing gets no name in another one.
make link
mkdir -m 700 "$SOURCE/closed"
mv "$SOURCE/first" "$SOURCE/closed/first"
chmod 666 "$SOURCE/closed/first" "$SOURCE/his/equal"
chown $HIS:$HIS "$SOURCE/closed"
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" tidy --json --do=link "$SOURCE" > plan
tidy 1 --apply plan --undo-file=undo2
expect_match 'others may write it' 'others may write it, and could by a name in the other directory' "$(cat said)"
expect_equal 'others may write it' '1 1' "$(stat -c %h "$SOURCE/closed/first" "$SOURCE/his/equal" | xargs)"

rm -rf "${SOURCE:?}"/*
make link
chown 54322 "$SOURCE/his/equal"
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" tidy --do=link --json "$SOURCE" > plan
expect_match 'where all are trusted' '"why": ?"owner, group or mode is another"' "$(cat plan)"
sed -i 's/"do":"list"/"do":"link"/' plan
tidy 1 --apply plan --undo-file=undo
expect_match 'where all are trusted' 'his/equal: owner, group or mode is another' "$(cat said)"
expect_equal 'where all are trusted' "$inode 1" "$(stat -c '%i %h' "$SOURCE/his/equal")"
stop
start
expect_equal 'of another owner nothing is planned' '' "$("$KINFS" tidy --do=trash --near --json "$SOURCE")"
make link
setfacl -m u:54322:r "$SOURCE/his/equal"
chmod 644 "$SOURCE/first" # as the mask is
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" tidy --do=link --json "$SOURCE" > plan
tidy 1 --apply plan --undo-file=undo
expect_match 'an access control list' 'his/equal: extended attributes or access control lists are others' "$(cat said)"

# -- undoing a link that is another's by now --
linked() { # a document and what it is linked to are one file
    make link
    chmod 640 "$SOURCE"/{first,his/equal}
    "$KINFS" settle "$MNT" > /dev/null
    "$KINFS" tidy --do=link --json "$SOURCE" > plan
    rm -f undo
    tidy 0 --apply plan --undo-file=undo
    expect_equal 'linked' 2 "$(stat -c %h "$SOURCE/his/equal")"
}
stays() { # WHAT: it stays a link, and the copy is not made
    tidy 1 --undo undo
    expect_match "$1" 'have been changed since it was linked; stays a link' "$(cat said)"
    expect_equal "$1: is a link" "$(stat -c '%i 2' "$SOURCE/first")" "$(stat -c '%i %h' "$SOURCE/his/equal")"
    expect_equal "$1: beside it" equal "$(ls -A "$SOURCE/his")"
}
# The new owner's list would let that one read what the old owner writes to the copy.
linked
chown 54322:54322 "$SOURCE/first"
stays 'another owner'
setpriv --reuid=54322 --regid=54322 --clear-groups setfacl -m u:54322:rw "$SOURCE/first"
stays 'another owner, with a list'
chown $HIS:$HIS "$SOURCE/first"
stays 'a list'
setfacl -b "$SOURCE/first"
chmod 600 "$SOURCE/first"
stays 'another mode'
chmod 640 "$SOURCE/first"
setfattr -n user.mine -v x "$SOURCE/first"
stays 'an attribute'
setfattr -x user.mine "$SOURCE/first"
tidy 0 --undo undo
expect_equal 'all as it was' "$HIS $HIS 640 1" "$(stat -c '%u %g %a %h' "$SOURCE/his/equal")"
# A list that comes between what is looked at and the copying is not copied.
linked
code=0
OUT=$("$LIB/work/at_call.py" fchown "setfacl -m u:54322:rw '$SOURCE/first'; chmod 640 '$SOURCE/first'" "$KINFS" tidy --undo undo 2>&1) || code=$?
expect_equal 'a list amid it' 1 $code
expect_match 'a list amid it' 'have been changed since it was linked; stays a link' "$OUT"
stays 'a list amid it'

# Root's trash has what only its owner could reach, and undoing gives it back to that one.
make trash
chmod 600 "$SOURCE"/{first,his/equal}
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" tidy --do=trash --json "$SOURCE" > plan
tidy 0 --apply plan --undo-file=undo --trash="$trash"
! as_user cat "$trash/files/equal" 2> /dev/null || fail 'the trash is open'
tidy 0 --undo undo
expect_equal 'his again' "$HIS $HIS 600" "$(stat -c '%u %g %a' "$SOURCE/his/equal")"

# -- whose a plan, a list and a trash are --
make trash
for whose in plan undo; do
    [[ $whose = plan ]] || { rm -f undo; tidy 0 --apply plan --undo-file=undo --trash="$trash"; }
    chmod 666 $whose
    rm -f other
    tidy 3 $([[ $whose = plan ]] && echo "--apply plan --undo-file=other --trash=$trash" || echo '--undo undo')
    expect_match "$whose" "others can write .*$whose" "$(cat said)"
    chmod 644 $whose
    chown $HIS $whose
    tidy 3 $([[ $whose = plan ]] && echo "--apply plan --undo-file=other --trash=$trash" || echo '--undo undo')
    expect_match "$whose" "belongs to user $HIS" "$(cat said)"
    chown 0 $whose
done
tidy 0 --undo undo
rm undo
ln -s "$SCRATCH/outside/made" undo
tidy 3 --apply plan --undo-file=undo --trash="$trash"
[[ ! -e outside/made ]] || fail 'a list is made by a link'
rm undo
refuses() { # REGEX DIRECTORY
    rm -f undo
    tidy 3 --apply plan --undo-file=undo --trash="$2"
    expect_match "--trash=$2" "$1" "$(cat said)"
    expect_equal "--trash=$2" "$inode" "$(stat -c %i "$SOURCE/his/equal")"
}
mkdir -m 755 open
mkdir -m 700 his
chown $HIS his
refuses 'others can look into .*open; chmod 700 it' open
refuses "belongs to user $HIS" his
refuses 'No such file' none
mkdir -m 700 "$SOURCE/trash"
refuses 'is in what is tidied' "$SOURCE/trash"
rmdir "$SOURCE/trash"
mkdir mounted
mount -t tmpfs -o mode=700 none mounted
refuses 'in another mount' mounted
umount mounted

stop
# That of the uppermost directory of a mount: of all users, where that is sticky; else one's own, which nobody else has put there.
mkdir top
mount -t tmpfs none top
chmod 1777 top
mkdir top/tree
SOURCE=$SCRATCH/top/tree
export HOME=$SCRATCH XDG_DATA_HOME=
make_top() {
    rm -rf top/.Trash* undo "${SOURCE:?}"/*
    words 1 600 | tee "$SOURCE/kept" > "$SOURCE/equal"
    touch -d @1000000000 "$SOURCE/equal"
    touch -d @900000000 "$SOURCE/kept"
    "$KINFS" scan "$SOURCE" > /dev/null
    "$KINFS" tidy --json --do=trash "$SOURCE" > plan
}
make_top
tidy 0 --apply plan --undo-file=undo
expect_equal 'one of its own' '700 tree/equal' "$(stat -c %a top/.Trash-0) $(sed -n s/^Path=//p top/.Trash-0/info/equal.trashinfo)"
make_top
mkdir -m 1777 top/.Trash
tidy 0 --apply plan --undo-file=undo
[[ -e top/.Trash/0/files/equal ]] || fail 'that of all users'
tidy 0 --undo undo
[[ -e $SOURCE/equal ]] || fail 'it is not back'
make_top
mkdir -m 777 top/.Trash # not sticky
tidy 0 --apply plan --undo-file=undo
[[ -e top/.Trash-0/files/equal ]] || fail 'not sticky'
for planted in 'ln -s ../outside top/.Trash-0' 'mkdir top/.Trash-0 && chown 54321 top/.Trash-0' 'mkdir -m 777 top/.Trash-0' 'echo > top/.Trash-0' \
    'mkdir -m 700 top/.Trash-0 && ln -s ../../outside top/.Trash-0/files'; do
    make_top
    eval "$planted"
    tidy 3 --apply plan --undo-file=undo
    expect_match "$planted" 'no trash in the mount of the tree: .*--trash=DIRECTORY' "$(cat said)"
    [[ -e $SOURCE/equal && ! -e undo ]] || fail "$planted: something is done"
    nothing_outside "$planted"
done
umount top
