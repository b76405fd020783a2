#!/usr/bin/env bash
# A file system mounted inside the tree that stops answering keeps those waiting who ask for what is in it, and nobody else.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/nested" "$SOURCE/many" "$SOURCE/d"
for i in $(seq 500); do echo text > "$SOURCE/many/$i"; done
server=
trap 'kill $server 2> /dev/null || true' EXIT

# Opens so many files that some share each lock of the daemon's.
served() {
    cat "$MNT/many/"* > /dev/null
    for i in $(seq 20); do
        echo "$i" > "$SOURCE/d/$1-beside$i"
        stat "$MNT/d/$1-beside$i" > /dev/null
        echo "$i" > "$MNT/d/$1-made$i"
        mv "$MNT/d/$1-made$i" "$MNT/d/$1-moved$i"
        rm "$MNT/d/$1-moved$i"
    done
    touch "$SCRATCH/served-$1"
}

# held_up REQUEST BEFORE THEN: what a user does in Python before nothing is answered any more, with f a file of it and 3 its
# directory, and then; and the request that is not answered first.
held_up() {
    "$LIB/file_systems/hanging_fs.py" "$SOURCE/nested" 0 allow_other > "said-$1" &
    server=$!
    soon 'the nested file system' grep -q ready "said-$1"
    until [[ -e $MNT/nested/f ]]; do :; done # what the kernel keeps of names ends by itself
    exec 3< "$MNT/nested"
    python3 -c "
import fcntl, os, time
os.setgroups([])
os.setresgid(54321, 54321, 54321)
os.setresuid(54321, 54321, 54321)
f = open('$MNT/nested/f', 'r+b', buffering=0)
$2
print('begun', flush=True)
while not os.path.exists('$SCRATCH/silent-$1'):
    time.sleep(0.01)
$3
" > "begun-$1" 2> "told-$1" &
    local asker=$! others
    soon 'it has begun' grep -q begun "begun-$1"
    kill -USR1 "$server"
    touch "$SCRATCH/silent-$1"
    soon 'a request that is not answered' grep -q "$1" "said-$1"
    served "$1" &
    others=$!
    soon "others are served: $1" test -e "$SCRATCH/served-$1"
    wait "$others"
    kill -0 "$asker" || fail "$1: answered without an answer"
    exec 3<&-
    kill "$server"
    ! wait "$asker" || fail "$1: an answer that nobody gave"
    expect_match "$1" 'Errno' "$(cat "told-$1")"
    umount -l "$SOURCE/nested"
}

start -o allow_other,watch=none,views=none
# By a descriptor that the kernel and the daemon have, without a name to look up.
held_up getattr '' "while True: os.stat('/dev/fd/3')"
held_up open '' 'fcntl.lockf(f, fcntl.LOCK_EX)'
held_up flush 'fcntl.lockf(f, fcntl.LOCK_EX)' 'f.close()'

# The last close writes what was stored in a mapping. The file of the first opening is closed by none but the daemon, which gave
# it to the kernel for the later ones.
"$LIB/file_systems/hanging_fs.py" "$SOURCE/nested" 0 writeback allow_other default_permissions > said-release &
server=$!
soon 'the nested file system' grep -q ready said-release
until [[ -e $MNT/nested/f ]]; do :; done
python3 -c "
import ctypes, mmap, os, time
map = ctypes.CDLL(None).mmap # that of the module keeps a descriptor
map.restype = ctypes.c_void_p
map.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
os.setgroups([])
os.setresgid(54321, 54321, 54321)
os.setresuid(54321, 54321, 54321)
first = os.open('$MNT/nested/f', os.O_RDWR)
mapping = ctypes.cast(map(None, 4096, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, first, 0), ctypes.POINTER(ctypes.c_char))
second = os.open('$MNT/nested/f', os.O_RDONLY)
os.close(first)
mapping[0] = 1
print('begun', flush=True)
while not os.path.exists('$SCRATCH/silent-release'):
    time.sleep(0.01)
os.close(second)
" > begun-release 2>&1 &
asker=$!
soon 'it has begun' grep -q begun begun-release
kill -USR1 "$server"
touch "$SCRATCH/silent-release"
soon 'a request that is not answered' grep -qvx ready said-release
served release &
others=$!
soon 'others are served: release' test -e "$SCRATCH/served-release"
wait "$others"
kill "$server"
wait "$asker" || true
umount -l "$SOURCE/nested"
stop
