#!/usr/bin/env bash
# A tree in a directory of another user, who puts another in its place amid a mount of root's: what is served is the tree whose mount was
# asked what it keeps its files from. With nosuid passed over, a set-user-ID program of a user's own medium would be root's.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root watches what others open'
needs_fuse
needs python3 findmnt
trap 'kill "${watcher-}" 2> /dev/null || true' EXIT
mkdir -p his/tree medium/tree "$MNT"
mount --bind his/tree his/tree
mount -t tmpfs -o nosuid,nodev,noexec,mode=755 none medium/tree 2> /dev/null || skip 'no tmpfs can be mounted here'
echo lax > his/tree/which
echo strict > medium/tree/which

flags_of() { awk -v point="$1" '$5 == point { print $6 }' /proc/self/mountinfo | tr , '\n' | grep -xE 'nosuid|nodev|noexec' | paste -sd,; }

# exchanged FIRST SECOND POINT: mounts FIRST/tree with all rights; before the log is opened, FIRST is a link to SECOND.
exchanged() {
    local said
    rm -f armed log
    mkfifo armed
    : > log
    python3 "$LIB/callers/at_open.py" log sh -c "mv $1 $1.real && ln -s $2 $1" > armed &
    watcher=$!
    read -r said < armed
    [[ $said = armed ]] || skip "$said"
    "$KINFS" mount -o suid,dev,exec,nosketch,log=log "$1/tree" ${3+"$3"}
    wait "$watcher"
    rm "$1"
}

for first in his medium; do
    [[ $first = his ]] && second=medium expected='lax ' || second=his expected='strict nosuid,nodev,noexec'
    exchanged "$first" "$second" "$MNT"
    expect_equal "what is served of $first" "$expected" "$(< "$MNT/which") $(flags_of "$MNT")"
    stop
    mv "$first.real" "$first"
    # Over itself.
    exchanged "$first" "$second"
    point=$SCRATCH/$first.real/tree
    expect_equal "what is served of $first, over itself" "$(cut -d' ' -f1 <<< "$expected")" "$(< "$point/which")"
    expect_match "where it is" 'fuse.kinfs' "$(findmnt -rn -o FSTYPE --mountpoint "$point")"
    "$KINFS" umount "$point"
    mv "$first.real" "$first"
done
# The kernel lets go of a daemon's files a moment after its end.
soon 'the trees are let go of' umount his/tree
soon 'the medium is let go of' umount medium/tree
