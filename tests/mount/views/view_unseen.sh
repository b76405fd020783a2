#!/usr/bin/env bash
# Who may see next to nothing of many clusters and documents keeps nobody else waiting while they are
# gone through, and is shown the right ones.
# Runs alone: it tells by who comes first how long a turn is.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr python3 setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'

as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }

# So many, far down, that going through all is many turns.
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
mount -t tmpfs -o mode=755 none "$SOURCE" # where they are made in a moment
below=$(printf 'd/%.0s' {1..240})
python3 - "$SOURCE/$below" << 'EOF'
import os, sys
os.umask(0o22)
os.makedirs(sys.argv[1])
os.chdir(sys.argv[1])
for i in range(10000):
    for copy in "ab":
        with open(f"{i:05}{copy}", "w") as out:
            out.write(" ".join(f"w{i}x{j}" for j in range(20)))
        if i not in (8000, 9000, 9999):
            os.chmod(out.name, 0o600)
EOF
# One that is asked about by root, a few steps away.
mkdir -m 700 "$SOURCE/near"
words 1 50 | tee "$SOURCE/near/a" > "$SOURCE/near/b"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null

expect_equal 'clusters for root' 10001 "$(ls "$MNT/clusters" | wc -l)"
open_ids=$(for i in 08000 09000 09999; do
    as_user getfattr --only-values --absolute-names -n user.kinfs.cluster "$MNT/$below/${i}a"
    echo
done | sort | xargs)
expect_match 'three of them' '^[0-9]+ [0-9]+ [0-9]+$' "$open_ids"
expect_equal 'clusters for a user' "$open_ids" "$(as_user ls -f "$MNT/clusters" | grep -v '^\.' | sort | xargs)"
expect_equal 'documents' '08000a 08000b 09000a 09000b 09999a 09999b' "$(as_user ls "$MNT/similar/$below" | xargs)"

python3 - "$MNT" << 'EOF'
import ctypes, os, signal, struct, sys
import users
from locker import SYS_GETDENTS64

mnt = sys.argv[1]
LISTINGS = 12
found_by, found = os.pipe2(os.O_NONBLOCK)
libc = ctypes.CDLL(None)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.readdir.argtypes = [ctypes.c_void_p]


def list_as_user():
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(54321)
        os.setuid(54321)
        stream = libc.opendir(f"{mnt}/clusters".encode())
        libc.readdir(stream)  # "." and ".." are a reply of their own, as long as nothing else is found
        libc.readdir(stream)
        os.write(told, b"x")
        n = 0
        while libc.readdir(stream):
            if n == 0:
                os.write(found, b"x")
            n += 1
        os._exit(n)
    os.close(told)
    return pid, ready


def is_listing(pid, ready):
    os.read(ready, 1)
    while True:  # all it does now is to list
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] in "SDZ":
                return pid


listings = [list_as_user() for _ in range(LISTINGS)]
pids = [is_listing(*listing) for listing in listings]
kin = os.listdir(f"{mnt}/similar/near/a")
assert kin == ["100-b"], kin
# Were the way to the first cluster that the user may see one turn, the question would have come behind all of them.
try:
    n_found = len(os.read(found_by, LISTINGS))
except BlockingIOError:
    n_found = 0
assert n_found < LISTINGS // 2, f"{n_found} of {LISTINGS} listings came first"

# Who gives up in between is let go; the others are told all.
for pid in pids[::2]:
    os.kill(pid, signal.SIGKILL)
for i, pid in enumerate(pids):
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 3 or (i % 2 == 0 and code == -signal.SIGKILL), (i, code)


def entries(path):
    """Inode number and name of each, as the kernel gives them."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    buffer = ctypes.create_string_buffer(32768)
    while n := libc.syscall(SYS_GETDENTS64, fd, buffer, len(buffer)):
        assert n > 0, n
        at = 0
        while at < n:
            ino, _, length = struct.unpack_from("=QqH", buffer, at)
            yield ino, ctypes.string_at(ctypes.addressof(buffer) + at + 19).decode()
            at += length


def gives_the_lock_back():
    listed = list(entries(f"{mnt}/clusters"))
    between = {name for ino, name in listed if ino == 0}
    assert between == {"."}, between
    shown = [name for ino, name in listed if ino]
    assert shown[:2] == [".", ".."] and len(shown) == 5, shown


users.run(54321, gives_the_lock_back)
EOF
stop
