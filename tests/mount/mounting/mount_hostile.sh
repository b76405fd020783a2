#!/usr/bin/env bash
# Mount points, logs and stores in directories of another user, who changes what their names lead to while root mounts and unmounts:
# nothing is mounted, unmounted, written or made where that user says.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip "only root can mount over what is another user's"
needs_fuse
needs python3 setpriv findmnt
ORDINARY=54321
HIS=$SCRATCH/his
SYSTEM=$SCRATCH/system

as_him() {
    setpriv --reuid=$ORDINARY --regid=$ORDINARY --clear-groups "$@"
}

is_mounted() { # TYPE POINT
    [[ $(findmnt -rn -t "$1" -o TARGET) == *"$2"* ]]
}

fresh() { # anew: what is his, and what is the system's
    rm -rf "$HIS" "$SYSTEM"
    mkdir -p "$HIS/docs" "$SYSTEM/data"
    words 1000 200 > "$HIS/docs/1.txt"
    chown -R $ORDINARY "$HIS"
}
chmod 0755 "$SCRATCH"

# -- a directory that becomes a link while it is mounted over --

for count in 1 2 3 4; do
    fresh
    rm -f "$SCRATCH/armed"
    mkfifo "$SCRATCH/armed"
    python3 "$LIB/callers/swap_directory.py" "$HIS" docs "$SYSTEM" $ORDINARY $count > "$SCRATCH/armed" &
    SWAPS=$!
    read -r said < "$SCRATCH/armed" && [[ $said = armed ]] || fail "not armed"
    said=$(timeout 60 "$KINFS" mount -o store="$SCRATCH/store.$count" "$HIS/docs" 2>&1) || expect_match "open $count" \
        'another directory|no such|not a directory' "$said"
    ! is_mounted fuse.kinfs "$SYSTEM" || fail "mounted where another user said, after open $count"
    point=$(findmnt -rn -t fuse.kinfs -o TARGET | grep "^$HIS/" || true)
    [[ ! $point ]] || expect_match "where it is mounted" "^$HIS/docs(\.real)?\$" "$point"
    [[ ! $point ]] || "$KINFS" umount "$point"
    kill $SWAPS 2> /dev/null || true
    wait $SWAPS || true
done

# -- a mount that is moved away, and another in its place --

fresh
as_him mkdir "$HIS/a" "$HIS/a/data"
mount -t tmpfs kinfs-test "$SYSTEM/data"
for how in end lazy; do
    "$KINFS" mount -o store="$SCRATCH/store.moved" "$HIS/a/data"
    [[ $(findmnt -rn -o SOURCE --mountpoint "$HIS/a/data") = "$HIS/a/data" ]] || fail "what the mount is called"
    "$KINFS" status "$HIS/a/data" > /dev/null
    daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$SCRATCH/store.moved/holder" | head -n 1)
    as_him mv "$HIS/a" "$HIS/b"
    as_him ln -s "$SYSTEM" "$HIS/a"
    if [[ $how = end ]]; then
        kill "$daemon"
        await_end "$daemon"
    else
        "$KINFS" umount --lazy "$HIS/b/data"
        await_end "$daemon"
    fi
    is_mounted tmpfs "$SYSTEM/data" || fail "$how: another mount was unmounted"
    ! is_mounted fuse.kinfs "$HIS/b/data" || fail "$how: the mount was left"
    as_him rm "$HIS/a"
    as_him mv "$HIS/b" "$HIS/a"
done
umount "$SYSTEM/data"

# -- another user's mount over one of root's --

