#!/usr/bin/env bash
# A file that may only be appended to opens in every order that the tree allows, and is mapped for writing in none.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 chattr
[[ $EUID = 0 ]] || skip 'only root can have files appended to only'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
touch "$SCRATCH/flags"
chattr +a "$SCRATCH/flags" 2> /dev/null && chattr -a "$SCRATCH/flags" || skip 'no flags of files here'
for options in allow_other allow_other,nopassthrough; do
    start -o "$options,views=none"
    python3 - "$SOURCE" "$MNT" << 'PYTHON' || fail "$options"
import errno, fcntl, itertools, mmap, os, subprocess, sys, time
source, mnt = sys.argv[1:]
USER = 54321
READ, APPEND, BOTH = os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_APPEND
OVER = os.O_RDWR
NO_APPEND = 0x20  # RWF_NOAPPEND of pwritev2(2)
PLACES = [source, mnt]


def make(name, text="first\n", flag="+a"):
    path, new = f"{source}/{name}", f"{source}/../new"
    if os.path.exists(path):
        subprocess.check_call(["chattr", "-a", path])
        os.unlink(path)
    with open(new, "w") as out:
        out.write(text)
    os.chown(new, USER, USER)
    os.rename(new, path)  # it is the user's before the mount can see it
    subprocess.check_call(["chattr", flag, path])


def opened(path, flags):
    try:
        return os.open(path, flags)
    except OSError as error:
        return -error.errno


def try_to_map(fd):
    """Whether the first line could be written over."""
    try:
        memory = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    except OSError:
        return False
    memory[0:5] = b"FORGE"
    memory.flush()
    return True


def use(path, order):
    """What becomes of opening in that order, each held: results, and what each reads and writes."""
    story, held = [], []
    for n, flags in enumerate(order):
        fd = opened(path, flags)
        story.append(min(fd, 0))
        if fd < 0:
            continue
        held.append((fd, flags))
        for fd, flags in held:
            if flags != READ:
                os.write(fd, f"{n} {len(held)}\n".encode())
            if flags != APPEND:
                story.append(os.pread(fd, 1000, 0))
            story.append(flags == BOTH and try_to_map(fd))
            if flags == READ:
                with mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
                    story.append(memory[:])
    for fd, _ in held:
        os.close(fd)
    with open(path, "rb") as file:
        story.append(file.read())
    return story


os.setegid(USER)
os.seteuid(USER)


def as_root(work, *args):
    os.seteuid(0)
    try:
        return work(*args)
    finally:
        os.seteuid(USER)


for order in itertools.product([READ, APPEND, BOTH, OVER], repeat=3):
    stories = []
    for place in PLACES:
        as_root(make, "log")
        stories.append(use(f"{place}/log", order))
    assert stories[0] == stories[1], f"{order}: {stories[0]} {stories[1]}"
    assert -errno.EPERM in stories[0] or OVER not in order
    # Opened again, at once.
    for flags in READ, BOTH, APPEND, BOTH:
        os.close(os.open(f"{mnt}/log", flags))

# Many at once, each in an order of its own.
as_root(make, "log")
children = []
for n in range(8):
    pid = os.fork()
    if pid == 0:
        try:
            for i in range(200):
                fd = os.open(f"{mnt}/log", [READ, BOTH, APPEND][(i + n) % 3])
                if (i + n) % 3:
                    os.write(fd, b"line\n")
                os.close(fd)
            os._exit(0)
        except OSError as error:
            print(error, file=sys.stderr)
            os._exit(1)
    children.append(pid)
codes = [os.waitpid(pid, 0)[1] for pid in children]
assert codes == [0] * 8, codes

# A write is where the tree has it, at the end, to who has mapped the file, too.
as_root(make, "log")
reader = os.open(f"{mnt}/log", READ)
memory = mmap.mmap(reader, 0, mmap.MAP_SHARED, mmap.PROT_READ)
assert memory[:] == b"first\n"
fd = os.open(f"{mnt}/log", APPEND)
fcntl.fcntl(fd, fcntl.F_SETFL, 0)  # a mount may say that it did
for forge in (lambda: os.pwrite(fd, b"FORGE", 0), lambda: os.pwritev(fd, [b"FORGE"], 0, NO_APPEND)):
    try:
        forge()
    except OSError as error:
        assert error.errno in (errno.EPERM, errno.EOPNOTSUPP), error
    assert memory[:] == b"first\n", memory[:]
memory.close()
os.close(fd)
os.close(reader)
assert open(f"{source}/log", "rb").read().startswith(b"first\nFORGE")

# Made so while somebody reads it: who would write waits until that one has closed it, and never maps it. A descriptor
# that the kernel passes through could write over it, by asynchronous requests without O_APPEND.
as_root(make, "late", "first\n", "-a")
reader = os.open(f"{mnt}/late", READ)
as_root(subprocess.check_call, ["chattr", "+a", f"{source}/late"])
fd = opened(f"{mnt}/late", BOTH)
assert fd in (-errno.EBUSY,) or (fd >= 0 and not try_to_map(fd)), fd
appender = opened(f"{mnt}/late", APPEND)
assert appender in (-errno.EBUSY,) or appender >= 0, appender
passed_through = fd < 0
assert (appender < 0) == passed_through, (fd, appender)
os.close(os.open(f"{mnt}/late", READ))
os.close(reader)
for _ in range(5000):  # the kernel tells the daemon of a close a moment later
    again = opened(f"{mnt}/late", BOTH)
    if again >= 0:
        break
    time.sleep(0.02)
assert again >= 0 and not try_to_map(again)
assert os.pread(again, 100, 0) == b"first\n"

# No longer so while it is open: it can be written over again, and mapped.
as_root(subprocess.check_call, ["chattr", "-a", f"{source}/late"])
over = os.open(f"{mnt}/late", OVER)
os.pwrite(over, b"again\n", 0)
assert try_to_map(over)
os.fsync(over)
assert open(f"{source}/late").read() == "FORGE\n"
as_root(subprocess.check_call, ["chattr", "-a", f"{source}/log"])
PYTHON
    stop
done
