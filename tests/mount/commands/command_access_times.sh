#!/usr/bin/env bash
# Access times are kept as by the mount that the tree is on; what is asked for and not so there is refused with a line that says
# why, and what is accepted is so.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount a file system for the tree'
needs_fuse
needs mkfs.ext4
truncate -s 32M disk.img
mkfs.ext4 -q -F disk.img
mkdir disk
mount -o loop disk.img disk 2> /dev/null || skip 'cannot mount a loop device here'
SOURCE=$SCRATCH/disk/source
mkdir -p "$SOURCE" "$MNT"

# access_times BEFORE OPTIONS WAY: which of a file and a directory have another access time after they were read.
access_times() {
    rm -rf "$SOURCE/f" "$SOURCE/d"
    mkdir "$SOURCE/d"
    echo text > "$SOURCE/f"
    touch "$SOURCE/d/name"
    touch -m -d @1000000000 "$SOURCE/f" "$SOURCE/d"
    touch -a -d "@$1" "$SOURCE/f" "$SOURCE/d"
    start -o "nosketch,$3,$2"
    cat "$MNT/f" > read
    ls "$MNT/d" > listed
    stop
    local file said=
    for file in f d; do
        [[ $(stat -c %X "$SOURCE/$file") = "$1" ]] || said+="$file "
    done
    echo "$said"
}
refused() { # OPTION
    expect_code 3 "$KINFS" mount -o "nosketch,$1" "$SOURCE" "$MNT"
    expect_match "$1" "^kinfs: -o $1: .* $SOURCE is on, which has [a-z]+; leave the option out" "$OUT"
}

lately=$(($(date +%s) - 10))
for way in passthrough nopassthrough; do
    mount -o remount,relatime,diratime disk
    expect_equal "$way: relatime, unread for long" 'f d ' "$(access_times 999999999 relatime $way)"
    for option in noatime strictatime nodiratime norelatime; do refused "$option"; done
    # The last of those that exclude each other holds.
    expect_equal "$way: nothing asked for" 'f d ' "$(access_times 999999999 noatime,atime,nodiratime,diratime,lazytime,nolazytime $way)"

    mount -o remount,noatime disk
    expect_equal "$way: noatime" '' "$(access_times 999999999 noatime $way)"
    expect_equal "$way: noatime is nodiratime" '' "$(access_times 999999999 nodiratime $way)"
    for option in relatime strictatime; do refused "$option"; done
    expect_equal "$way: norelatime" '' "$(access_times 999999999 norelatime,nostrictatime $way)"

    mount -o remount,strictatime disk
    expect_equal "$way: strictatime" 'f d ' "$(access_times "$lately" strictatime $way)"
    for option in relatime noatime nostrictatime; do refused "$option"; done

    mount -o remount,strictatime,nodiratime disk
    expect_equal "$way: nodiratime" 'f ' "$(access_times "$lately" nodiratime $way)"
done
refused lazytime
mount -o remount,lazytime disk
if grep -q " $SCRATCH/disk .*lazytime" /proc/self/mountinfo; then
    start -o nosketch,lazytime
    stop
fi
umount disk
