#!/usr/bin/env bash
# What is read from a descriptor is for who opened it, whoever reads: a question or a directory of the views that
# a user hands to a program of root's tells that program no more than the user.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open" "$SOURCE/only"
words 1 200 > "$SOURCE/open/a"
words 5 200 > "$SOURCE/open/b"
words 1 201 > "$SOURCE/open/secret"
words 1 202 > "$SOURCE/open/group"
words 5000 200 > "$SOURCE/only/mine"
words 5000 200 > "$SOURCE/only/twin"
words 9000 200 > "$SOURCE/only/hidden1"
words 9000 200 > "$SOURCE/only/hidden2"
chmod 600 "$SOURCE/open/secret" "$SOURCE/only/twin" "$SOURCE/only/hidden"*
chown 0:54322 "$SOURCE/open/group"
chmod 640 "$SOURCE/open/group"
chown 54321 "$SOURCE/only/mine"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" "$SOURCE/open/secret" << 'EOF'
import os, socket, sys

mnt, guess = sys.argv[1:]
guess = open(guess, "rb").read()
USER, GROUP = 54321, 54322
failed = []


def as_user(work, groups=()):
    """What a user does in a process of the user's own, with the descriptor that it gives."""
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups)
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            socket.send_fds(there, [b"x"], [work()])
            there.close()
            os._exit(0)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(1)
    there.close()
    fds = socket.recv_fds(here, 1, 1)[1]
    here.close()
    assert os.waitpid(pid, 0)[1] == 0, "the user could not"
    return fds[0]


def in_user(work, groups=()):
    """What work says in a process of a user."""
    out, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups(groups)
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        os.write(told, work().encode())
        os._exit(0)
    os.close(told)
    text = os.fdopen(out, "rb").read().decode()
    assert os.waitpid(pid, 0)[1] == 0
    return text


def ask():
    fd = os.open(f"{mnt}/.kinfs/query/x", os.O_RDWR | os.O_CREAT)
    os.write(fd, guess)
    return fd


def open_question():
    return os.open(f"{mnt}/.kinfs/query/x", os.O_RDWR | os.O_CREAT)


def read(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    text = b""
    while piece := os.read(fd, 1 << 16):
        text += piece
    os.close(fd)
    return text.decode()


def names(text):
    return " ".join(sorted(line.split("\t")[1] for line in text.splitlines()))


def entries(fd):
    found = " ".join(sorted(name.split("-")[-1] for name in os.listdir(fd)))
    os.close(fd)
    return found


def expect(what, wanted, got):
    if wanted != got:
        failed.append(f"{what}: expected '{wanted}', got '{got}'")


def opens(path):
    return lambda: os.open(f"{mnt}/{path}", os.O_RDONLY | os.O_DIRECTORY)


ALL, OPEN, WITH_GROUP = "open/a open/b open/group open/secret", "open/a open/b", "open/a open/b open/group"
expect("root asks", ALL, names(read(ask())))
expect("a user asks, root reads", OPEN, names(read(as_user(ask))))


def root_writes():
    fd = as_user(open_question)
    os.write(fd, guess)
    return fd


expect("a user opens, root writes and reads", OPEN, names(read(root_writes())))
expect("a member of the group asks, root reads", WITH_GROUP, names(read(as_user(ask, [GROUP]))))
member = as_user(ask, [GROUP])
expect("a member asks, one who is none reads", WITH_GROUP, names(in_user(lambda: read(member))))
other = as_user(ask)
expect("one who is none asks, a member reads", OPEN, names(in_user(lambda: read(other), [GROUP])))
own = ask()
expect("root asks, a user reads", ALL, names(in_user(lambda: read(own))))

# Directories: of a mirrored one (documents that have kin), of clusters, of links.
for path, user_sees, root_sees in (
    ("similar/open", "a b", "a b group secret"),
    ("similar/only", "", "hidden1 hidden2 mine twin"),
    (".kinfs/similar/open", "a b", "a b group secret"),
    ("similar/open/a", "b", "b group secret"),
):
    expect(f"{path}: root", root_sees, entries(opens(path)()))
    expect(f"{path}: a user opens, root reads", user_sees, entries(as_user(opens(path))))
    fd = opens(path)()
    expect(f"{path}: root opens, a user reads", root_sees, in_user(lambda: entries(fd)))
expect("similar/open: a member opens, root reads", "a b group", entries(as_user(opens("similar/open"), [GROUP])))
expect("clusters: root", 3, len(entries(opens("clusters")()).split()))
expect("clusters: a user opens, root reads", 1, len(entries(as_user(opens("clusters"))).split()))

# Again from the beginning, and for root itself what root may see.
fd = as_user(opens("similar/open"))
for again in range(2):
    os.lseek(fd, 0, os.SEEK_SET)
    expect(f"from the beginning, {again}", "a b", " ".join(sorted(os.listdir(fd))))
os.close(fd)
if failed:
    raise SystemExit("\n".join(failed))
EOF
stop
