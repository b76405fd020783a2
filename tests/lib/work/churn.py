#!/usr/bin/env python3
"""Random work of several processes in one tree: churn.py DIRECTORY SEED PROCESSES OPERATIONS [VIEWS]

DIRECTORY has work/, where all of them do all there is to do to files and directories, and beside/,
which somebody else changes by another way and which is only read here. With VIEWS there is a mount's
similar/ and clusters/ and another process reads those. Prints a line for each operation. Exits 1 at
an error that other processes at work cannot explain; a mount that ends amid it ends the work.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import random
import signal
import sys
import traceback

base, seed, n_processes, n_operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
libc = ctypes.CDLL(None, use_errno=True)
# What comes of others being faster, or of a choice that makes no sense.
RACES = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR, errno.EINVAL, errno.EMLINK,
         errno.ELOOP, errno.EBUSY, errno.EPERM, errno.EXDEV}
ENDED = {errno.ENOTCONN, errno.ECONNABORTED}
dice = random.Random(seed)


def path(where="work"):
    depth = dice.choice((1, 1, 2, 2, 3))
    return "/".join([base, where] + [f"d{dice.randrange(3)}" for _ in range(depth - 1)] + [f"n{dice.randrange(12)}"])


def directory():
    return "/".join([base, "work"] + [f"d{dice.randrange(3)}" for _ in range(dice.choice((1, 2)))])


def text():
    """One of a few families of documents: within one they resemble each other."""
    family, first = dice.randrange(5), dice.randrange(8)
    return "".join(f"word{family * 1000 + i}\n" for i in range(first, first + dice.choice((0, 3, 60, 90)))).encode()


def opened(flags, name=None):
    return os.fdopen(os.open(name or path(), flags, 0o644), "r+b" if flags & os.O_RDWR else "wb", buffering=0)


def write():
    with opened(os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
        file.write(text())


def append():
    with opened(os.O_WRONLY | os.O_APPEND) as file:
        file.write(text())


def patch():
    with opened(os.O_RDWR) as file:
        os.pwrite(file.fileno(), text(), dice.randrange(3000))
        os.fsync(file.fileno())


def cut():
    os.truncate(path(), dice.randrange(2000))


def map_and_store():
    # A name of its own: who cuts a file under somebody's mapping ends that process, on any file system.
    with opened(os.O_RDWR | os.O_CREAT, f"{base}/work/mapped{os.getpid()}") as file:
        os.ftruncate(file.fileno(), 4096)
        mapping = mmap.mmap(file.fileno(), 4096)
    content = text()[:4000]
    mapping[:len(content)] = content  # after close
    mapping.close()


def save():
    name = path()
    temporary = f"{name}.{os.getpid()}"
    with opened(os.O_WRONLY | os.O_CREAT | os.O_EXCL, temporary) as file:
        file.write(text())
    try:
        os.rename(temporary, name)
    except OSError:
        os.unlink(temporary)
        raise


def nameless():
    name = path()
    fd = os.open(os.path.dirname(name), os.O_TMPFILE | os.O_RDWR, 0o600)
    try:
        os.write(fd, text())
        parent = os.open(os.path.dirname(name), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=parent, follow_symlinks=True)
        finally:
            os.close(parent)
    finally:
        os.close(fd)


def unlinked_and_used():
    name = path()
    with opened(os.O_RDWR) as file:
        os.unlink(name)
        # Another one may have had it open, or another name of it, and write there or cut it just now.
        for _ in range(50):
            file.seek(0)
            file.write(b"still here")
            file.seek(0)
            if file.read(10) == b"still here":
                break
        else:
            sys.exit(f"{name}: lost once it had no name")
        if os.fstat(file.fileno()).st_nlink > 11:
            sys.exit(f"{name}: has very many names")


def rename():
    os.rename(path(), path())


def exchange():
    if libc.renameat2(-100, path().encode(), -100, path().encode(), 2) < 0:
        raise OSError(ctypes.get_errno(), "exchange")


def rename_directory():
    os.rename(directory(), directory())


def lock():
    with opened(os.O_RDWR) as file:
        kind = dice.choice((fcntl.flock, fcntl.lockf))
        kind(file, fcntl.LOCK_EX)
        file.write(text())


def read():
    with open(path(dice.choice(("work", "beside"))), "rb") as file:
        file.read()


def preallocate():
    with opened(os.O_RDWR) as file:
        os.posix_fallocate(file.fileno(), 0, 8192)


def attributes():
    os.setxattr(path(), "user.soak", text()[:100])


def look():
    for entry in os.scandir(directory()):
        entry.stat(follow_symlinks=False)


WAYS = {write: 12, append: 6, patch: 4, cut: 2, map_and_store: 2, save: 6, nameless: 2, unlinked_and_used: 3, rename: 6,
        exchange: 3, rename_directory: 2, lock: 3, read: 8, preallocate: 1, attributes: 2, look: 6,
        lambda: os.link(path(), path()): 4,
        lambda: os.unlink(path()): 5,
        lambda: os.symlink("n1", path()): 1,
        lambda: os.mkdir(directory()): 4,
        lambda: os.rmdir(directory()): 1,
        lambda: os.chmod(path(), dice.choice((0o600, 0o644, 0o640))): 2,
        lambda: os.stat(path()): 6}


def work():
    for _ in range(n_operations):
        way = dice.choices(list(WAYS), list(WAYS.values()))[0]
        try:
            way()
        except OSError as error:
            if error.errno in ENDED:
                return
            # What is only read here may be changed by another way while it is looked up.
            if error.errno not in RACES and not (way is read and error.errno == errno.ESTALE):
                sys.exit(f"{way.__name__}: {error}")
        print("done", flush=True)


def view():
    """Reads similar/ and clusters/ until it is told to end."""
    while True:
        for top in ("similar/work", "clusters"):
            try:
                for where, _, links in os.walk(f"{base}/{top}"):
                    for name in links:
                        os.stat(f"{where}/{name}")
            except OSError as error:
                if error.errno in ENDED:
                    return
                if error.errno not in RACES | {errno.ESTALE}:
                    sys.exit(f"{top}: {error}")
        try:
            os.getxattr(path(), "user.kinfs.similar")
        except OSError as error:
            if error.errno in ENDED:
                return
            if error.errno not in RACES | {errno.ENODATA, errno.ESTALE, errno.EIO}:
                sys.exit(f"user.kinfs.similar: {error}")


def process(function, n, *args):
    pid = os.fork()
    if pid == 0:
        dice.seed(seed * 100 + n)
        code = 1
        try:
            function(*args)
            code = 0
        except SystemExit as end:
            print(end.code, file=sys.stderr, flush=True)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def is_well(status):
    """What stores through a mapping while the daemon dies is ended by the kernel."""
    if status != signal.SIGBUS:
        if status:
            print(f"a process ended with {status}", file=sys.stderr)
        return status == 0
    try:
        os.stat(f"{base}/work")
    except OSError as error:
        return error.errno in ENDED
    return False


for name in ("work", "beside", "work/d0", "work/d1", "work/d2"):
    try:
        os.mkdir(f"{base}/{name}")
    except OSError as error:
        if error.errno not in RACES | ENDED:
            raise
workers = [process(work, n) for n in range(n_processes)]
viewer = process(view, 99) if len(sys.argv) > 5 else None
failed = not all([is_well(os.waitpid(pid, 0)[1]) for pid in workers])
if viewer:
    os.kill(viewer, signal.SIGTERM)
    status = os.waitpid(viewer, 0)[1]
    failed = failed or (status != signal.SIGTERM and not is_well(status))
sys.exit(1 if failed else 0)
