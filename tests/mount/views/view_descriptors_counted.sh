#!/usr/bin/env bash
# What is open of the views counts with all that it makes the daemon hold: its descriptor among those of files, its opener's groups
# in memory. So by views, too, one user leaves others some.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/documents"
for i in 1 2 3; do words 1 100 > "$SOURCE/documents/$i"; done
limit=1024
(ulimit -n $limit && start -o allow_other)
"$KINFS" settle "$MNT" > /dev/null
ulimit -n "$(ulimit -Hn)"
python3 - "$MNT" $limit << 'PYTHON' || fail 'see above'
import errno, os, sys
from users import run
mount, limit = sys.argv[1], int(sys.argv[2])
half = limit * 3 // 4 // 2  # of what is not the daemon's own
USER, OTHER, MANY = 54321, 54322, 54323


def fill(take, n_most):
    taken = []
    try:
        while len(taken) <= n_most:
            taken.append(take(len(taken)))
    except OSError as error:
        assert error.errno in (errno.EMFILE, errno.ENFILE, errno.EDQUOT), error
    assert len(taken) <= n_most, f"{len(taken)}"
    return taken


def greedy():
    questions = fill(lambda i: os.open(f"{mount}/.kinfs/query/{i}", os.O_RDWR | os.O_CREAT), 64)
    assert len(questions) == 64
    views = fill(lambda i: os.open(f"{mount}/similar/documents", os.O_RDONLY | os.O_DIRECTORY), half - 64)
    assert len(views) == half - 64, len(views)
    fill(lambda i: os.open(f"{mount}/documents/1", os.O_RDONLY), 0)
    as_other()


def modest():
    assert len(os.listdir(f"{mount}/documents")) == 3
    assert len(os.listdir(f"{mount}/similar/documents")) == 3
    with open(f"{mount}/documents/1") as document:
        assert document.read()


told, go_on = os.pipe(), os.pipe()


def as_other():
    os.write(told[1], b"x")
    os.read(go_on[0], 1)


pid = os.fork()
if pid == 0:
    run(USER, greedy)
    os._exit(0)
os.close(told[1])
assert os.read(told[0], 1) == b"x", "who takes all had an error"
run(OTHER, modest)
os.write(go_on[1], b"x")
assert os.waitpid(pid, 0)[1] == 0

# 64 MiB of memory are a user's
n_groups = 65536
run(MANY, lambda: fill(lambda i: os.open(f"{mount}/.kinfs", os.O_RDONLY | os.O_DIRECTORY), (64 << 20) // (4 * n_groups)),
        list(range(100000, 100000 + n_groups)))
PYTHON
stop

# Who has very many groups waits with a few questions, and the others are told at once that they are too many.
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
cat > kinfs.conf << EOF
[extractor "image/png"]
command = $(readlink -f "$(command -v sleep)") 100000
seconds = 1000
EOF
start -o "allow_other,settle_ms=600000,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/documents/picture.png" # never read to its end
python3 - "$MNT" << 'PYTHON' || fail 'see above'
import errno, os, signal, sys
mount = sys.argv[1]
MANY, N, N_GROUPS = 54323, 48, 65536
MOST = (1 << 22) // 2 // (N_GROUPS + 1)


def asks(tell):
    pid = os.fork()
    if pid:
        return pid
    os.setgroups(range(100000, 100000 + N_GROUPS))
    os.setresgid(MANY, MANY, MANY)
    os.setresuid(MANY, MANY, MANY)
    signal.alarm(120)
    try:
        os.getxattr(f"{mount}/documents/1", "user.kinfs.similar")
    except OSError as error:
        os.write(tell, b"x" if error.errno == errno.EAGAIN else b"?")
    os._exit(0)


told, tell = os.pipe()
pids = [asks(tell) for _ in range(N)]
os.close(tell)
said = b""
while len(said) < N - MOST:
    more = os.read(told, N)
    assert more, f"{len(said)} were told"
    said += more
assert said == b"x" * (N - MOST), said
for pid in pids:
    os.kill(pid, signal.SIGKILL)
PYTHON
stop
