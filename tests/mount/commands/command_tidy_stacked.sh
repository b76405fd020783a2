#!/usr/bin/env bash
# kinfs tidy makes no link where a lease does not tell of those who have the file open below: in a tree that is reached through kinfs' own mount, and on
# overlayfs. To the trash documents go there, too.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root mounts file systems'
needs_fuse
needs python3
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
make() { # DIRECTORY
    mkdir -p "$1"
    words 1 600 | tee "$1/a" > "$1/copy"
    touch -d @1000000000 "$1"/{a,copy}
}
# It is open for writing below, as BELOW has it.
refuses() { # DIRECTORY BELOW
    local inode
    inode=$(stat -c %i "$2/copy")
    rm -f plan plan.undo
    "$KINFS" tidy --json --do=link "$1" > plan
    expect_equal "$1: what is planned" 1 "$(grep -c '"do":"link"' plan)"
    exec 9<> "$2/copy"
    tidy 1 --apply plan
    expect_match "$1" 'copy: whether others write it cannot be told on this file system; .*unmount' "$(cat said)"
    expect_equal "$1: it is a file of its own" "$inode 1" "$(stat -c '%i %h' "$2/copy")"
    expect_equal "$1: nothing is beside it" 'a copy' "$(ls "$1" | xargs)"
}

# -- a tree that is mounted over itself --
make "$SOURCE"
exec 8< "$SOURCE"
MNT=$SOURCE
start
"$KINFS" settle "$MNT" > /dev/null
refuses "$SOURCE" /proc/self/fd/8
tidy 0 --undo plan.undo
exec 9>&-
stop
rm -f plan.undo
tidy 0 --apply plan
exec 8<&-
expect_equal 'without the mount it is linked' 2 "$(stat -c %h "$SOURCE/copy")"

# -- overlayfs --
mkdir stacked merged
mount -t tmpfs none stacked
mkdir stacked/{lower,upper,work}
mount -t overlay -o "lowerdir=$PWD/stacked/lower,upperdir=$PWD/stacked/upper,workdir=$PWD/stacked/work" none merged 2> said || skip "no overlayfs here: $(cat said)"

make merged/tree
"$KINFS" scan "$PWD/merged/tree" > /dev/null
refuses "$PWD/merged/tree" stacked/upper/tree
mkdir -m 700 merged/trash
"$KINFS" tidy --json --do=trash merged/tree > plan
rm -f plan.undo
tidy 0 --apply plan --trash=merged/trash
expect_equal 'to the trash' "trashed copy" "$(tr '\t' ' ' <<< "$OUT")"
echo more >&9
exec 9>&-
tidy 1 --undo plan.undo
expect_match 'what was written to it meanwhile is not lost' 'copy in the trash is another file, or has been changed' "$(cat said)"
tail -n 1 merged/trash/files/copy | grep -q . || fail 'the document is not in the trash'
umount merged stacked
