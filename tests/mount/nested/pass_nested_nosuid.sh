#!/usr/bin/env bash
# What a mount keeps its files from, as a user's own mount inside the tree has to, holds through kinfs, whose mount lets programs have
# others' rights: set-user-ID, capabilities, devices. The tree's own mount, too, says what this one may let its files do.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can let programs have its rights'
needs_fuse
needs python3 setpriv id
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/user" "$SOURCE/strict" "$SOURCE/lax"
id=$(readlink -f "$(command -v id)")
trap 'umount -l "$SOURCE/user" 2> /dev/null || true' EXIT
"$LIB/file_systems/setuid_fs.py" "$SOURCE/user" 0 "$id" > said &
soon "a user's file system" grep -q ready said

fill() { # DIRECTORY
    cp "$id" "$1/f"
    mknod "$1/zero" c 1 5
    chmod 666 "$1/zero"
    python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 7, 0, 0, 0))' "$1/f" ||
        skip 'no capabilities of files here'
    chmod 6755 "$1/f"
}
mount -t tmpfs -o nosuid,nodev,mode=755 none "$SOURCE/strict" 2> /dev/null || skip 'no tmpfs can be mounted here'
mount -t tmpfs -o mode=755 none "$SOURCE/lax"
for directory in "$SOURCE/strict" "$SOURCE/lax" "$SOURCE"; do fill "$directory"; done

as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
has_capability() { # FILE: as it is told, and listed
    python3 -c 'import errno, os, sys
listed = "security.capability" in os.listxattr(sys.argv[1])
try:
    value = os.getxattr(sys.argv[1], "security.capability")
except OSError as error:
    value = error.errno != errno.ENODATA
assert listed == bool(value), (listed, value)
print("yes" if listed else "no")' "$1"
}
can_open() { # DEVICE
    if as_user head -c 1 "$1" > /dev/null 2>&1; then echo yes; else echo no; fi
}
expect_rights() { # NAME ID MODE DEVICE YES_OR_NO: who a program runs as, and what is told of it and of a device
    local f=$MNT/$1/f zero=$MNT/$1/zero
    expect_equal "$1: set-user-ID" "$2 $2" "$(as_user "$f" -u) $(as_user "$f" -g)"
    expect_equal "$1: mode" "$3" "$(stat -c %a "$f")"
    expect_equal "$1: mode by a name that is listed" "$3" "$(find "$MNT/$1" -maxdepth 1 -name f -printf %m)"
    expect_equal "$1: capability" "$5" "$(has_capability "$f")"
    expect_equal "$1: device" "$4" "$(stat -c %t:%T "$zero")"
    expect_equal "$1: opened" "$5" "$(can_open "$zero")"
}

start -o suid,dev,nosketch,allow_other
expect_rights . 0 6755 1:5 yes
expect_rights lax 0 6755 1:5 yes
expect_rights strict 54321 755 0:0 no
# Of a user's file system nothing is listed but by name.
expect_equal 'a set-user-ID program of a user' '54321 54321' "$(as_user "$MNT/user/f" -u) $(as_user "$MNT/user/f" -g)"
expect_equal 'its mode' 755 "$(stat -c %a "$MNT/user/f")"
expect_equal 'its capability' no "$(has_capability "$MNT/user/f")"
expect_equal 'a device of a user' 'no 0:0' "$(can_open "$MNT/user/zero") $(stat -c %t:%T "$MNT/user/zero")"
# What is made or changed there is told so as well.
mkdir "$SOURCE/strict/open"
chmod 777 "$SOURCE/strict/open"
cp "$id" "$MNT/strict/open/new"
chmod 6755 "$MNT/strict/open/new"
expect_equal 'changed' '54321 755' "$(as_user "$MNT/strict/open/new" -u) $(stat -c %a "$MNT/strict/open/new")"
mknod -m 666 "$MNT/strict/open/zero" c 1 5
expect_equal 'made' 'no 0:0' "$(can_open "$MNT/strict/open/zero") $(stat -c %t:%T "$MNT/strict/open/zero")"
expect_equal 'as it was set' '6755 1:5' "$(stat -c %a "$SOURCE/strict/open/new") $(stat -c %t:%T "$SOURCE/strict/open/zero")"
# One that is kept from it later.
is_kept() { [[ $(stat -c %a "$MNT/lax/f") = 755 && $(as_user "$MNT/lax/f" -u) = 54321 ]]; }
mount -o remount,bind,nosuid "$SOURCE/lax"
soon 'nosuid later' is_kept
stop
umount "$SOURCE/user" "$SOURCE/strict" "$SOURCE/lax"

flags_of() { awk -v point="$MNT" '$5 == point { print $6 }' /proc/self/mountinfo | tr , '\n' | grep -xE 'nosuid|nodev|noexec|nosymfollow' | paste -sd,; }
mount --bind "$SOURCE" "$SOURCE"
for flags in nosuid nodev noexec nosuid,nodev,noexec nosymfollow; do
    mount -o "remount,bind,suid,dev,exec,symfollow,$flags" "$SOURCE"
    start -o suid,dev,exec,symfollow,nosketch
    expect_equal "the tree is mounted $flags" "$flags" "$(flags_of)"
    stop
done
umount "$SOURCE"
