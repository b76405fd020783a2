#!/usr/bin/env bash
# unique/, its list, and what commands say by the same decision, are for root and the owner of the mount alone: nobody else is told a
# name, an attribute or a line, by whatever way, nor in what is open already; and who tries takes nothing from root.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'
USER=54321
as_user() { setpriv --reuid=$USER --regid=$USER --clear-groups "$@"; }

chmod 755 "$SCRATCH"
install -m 755 "$KINFS" "$SCRATCH/kinfs-of-all"
mkdir -p "$SOURCE"/open/deep
words 1 600 | tee "$SOURCE/open/original" "$SOURCE/open/deep/copy" > "$SOURCE/open/copy"
touch -d @1000000000 "$SOURCE/open/original"
mkdir "$SOURCE/theirs"
words 5001 600 | tee "$SOURCE/theirs/original" > "$SOURCE/theirs/version"
touch -d @1000000000 "$SOURCE/theirs/original"
chown -R $USER:$USER "$SOURCE/theirs"
STORE=$SCRATCH/store
start -o "allow_other,views=similar:unique:listed,store=$STORE"
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" "$STORE/control" << 'PYTHON'
import ctypes, json, os, socket, stat, sys
import users
from users import attempt, expect

mnt, control = sys.argv[1:]
USER = 54321
libc = ctypes.CDLL(None, use_errno=True)
LIST = ".kinfs-skipped.tsv"
UNIQUE = f"{mnt}/unique"
BELOW = ["", "/open", "/open/original", "/open/copy", "/open/none", "/theirs", "/theirs/original", f"/{LIST}", f"/open/{LIST}"]


def read_names(fd):
    """Of an open directory, which fdopendir(3) would look at first."""
    names, data = set(), ctypes.create_string_buffer(1 << 16)
    while (n := libc.syscall(217, fd, data, len(data))) > 0:
        at = 0
        while at < n:
            size = int.from_bytes(data.raw[at + 16 : at + 18], "little")
            names.add(data.raw[at + 19 : at + size].split(b"\0")[0].decode())
            at += size
    return names if n == 0 else os.strerror(ctypes.get_errno())


def calls_of(path):
    return {
        "stat": lambda: os.lstat(path),
        "open": lambda: os.open(path, os.O_RDONLY),
        "list": lambda: os.listdir(path),
        "change to": lambda: os.chdir(path),
        "attribute": lambda: os.getxattr(path, "user.kinfs.state"),
        "list attributes": lambda: os.listxattr(path),
        "may read": lambda: os.open(path, os.O_RDONLY | os.O_DIRECTORY),
        "make": lambda: os.mkdir(path + "/new"),
        "write": lambda: os.truncate(path, 0),
    }


def refuse_all():
    for root in (UNIQUE, f"{mnt}/.kinfs/unique"):
        for below in BELOW:
            for what, call in calls_of(root + below).items():
                if (what, below) not in (("write", ""),):
                    expect(f"{what} {root + below}", "EACCES", attempt(USER, call))
    for groups in ((0,), (USER, 4)):
        expect("with groups", "EACCES", attempt(USER, os.listdir, UNIQUE, groups=groups))
    # The name alone can be opened, which is nothing to look into.
    fd = attempt(USER, os.open, UNIQUE, os.O_PATH)
    if not isinstance(fd, int):
        sys.exit(f"the name: {fd}")
    for what, call in {
        "stat": lambda: os.stat(fd),
        "a name": lambda: os.stat("open", dir_fd=fd),
        "the list": lambda: os.stat(LIST, dir_fd=fd),
        "open": lambda: os.open(".", os.O_RDONLY, dir_fd=fd),
        "open by /proc": lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDONLY),
    }.items():
        expect(f"{what}, of the name", "EACCES", attempt(USER, call))
    os.close(fd)


def check_root():
    expect("names", {LIST, "open", "theirs"}, set(os.listdir(UNIQUE)))
    expect("names below", {"original", "deep"}, set(os.listdir(f"{UNIQUE}/open")))
    with open(f"{UNIQUE}/{LIST}") as lines:
        expect("lines", ["open/copy", "open/deep/copy", "theirs/version"], sorted(line.split("\t")[0] for line in lines))
    expect("the root", {"open", "theirs", "similar", "unique"}, set(os.listdir(mnt)))
    expect(".kinfs", True, "unique" in os.listdir(f"{mnt}/.kinfs"))


def check_listings():
    expect("the user's root", {"open", "theirs", "similar"}, set(attempt(USER, os.listdir, mnt)))
    expect("the user's .kinfs", False, "unique" in attempt(USER, os.listdir, f"{mnt}/.kinfs"))


# Before root has asked, and when the kernel knows what root was told.
for _ in range(2):
    refuse_all()
    check_listings()
    check_root()
check_listings()

