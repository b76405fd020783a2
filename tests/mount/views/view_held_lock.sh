#!/usr/bin/env bash
# A user whose question about a name of a view is not answered keeps nobody else waiting for that name, or in that directory, for
# ever: not by asking, nor by trying to change the directory meanwhile, alone or as many.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open"
words 1 200 | tee "$SOURCE/open/a" > "$SOURCE/open/b"
touch -d @1000000000 "$SOURCE/open/a"
cat > kinfs.conf << EOF
[extractor "image/png"]
command = $(readlink -f "$(command -v sleep)") 100000
seconds = 1000
EOF
start -o "allow_other,settle_ms=0,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" << 'EOF'
import errno, os, signal, sys
import users

mnt = sys.argv[1]
UNIQUE = f"{mnt}/unique"
LIST = f"{UNIQUE}/.kinfs-skipped.tsv"
A, B = 54321, 54322
PNG = b"\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0"


def in_kernel(work, prepare=lambda: []):
    """Begins what waits in the kernel, as A, and returns when it does: its number, and what awaits its end."""
    ready, told = os.pipe()

    def tell_and_work():
        prepared = prepare()
        os.write(told, str(os.getpid()).encode())
        work(*prepared)

    end = users.begin(A, tell_and_work)
    os.close(told)
    pid = int(os.read(ready, 20))
    os.close(ready)
    while True:
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rsplit(")", 1)[1].split()[0] in "SDZ":
                return pid, end


def write_question():
    fd = os.open(f"{mnt}/.kinfs/query/x", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, PNG, 0)
    return fd, 1 << 16


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
    with open(LIST) as lines:
        assert lines.read().startswith("open/b\topen/a\t"), "another list"
    assert sorted(os.listdir(UNIQUE)) == [".kinfs-skipped.tsv", "open"], os.listdir(UNIQUE)
    assert os.listdir(f"{UNIQUE}/open") == ["a"], os.listdir(f"{UNIQUE}/open")
    assert not os.path.exists(f"{UNIQUE}/open/b")


# All that A may ask that takes long is asked, for ever, so that the list which A asks for is not begun. Nobody has asked for it
# before: of a name that the kernel knows it asks again without a lock.
asking = [in_kernel(os.read, write_question) for _ in range(4)]
refused = (errno.EAGAIN, errno.EACCES, errno.EEXIST)
held = [in_kernel(fails((errno.EAGAIN,), os.stat, LIST)), in_kernel(fails(refused, os.mkdir, f"{UNIQUE}/new"))]
held += [in_kernel(fails(refused, os.mkdir, LIST)) for _ in range(4)]
served = [users.begin(B, is_served) for _ in range(3)]
assert [end() for end in served] == [0, 0, 0], "another user was not served"
assert [end() for _, end in held] == [0] * len(held), "who was refused was told something else"
for pid, end in asking:
    assert not os.waitpid(pid, os.WNOHANG)[0], "the questions were answered"
    os.kill(pid, signal.SIGKILL)
    end()
EOF
stop
