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
shown=$(python3 - "$SOURCE/$below" << 'EOF'
import ctypes, os, struct, sys
from users import libc

CLUSTERS, SHOWN = 10000, 3


def place(name):
    """Where a file is in the order in which they are gone through: of keys, which on tmpfs begin with a random number."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    if libc.name_to_handle_at(-100, name.encode(), handle, ctypes.byref(ctypes.c_int()), 0) < 0:
        sys.exit("no handle")
    return struct.unpack_from("<III", handle.raw, 8)


os.umask(0o77)
os.makedirs(sys.argv[1], 0o755)
os.chdir(sys.argv[1])
for i in range(CLUSTERS):
    for copy in "ab":
        with open(f"{i:05}{copy}", "w") as out:
            out.write(" ".join(f"w{i}x{j}" for j in range(20)))
# The user may read the last ones.
pairs = sorted((f"{i:05}" for i in range(CLUSTERS)), key=lambda name: min(place(name + "a"), place(name + "b")))
for name in sorted(pairs[-SHOWN:]):
    os.chmod(name + "a", 0o644)
    os.chmod(name + "b", 0o644)
    print(name)
EOF
)
find "$SOURCE" -type d -exec chmod 755 {} +
# One that is asked about by root, a few steps away.
mkdir -m 700 "$SOURCE/near"
words 1 50 | tee "$SOURCE/near/a" > "$SOURCE/near/b"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null

expect_equal 'clusters for root' 10001 "$(ls "$MNT/clusters" | wc -l)"
open_ids=$(for i in $shown; do
    as_user getfattr --only-values --absolute-names -n user.kinfs.cluster "$MNT/$below/${i}a"
    echo
done | sort | xargs)
expect_match 'three of them' '^[0-9]+ [0-9]+ [0-9]+$' "$open_ids"
expect_equal 'clusters for a user' "$open_ids" "$(as_user ls -f "$MNT/clusters" | grep -v '^\.' | sort | xargs)"
expect_equal 'documents' "$(for i in $shown; do echo "${i}a ${i}b"; done | xargs)" "$(as_user ls "$MNT/similar/$below" | xargs)"

python3 - "$MNT" << 'EOF'
import ctypes, os, signal, struct, sys
import users
from locker import SYS_GETDENTS64

mnt = sys.argv[1]
LISTINGS = 12
found_by, found = os.pipe2(os.O_NONBLOCK)
gone, go = os.pipe()
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
        os.close(go)
        os.read(gone, 1)  # all begin together
        n = 0
        while libc.readdir(stream):
            if n == 0:
                os.write(found, b"x")
            n += 1
        os._exit(n)
    os.close(told)
    return pid, ready


def await_listing(pid):
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        with open(f"/proc/{pid}/syscall") as syscall:
            if syscall.read().split()[0] == str(SYS_GETDENTS64):
                return


listings = [list_as_user() for _ in range(LISTINGS)]
pids = [pid for pid, _ in listings]
for _, ready in listings:
    os.read(ready, 1)
os.close(go)
for pid in pids:
    await_listing(pid)
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
