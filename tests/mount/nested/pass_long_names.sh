#!/usr/bin/env bash
# Names longer than any file system of the kernel's own has are served from a file system that is mounted inside the tree.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/nested"
"$LIB/file_systems/long_names_fs.py" "$SOURCE/nested" 54321 > said &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
soon 'the nested file system' grep -q ready said
start -o allow_other,watch=none,views=none

# as_user CODE: Python of the nested file system's user; `long` is the file in the mount.
as_user() {
    python3 -c "
import os, signal
os.setgroups([])
os.setresgid(54321, 54321, 54321)
os.setresuid(54321, 54321, 54321)
def long(letter): return '$MNT/nested/' + letter * 1000
$1"
}

expect_equal 'read by its name, again and again' 'abcabc3' "$(as_user "
print(open(long('a')).read() + open(long('a')).read() + str(os.stat(long('a')).st_size))")"
exec 3< <(as_user "
held = os.open(long('a'), os.O_PATH)
print('held', flush=True)
while not os.path.exists('$SCRATCH/renamed'): pass
print(open(f'/dev/fd/{held}').read())")
read -r held <&3
expect_equal 'held' held "$held"
kill -USR1 "$server"
as_user "
while True:
    try: os.stat('$SOURCE/nested/' + 'b' * 1000); break
    except FileNotFoundError: pass"
touch "$SCRATCH/renamed"
expect_equal 'found again by its new name' 'abc' "$(cat <&3)"
exec 3<&-
# The daemon asks again what a mount can, and now this one tells handles.
mkdir "$SCRATCH/elsewhere"
mount -t tmpfs none "$SCRATCH/elsewhere"
expect_equal 'the daemon serves on' 'abc' "$(as_user "print(open(long('b')).read())")"
stop
umount "$SCRATCH/elsewhere"
umount -l "$SOURCE/nested"
