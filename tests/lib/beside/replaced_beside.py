#!/usr/bin/env python3
"""replaced_beside.py MOUNT SOURCE

One saves a file in SOURCE as editors do, again and again as fast as it can, and makes a directory anew by
exchange; others use both by their names in MOUNT. A name is there at every moment, so nothing may fail, and
each sees a whole file. What one makes there may be replaced or removed at once; that is no error but that.
"""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from operations.kernel import EXCHANGE, renameat2  # noqa: E402

N = 1500
SIZE = 5000
mount, source = sys.argv[1:]
name, directory = f"{mount}/file", f"{mount}/directory"


def write(path):
    with open(path, "wb") as file:
        file.write(b"x" * SIZE)


def replace():
    os.chdir(source)
    while True:
        write("new")
        os.rename("new", "file")
        os.mkdir("other")
        write("other/in")
        renameat2("other", "directory", EXCHANGE)
        os.unlink("other/in")
        os.rmdir("other")
        write("new")
        os.rename("new", "made")
        os.unlink("made")


def read():
    with open(name, "rb") as file:
        content = file.read()
        assert content == b"x" * SIZE, f"{len(content)} bytes"


def look():
    assert os.stat(name).st_size == SIZE


def hold():
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    try:
        assert os.fstat(fd).st_size == SIZE
        assert os.pread(fd, 10, SIZE - 5) == b"xxxxx"
        os.pwrite(fd, b"x", 0)
        os.fchmod(fd, 0o640)
        assert os.fstat(fd).st_size == SIZE
    finally:
        os.close(fd)


def change():
    os.chmod(name, 0o600)
    os.utime(name)
    os.truncate(name, SIZE)


def list_directory():
    names = os.listdir(directory)
    assert names in (["in"], []), names
    os.stat(directory)


def make():
    """What is made may be replaced, by what is of another type, before its maker is told."""
    try:
        os.symlink("nowhere", f"{mount}/made")
    except (FileExistsError, FileNotFoundError):
        pass


def run(function):
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        for i in range(N):
            function()
        code = 0
    except BaseException as error:  # told, and not lost with the child
        print(f"{function.__name__}, round {i}: {type(error).__name__}: {error}", flush=True)
    os._exit(code)


write(f"{source}/file")
os.mkdir(f"{source}/directory")
write(f"{source}/directory/in")
replacer = os.fork()
if replacer == 0:
    replace()
failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in [run(f) for f in (read, look, hold, change, list_directory, make)])
alive = os.waitpid(replacer, os.WNOHANG) == (0, 0)
if alive:
    os.kill(replacer, signal.SIGKILL)
    os.waitpid(replacer, 0)
sys.exit(bool(failed) or not alive)
