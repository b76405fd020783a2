#!/usr/bin/env bash
# Sixty who ask for one user keep no other user waiting: neither with questions that never end nor with large ones.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open"
words 1 200 > "$SOURCE/open/a"
words 5 200 > "$SOURCE/open/b"
cat > kinfs.conf << EOF
[extractor "image/png"]
command = $(readlink -f "$(command -v sleep)") 100000
seconds = 1000
EOF
start -o "allow_other,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" "$SOURCE/open/a" << 'EOF'
import os, signal, sys

mnt, document = sys.argv[1:]
document = open(document, "rb").read()
MANY, OTHER, N = 54321, 54322, 60


def in_user(uid, work):
    """A process of a user's, and a pipe by which it can tell that it is about to wait."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ready)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        try:
            os._exit(0 if work(told) else 1)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(2)
    os.close(told)
    return pid, ready


def ask(told, *pieces):
    fd = os.open(f"{mnt}/.kinfs/query/x", os.O_RDWR | os.O_CREAT)
    for at, piece in pieces:
        os.pwrite(fd, piece, at)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(told, b"x")
    return os.read(fd, 1 << 16).decode()


def asks_small(told):
    signal.alarm(120)  # where it would wait for others for ever
    answer = ask(told, (0, document)).split("\n")
    return answer[0] == "1.0000\topen/a" and answer[1].endswith("\topen/b")


def asks_more(told):
    return asks_small(told) and asks_small(told) and sorted(os.listdir(f"{mnt}/similar/open")) == ["a", "b"]


def waits(pid, ready):
    assert os.read(ready, 1) == b"x", "could not ask"
    os.close(ready)
    while True:  # all it does now is to read
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] in "SDZ":
                return pid


def crowd(work):
    asking = [in_user(MANY, work) for _ in range(N)]
    return [waits(*one) for one in asking]


def other_is_answered(asks, once_asked=lambda: None):
    pid, ready = in_user(OTHER, asks)
    assert os.read(ready, 1) == b"x", "could not ask"
    once_asked()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 0, f"another user was not answered: {code}"
    os.close(ready)


def ended(pids):
    return [pid for pid in pids if os.waitpid(pid, os.WNOHANG)[0]]


# None of these has an answer, ever.
png = b"\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0"
pids = crowd(lambda told: ask(told, (0, png)))
other_is_answered(asks_more)
assert not ended(pids), "one of the crowd is answered"
for pid in pids:
    os.kill(pid, signal.SIGKILL)
for pid in pids:
    os.waitpid(pid, 0)

# As large as sixty can be: who comes after them is answered before fifteen more of them are.
pids = crowd(lambda told: ask(told, (0, b"a"), ((32 << 20) - 1, b"b")) == "")
early = []
other_is_answered(asks_small, lambda: early.extend(ended(pids)))
pids = [pid for pid in pids if pid not in early]
first = ended(pids)
assert len(first) <= 15, f"{len(first)} of {len(pids)} were answered first"
for pid in pids:
    if pid not in first:
        assert os.waitpid(pid, 0)[1] == 0, "one of the crowd was not answered"
EOF
stop