fresh
mkdir -p "$SOURCE" "$SCRATCH/said"
words 2000 200 > "$SOURCE/2.txt"
"$KINFS" mount -o store="$SCRATCH/store.covered" "$SOURCE" "$HIS/docs"
expect_code 0 "$KINFS" status "$SOURCE/2.txt"
mkfifo "$SCRATCH/ready"
python3 "$LIB/file_systems/hostile_mount.py" "$HIS/docs" /elsewhere "$SCRATCH/said" $ORDINARY "$SCRATCH/log" > "$SCRATCH/ready" &
read -r said < "$SCRATCH/ready" && [[ $said = ready ]] || fail "no mount"
: > "$SCRATCH/log"
expect_code 3 "$KINFS" status "$SOURCE/2.txt"
expect_match "what is over a mount" "^kinfs: $HIS/docs: something else is mounted over this mount" "$OUT"
! grep getxattr "$SCRATCH/log" || fail "another user's mount was asked"
"$KINFS" umount "$HIS/docs"
expect_code 0 "$KINFS" status "$SOURCE/2.txt"
"$KINFS" umount "$HIS/docs"
wait

# -- a link of another user's on the way to SOURCE or the mount point --

fresh
mkdir -p "$MNT" "$SCRATCH/own"
as_him ln -s "$SYSTEM" "$HIS/link"
as_him ln -s "$HIS/docs" "$HIS/in"
ln -s "$SOURCE" "$SCRATCH/own/link"
refuse_link() { # LINK SOURCE MOUNTPOINT
    expect_code 3 timeout 60 "$KINFS" mount -o nosketch "$2" "$3"
    expect_match "$2 on $3" "^kinfs: (source|mount point) [^ ]* is not opened: the symbolic link $1 belongs to user $ORDINARY" "$OUT"
    [[ $OUT != *$'\n'* ]] || fail "more than a line: $OUT"
    ! findmnt -rn -t fuse.kinfs -o TARGET | grep "^$SCRATCH" || fail "mounted"
}
refuse_link "$HIS/link" "$HIS/link/data" "$MNT"
refuse_link "$HIS/link" "$HIS/docs/../link" "$MNT"
refuse_link "$HIS/link" "$SOURCE" "$HIS/link/data"
refuse_link "$HIS/in" "$HIS/in" "$MNT"
(cd "$HIS" && refuse_link "$HIS/in" in "$MNT")
refuse_link "$HIS/in" "$SCRATCH/own/link" "$HIS/in"
"$KINFS" mount -o nosketch "$SCRATCH/own/link" "$HIS/docs"
"$KINFS" umount "$HIS/docs"
(cd "$HIS/docs" && "$KINFS" mount -o nosketch . "$MNT")
"$KINFS" umount "$MNT"
# The links of an ordinary user lead that one, and nobody else.
mkdir "$SCRATCH/another"
chown 54322:54322 "$SCRATCH/another"
chmod 0755 "$HIS"
chown -h 54322:54322 "$HIS/in"
expect_code 3 as_him timeout 60 "$KINFS" mount -o nosketch "$HIS/in" "$HIS/docs"
expect_match "an ordinary user" "the symbolic link $HIS/in belongs to user 54322" "$OUT"

# -- a log in another user's hands --

fresh
printf precious > "$SYSTEM/file"
mkdir "$SCRATCH/sticky" "$SCRATCH/logs"
chmod 1777 "$SCRATCH/sticky"
as_him ln -s "$SYSTEM/file" "$SCRATCH/sticky/link"
as_him ln -s "$SYSTEM/made" "$SCRATCH/sticky/dangling"
as_him ln -s "$SYSTEM" "$SCRATCH/sticky/directory"
as_him mkfifo "$SCRATCH/sticky/fifo"
as_him touch "$SCRATCH/sticky/his"
refuse_log() { # LOG REGEX
    expect_code 3 timeout 60 "$KINFS" mount -o nosketch,log="$1" "$SOURCE" "$MNT"
    expect_match "log $1" "^kinfs: log $1 is not opened: $2" "$OUT"
    [[ $OUT != *$'\n'* ]] || fail "more than a line: $OUT"
    expect_equal "what is the system's" "precious file" "$(cat "$SYSTEM/file") $(find "$SYSTEM" -type f -printf %P)"
}
mkdir -p "$MNT"
refuse_log "$SCRATCH/sticky/link" "$SCRATCH/sticky/link is a symbolic link"
refuse_log "$SCRATCH/sticky/dangling" "$SCRATCH/sticky/dangling is a symbolic link"
refuse_log "$SCRATCH/sticky/directory/made" "the symbolic link $SCRATCH/sticky/directory belongs to user $ORDINARY"
refuse_log "$SCRATCH/sticky/fifo" "$SCRATCH/sticky/fifo is a FIFO"
refuse_log "$SCRATCH/sticky/his" "$SCRATCH/sticky/his belongs to user $ORDINARY"
refuse_log "$HIS/log" "$HIS belongs to user $ORDINARY"
for log in "$SCRATCH/sticky/own" "$SCRATCH/logs/own" ./logs/relative /dev/stderr /dev/null; do
    start -o nosketch,log="$log" 2> "$SCRATCH/stderr"
    stop
