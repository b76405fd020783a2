#!/usr/bin/env bash
# A user whose question about a name of a view is not answered keeps nobody else waiting for that name, or in that directory, for
# ever: not by asking, nor by trying to change the directory meanwhile, alone or as many. Nor anybody who moves a file from one
# directory of the mount to another: the kernel has one such move in the mount at a time, also of names of views.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open"
words 1 200 | tee "$SOURCE/open/a" > "$SOURCE/open/b"
mkdir -p "$SOURCE/others/from" "$SOURCE/others/to"
touch "$SOURCE/others/from/file"
chown -R 54322 "$SOURCE/others"
touch -d @1000000000 "$SOURCE/open/a"
cat > kinfs.conf << EOF
[extractor "image/png"]
command = $(readlink -f "$(command -v sleep)") 100000
seconds = 1000
EOF
start -o "allow_other,settle_ms=2000,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null
# As long as it is not read each question about it takes the time that views wait.
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/open/png"

python3 - "$MNT" << 'EOF'
import errno, os, signal, sys
import users

mnt = sys.argv[1]
VIEW = f"{mnt}/similar/open/a"
LINK = f"{VIEW}/100-b"
A, B = 54321, 54322
# Of which a user has four answered at a time: some minutes, in which nothing else of A's is begun.
N_QUESTIONS = 400
# Each looks two names up, which together would take longer than that.
N_RENAMES = 80


def in_kernel(work):
    """Begins what waits in the kernel, as A, and returns when it does: its number, and what awaits its end."""
    ready, told = os.pipe()

    def tell_and_work():
        os.write(told, str(os.getpid()).encode())
        work()

    end = users.begin(A, tell_and_work)
    os.close(told)
    pid = int(os.read(ready, 20))
    os.close(ready)
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] in "SDZ":
                return pid, end


def ask():
    try:
        os.getxattr(f"{mnt}/open/png", "user.kinfs.similar")
    except OSError:
        pass


def fails(wanted, function, *args):
    def attempt():
        try:
            function(*args)
        except OSError as error:
            assert error.errno in wanted, error
        else:
            assert False, "no error"
    return attempt


def is_served():
    assert os.path.samefile(LINK, f"{mnt}/open/b")
    assert os.listdir(VIEW) == ["100-b"], os.listdir(VIEW)
    assert not os.path.lexists(f"{VIEW}/100-c")


def moves():
    os.rename(f"{mnt}/others/from/file", f"{mnt}/others/to/file")


# The link which A asks for is not begun before that ends. Nobody has asked for it before: of a name that the kernel knows it asks
# again without a lock.
asking = [in_kernel(ask) for _ in range(N_QUESTIONS)]
refused = (errno.EAGAIN, errno.EACCES, errno.EEXIST)
held = [in_kernel(fails((errno.EAGAIN,), os.lstat, LINK)), in_kernel(fails(refused, os.mkdir, f"{VIEW}/new"))]
held += [in_kernel(fails(refused, os.mkdir, LINK)) for _ in range(4)]
served = [users.begin(B, is_served) for _ in range(3)]
assert [end() for end in served] == [0, 0, 0], "another user was not served"
refused += (errno.ENOENT,)
held += [in_kernel(fails(refused, os.rename, f"{VIEW}/100-{i}", f"{mnt}/similar/open/b/100-{i}")) for i in range(N_RENAMES)]
assert users.begin(B, moves)() == 0, "another user's file could not be moved"
assert [end() for _, end in held] == [0] * len(held), "who was refused was told something else"
left = [pid for pid, _ in asking if not os.waitpid(pid, os.WNOHANG)[0]]
assert left, "the questions were answered"
for pid in left:
    os.kill(pid, signal.SIGKILL)
for pid in left:
    os.waitpid(pid, 0)
EOF
stop