# Who stands in it goes on standing there, whoever tries.
os.chdir(f"{UNIQUE}/open")
refuse_all()
expect("the working directory", f"{UNIQUE}/open", os.getcwd())
expect("what is in it", {"original", "deep"}, set(os.listdir(".")))
os.chdir(UNIQUE)
refuse_all()
expect("the working directory at the top", UNIQUE, os.getcwd())
os.chdir("/")


# What was opened is its opener's: it goes on, and opens nothing more.
def with_what_root_opened():
    os.setgroups([])
    directory, roots = os.open(f"{UNIQUE}/open", os.O_RDONLY), os.open(mnt, os.O_RDONLY)
    lines = os.open(f"{UNIQUE}/{LIST}", os.O_RDONLY)
    place = os.open(f"{UNIQUE}/open", os.O_PATH)
    os.chdir(UNIQUE)
    os.setresgid(USER, USER, USER), os.setresuid(USER, USER, USER)
    expect("a listing that root began", {".", "..", "original", "deep"}, read_names(directory))
    expect("of the root", True, "unique" in read_names(roots))
    expect("a list that root opened", True, b"open/copy\t" in os.read(lines, 1 << 20))
    for what, call in {
        "stat": lambda: os.stat("original", dir_fd=directory),
        "a place": lambda: os.stat("original", dir_fd=place),
        "what is left out": lambda: os.stat("copy", dir_fd=place),
        "open": lambda: os.open("original", os.O_RDONLY, dir_fd=directory),
        "open again": lambda: os.open(f"/proc/self/fd/{directory}", os.O_RDONLY),
        "open the list again": lambda: os.open(f"/proc/self/fd/{lines}", os.O_RDONLY),
        "the working directory": lambda: os.stat("."),
        "from the working directory": lambda: os.stat("open"),
        "the list from there": lambda: os.stat(LIST),
        "a listing of there": lambda: os.listdir("."),
    }.items():
        try:
            expect(f"{what}, of what root had opened", "EACCES", call())
        except OSError as error:
            expect(f"{what}, of what root had opened", "EACCES", __import__("errno").errorcode[error.errno])


def begin_as_root(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr)
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


begin_as_root(with_what_root_opened)

# The other way round root is shown what the user had opened.
def with_what_the_user_opened():
    os.setgroups([])
    os.setegid(USER), os.seteuid(USER)
    roots, own = os.open(mnt, os.O_RDONLY), os.open(f"{mnt}/.kinfs", os.O_RDONLY)
    os.seteuid(0), os.setegid(0)
    expect("the user's listing, read by root", False, "unique" in read_names(roots))
    expect("that of .kinfs", False, "unique" in read_names(own))


begin_as_root(with_what_the_user_opened)

# No question says it, and the socket of the store answers root and the owner alone, whoever gets to it.
for uid in (0, USER):
    for name in ("x,unique", "x,skip", "x,skipped"):
        expect("a question", "EINVAL", attempt(uid, os.open, f"{mnt}/.kinfs/query/{name}", os.O_RDWR | os.O_CREAT))


def ask():
    with socket.socket(socket.AF_UNIX) as to:
        to.connect(control)
        answer = b""
        try:
            to.sendall(json.dumps({"command": "skip", "near": 0.95, "prefer": []}).encode() + b"\n")
            while data := to.recv(1 << 16):
                answer += data
        except (BrokenPipeError, ConnectionResetError):
            pass
        return answer


modes = [(path, stat.S_IMODE(os.stat(path).st_mode)) for path in (os.path.dirname(control), control)]
expect("root is answered", True, b"open/deep/copy" in ask())
expect("the socket", "EACCES", attempt(USER, ask))
for path, mode in modes:
    os.chmod(path, 0o777)
expect("the socket, for who gets to it", b"", attempt(USER, ask))
for path, mode in modes:
    os.chmod(path, mode)
check_root()
PYTHON

# Commands say in a line who may ask, and what everybody may.
for command in 'skip --format=tar' 'skip --json' tidy 'tidy --do=trash'; do
    # shellcheck disable=SC2086
    expect_code 3 as_user "$SCRATCH/kinfs-of-all" $command "$MNT/theirs"
    expect_match "$command" "this mount is another user's; ask as that user, kinfs scan a directory of your own" "$OUT"
    expect_equal "lines of $command" 1 "$(wc -l <<< "$OUT")"
done
stop

# So who owns a part of the tree can do with that part.
install -d -o $USER "$SCRATCH/home"
of_theirs() { as_user env KINFS_STATE_DIR="$SCRATCH/home/state" "$SCRATCH/kinfs-of-all" "$@"; }
expect_code 0 of_theirs scan "$SOURCE/theirs"
expect_code 0 of_theirs skip --format=tar "$SOURCE/theirs"
expect_equal 'what is left out of it' ./version "$OUT"
