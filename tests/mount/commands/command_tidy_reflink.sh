#!/usr/bin/env bash
# kinfs tidy --do=reflink has two files share what is the same, where the file system can, and changes nothing that can be seen; a disk that is full
# is said, and nothing is lost by it.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root mounts file systems'
needs mkfs.xfs python3 filefrag
export HOME=$SCRATCH XDG_DATA_HOME=
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
all() { (cd "$1" && find . -type f -printf '%p %i %m %U %T@ %C@\n' -exec sha256sum {} + | LC_ALL=C sort); }
blocks() { filefrag -v "$1" | sed -nE 's/^ +[0-9]+: +([0-9]+)\.\. +[0-9]+: +([0-9]+)\.\..*/\1 \2/p'; }
make() { # DIRECTORY
    mkdir -p "$1"
    words 1 60000 > "$1/a"
    cp --reflink=never "$1/a" "$1/copy"
    cp --reflink=never "$1/a" "$1/changed"
    chmod 600 "$1/copy"
    touch -d @1000000000 "$1/a"
    sync -f "$1"
    if mountpoint -q "$MNT" 2> /dev/null; then "$KINFS" settle "$MNT" > /dev/null; else "$KINFS" scan "$1" > /dev/null; fi
    rm -f plan plan.undo
    "$KINFS" tidy --json --do=reflink "$1" > plan
    expect_equal 'what is planned' 2 "$(grep -c '"do":"reflink"' plan)"
}

# -- where it cannot --
mkdir plain
mount -t tmpfs none plain
make plain/tree
before=$(all plain/tree)
tidy 1 --apply plan
expect_match 'tmpfs' 'copy: the file system cannot have two files share' "$(cat said)"
expect_equal 'tmpfs' "$before" "$(all plain/tree)"
umount plain

# -- where it can --
truncate -s 400M disk
mkfs.xfs -q -m reflink=1 disk
mkdir mounted
mount -o loop disk mounted || skip 'no loop device here'
make mounted/tree
before=$(all mounted/tree)
[[ $(blocks mounted/tree/a) != "$(blocks mounted/tree/copy)" ]] || fail 'they share it before'
printf W | dd of=mounted/tree/changed conv=notrunc status=none
touch -d "@$(stat -c %Y plan)" mounted/tree/changed
changed=$(all mounted/tree)
tidy 1 --apply plan
expect_equal 'what is done' $'left\tchanged\nreflinked\tcopy' "$OUT"
sync -f mounted
[[ $(blocks mounted/tree/a) ]] || fail 'nothing is known of blocks'
expect_equal 'they share it' "$(blocks mounted/tree/a)" "$(blocks mounted/tree/copy)"
expect_equal 'nothing that can be seen has changed' "$changed" "$(all mounted/tree)"
tidy 0 --undo plan.undo
expect_equal 'nothing to undo' $'unchanged\tcopy' "$OUT"
expect_equal 'undone' "$changed" "$(all mounted/tree)"
# The kernel tells what differs, where leases do not tell who writes it.
rm -r plan.undo mounted/tree
needs_fuse
mkdir -p over mounted/{low,up,work}
if mount -t overlay -o lowerdir=mounted/low,upperdir=mounted/up,workdir=mounted/work none over 2> /dev/null; then
    SOURCE=$SCRATCH/over/tree
    mkdir "$SOURCE"
    start
    make "$SOURCE"
    rm "$SOURCE/changed"
    "$KINFS" settle "$MNT" > /dev/null
    code=0
    "$LIB/work/at_call.py" fsync:3 "printf W | dd of='$SOURCE/copy' seek=70000 bs=1 conv=notrunc status=none" "$KINFS" tidy --apply plan > out 2>&1 || code=$?
    if ((code != 77)); then
        expect_equal 'what has just been changed' 1 "$code"
        expect_match 'what has just been changed' 'copy: it has other bytes' "$(cat out)"
        expect_equal 'what has just been changed' W "$(dd if="$SOURCE/copy" skip=70000 bs=1 count=1 status=none)"
    fi
    stop
    umount over
    rm -f plan.undo
fi
SOURCE=$SCRATCH/mounted/tree
mkdir "$SOURCE"
start
make "$SOURCE"
rm "$SOURCE/changed"
"$KINFS" settle "$MNT" > /dev/null
# What is open for writing is left alone, also if it is what is kept.
before=$(all "$SOURCE")
for name in copy a; do
    exec 9<> "$SOURCE/$name"
    tidy 1 --apply plan
    exec 9>&-
    expect_match "$name is open" 'copy: it or what is kept is open for writing' "$(cat said)"
    expect_equal "$name is open" "$before" "$(all "$SOURCE")"
    rm plan.undo
done
# Who opens it later waits, and writes to a file that nobody else's is changed by.
code=0
"$LIB/work/at_call.py" fsync:3 "python3 -c 'import os
try: os.open(\"$SOURCE/copy\", os.O_WRONLY | os.O_NONBLOCK)
except BlockingIOError: print(\"waits\")'" "$KINFS" tidy --apply plan > out 2>&1 || code=$? # the plan has "changed", too
if ((code != 77)); then
    expect_equal 'what is opened later' $'reflinked\tcopy\nwaits' "$(grep -E 'copy|waits' out | LC_ALL=C sort)"
    expect_equal 'what is opened later, changes nothing' "$before" "$(all "$SOURCE")"
    sync -f mounted
    expect_equal 'they share it' "$(blocks "$SOURCE/a")" "$(blocks "$SOURCE/copy")"
fi
stop
umount mounted

# -- a full disk: that of the list, that of the trash, that of a copy --
fill() { dd if=/dev/zero of="$1/filler" bs=4k status=none 2> /dev/null || true; }
mkdir small tree
mount -t tmpfs -o size=1M none small
words 1 6000 | tee tree/a > tree/copy
touch -d @1000000000 tree/{a,copy}
"$KINFS" scan tree > /dev/null
"$KINFS" tidy --json --do=trash tree > plan
before=$(all tree)
fill small
tidy 3 --apply plan --undo-file=small/undo
expect_match 'no room for the list' 'the list to undo it by: No space left on device' "$(cat said)"
expect_equal 'no room for the list' "$before" "$(all tree)"
umount small

mount -t tmpfs -o size=1M none small
mkdir small/tree
words 1 6000 | tee small/tree/a > small/tree/copy
touch -d @1000000000 small/tree/{a,copy}
"$KINFS" scan small/tree > /dev/null
"$KINFS" tidy --json --do=trash small/tree > plan
before=$(all small/tree)
mkdir -m 700 small/trash small/trash/{files,info}
fill small
tidy 3 --apply plan --undo-file=undo --trash=small/trash
expect_match 'no room for the trash' 'copy: the trash: No space left on device' "$(cat said)"
expect_equal 'no room for the trash' "$before" "$(all small/tree)"
expect_equal 'no room for the trash' '' "$(find small/trash -type f)"
tidy 0 --undo undo
rm -f small/filler undo plan.undo

"$KINFS" tidy --json --do=link small/tree > plan
tidy 0 --apply plan
fill small
tidy 1 --undo plan.undo
expect_match 'no room for a copy' 'copy: No space left on device' "$(cat said)"
expect_equal 'stays a link' "$(stat -c %i small/tree/a)" "$(stat -c %i small/tree/copy)"
expect_equal 'nothing beside it' 'a copy' "$(ls -A small/tree | xargs)"
rm small/filler
tidy 0 --undo plan.undo
cmp small/tree/{a,copy}
expect_equal 'two files' '1 1' "$(stat -c %h small/tree/{a,copy} | xargs)"
umount small