done
[[ -f $SCRATCH/logs/relative && -f $SCRATCH/sticky/own ]] || fail "no log"

# -- what a name and an extractor say in the system's log --

fresh
named=$HIS/$'a\e[2J\x9b1m'
as_him mkdir -p "$named"
printf 'GIF89a\1\0\1\0\0\0\0' > "$named/1.gif"
mkdir "$SCRATCH/dev"
printf '#!/bin/sh\nprintf "no\\033[2J\\233gif" >&2\nexit 7\n' > "$SCRATCH/dev.fail"
chmod +x "$SCRATCH/dev.fail"
printf '[extractor "image/gif"]\ncommand = %s\n' "$SCRATCH/dev.fail" > "$SCRATCH/dev.conf"
# shellcheck disable=SC2016
unshare -m --propagation slave bash -euc '
    cd "$1"
    mount --bind /dev dev
    mount -t tmpfs kinfs-test /dev
    for device in fuse null zero urandom random; do
        : > /dev/$device
        mount --bind "dev/$device" /dev/$device
    done
    python3 -c "
import os, socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(\"/dev/log\")
log.settimeout(60)
line = b\"\"
while b\"SIGSEGV\" not in line:
    line = log.recv(65536)
    os.write(1, line + b\"\\n\")" > logged &
    while [[ ! -S /dev/log ]]; do :; done
    "$2" mount -o store="$1/store.log",config="$1/dev.conf" "$3" "$4"
    "$2" settle "$4"
    kill -SEGV "$(sed -n "s/.*\"pid\": *\([0-9]*\).*/\1/p" store.log/holder | head -n 1)"
    wait
    umount "$4"' bash "$SCRATCH" "$KINFS" "$named" "$MNT"
expect_match "an extractor's words" 'kinfs\[[0-9]+\]: .*no\?\[2J\?gif' "$(cat "$SCRATCH/logged")"
expect_match "a name" 'ended by SIGSEGV; .*/a\?\[2J\?1m ' "$(cat "$SCRATCH/logged")"

# -- a mount point whose name is a command, where a shell completes names --

fresh
named="$HIS/a \$(id>ran)\`id>ran\`"
as_him mkdir -p "$named"
python3 "$LIB/file_systems/hostile_mount.py" "$named" /elsewhere "$SCRATCH/said" $ORDINARY "$SCRATCH/log" > "$SCRATCH/ready" &
read -r said < "$SCRATCH/ready" && [[ $said = ready ]] || fail "no mount"
complete_umount() { # WORD: what there is for it, as in an empty directory
    (
        mkdir -p "$SCRATCH/here"
        cd "$SCRATCH/here"
        # shellcheck disable=SC1090
        . "$completion"
        COMP_WORDS=(kinfs umount "$1") COMP_CWORD=2 COMP_LINE="kinfs umount $1"
        COMP_POINT=${#COMP_LINE}
        _kinfs 2> /dev/null
        printf '%s\n' "${COMPREPLY[@]}"
    )
}
completion=$(realpath "$LIB/../../tools/completion/kinfs.bash")
expect_equal "what is completed" "$named" "$(complete_umount "$HIS/")"
expect_equal "of another beginning" "" "$(complete_umount "$HIS/b")"
expect_equal "what a name ran" "" "$(ls "$SCRATCH/here")"
umount "$named"
wait
