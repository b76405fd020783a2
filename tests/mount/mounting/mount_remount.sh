#!/usr/bin/env bash
# A tree on a mount with nosuid and nodev, whose mount of kinfs is remounted, as `mount -o remount,ro DIR` does with a line of fstab that
# names neither: no program of it gets its owner's rights and no device opens, even where root takes the flags away by hand, or who may
# rename a directory above the tree puts something else in its place.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can let programs have its rights'
needs_fuse
needs setpriv id mount python3
chmod 755 "$SCRATCH"
SOURCE=$SCRATCH/his/tree
server=
trap '[[ ! $server ]] || kill "$server" 2> /dev/null || true; umount -l "$SOURCE" 2> /dev/null || true' EXIT
mkdir -p "$SOURCE" "$MNT"
mount -t tmpfs -o nosuid,nodev,noexec,mode=755 none "$SOURCE" 2> /dev/null || skip 'no tmpfs can be mounted here'
cp "$(readlink -f "$(command -v id)")" "$SOURCE/id"
chmod 4755 "$SOURCE/id"
mknod -m 666 "$SOURCE/zero" c 1 5

flags() { awk -v point="$1" '$5 == point { print $6 }' /proc/self/mountinfo | tr , '\n' | grep -xE 'ro|nosuid|nodev|noexec|nosymfollow' | paste -sd,; }
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
can_open() { if as_user head -c 1 "$1" > /dev/null 2>&1; then echo yes; else echo no; fi; }
# What mount(8) runs for `mount -o remount,...`.
remount() { "$KINFS" "$SOURCE" "$MNT" -o "nosketch,remount,$1"; }

start -o suid,dev,exec,nosketch,allow_other
expect_equal 'mounted' nosuid,nodev,noexec "$(flags "$MNT")"
remount ro
expect_equal 'remounted ro' ro,nosuid,nodev,noexec "$(flags "$MNT")"
remount rw,suid,dev,exec
expect_equal 'remounted suid,dev,exec' nosuid,nodev,noexec "$(flags "$MNT")"
mount -i -o remount,bind,suid,dev,exec "$MNT"
expect_equal 'taken away by hand' '' "$(flags "$MNT")"
expect_equal 'whose rights a program has' 54321 "$(as_user "$MNT/id" -u)"
expect_equal 'what is told of a device' 'no 0:0' "$(can_open "$MNT/zero") $(stat -c %t:%T "$MNT/zero")"
expect_equal 'what is told of a program' 755 "$(stat -c %a "$MNT/id")"
stop

# Nothing is asked, and no link followed, where the tree's name leads now.
start -o suid,dev,nosketch,allow_other
mv his away
mkdir -p lax/tree
ln -s lax his
remount ro,suid,dev,exec
expect_equal 'with a link in the place of SOURCE' ro,nosuid,nodev,noexec "$(flags "$MNT")"
rm his
remount rw,suid,dev,exec
expect_equal 'without SOURCE' nosuid,nodev,noexec "$(flags "$MNT")"
mv away his
"$LIB/file_systems/hanging_fs.py" "$SOURCE" 54321 allow_other > said &
server=$!
soon 'a mount over SOURCE' grep -q ready said
kill -USR1 "$server" # from now on it answers nothing
remount ro,suid,dev,exec &
asking=$!
# Who waits for what does not answer cannot be ended but with that.
await_end $asking || fail "waits for another user's mount"
expect_code 0 wait $asking
expect_equal 'with a mount over SOURCE' ro,nosuid,nodev,noexec "$(flags "$MNT")"
expect_equal 'what that was asked' ready "$(cat said)"
kill "$server"
wait "$server" || true
server=
umount -l "$SOURCE"
stop

"$KINFS" mount -o suid,dev,nosketch "$SOURCE"
"$KINFS" "$SOURCE" "$SOURCE" -o remount,ro,suid,dev,exec
expect_equal 'over itself' ro,nosuid,nodev,noexec "$(awk -v point="$SOURCE" '$5 == point && /fuse.kinfs/ { print $6 }' /proc/self/mountinfo |
    tr , '\n' | grep -xE 'ro|nosuid|nodev|noexec' | paste -sd,)"
"$KINFS" umount "$SOURCE"

# Where the tree may, the mount says at its beginning whether it may; a remount takes no flag away, and adds what the tree's mount has got.
umount "$SOURCE"
cp "$(readlink -f "$(command -v id)")" "$SOURCE/id"
chmod 4755 "$SOURCE/id"
start -o nosketch,allow_other
remount suid,dev
expect_equal 'by default' nosuid,nodev "$(flags "$MNT")"
stop
start -o nosketch,allow_other,suid,dev
remount ro
expect_equal 'with suid,dev' 'ro 0' "$(flags "$MNT") $(as_user "$MNT/id" -u)"
mount --bind "$SOURCE" "$SOURCE"
mount -o remount,bind,noexec,nosymfollow "$SOURCE"
remount rw,symfollow
expect_equal "when the tree's mount has noexec and nosymfollow" noexec,nosymfollow "$(flags "$MNT")"
ln -s id "$SOURCE/link"
! cat "$MNT/link" 2> said || fail 'a link was followed'
expect_match 'why not' 'Too many levels of symbolic links' "$(< said)"
stop
