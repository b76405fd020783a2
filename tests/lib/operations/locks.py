"""Record locks, locks of open files, flock(2), leases: what one process sees. What two see, by the
mount and by the backing tree, is in tests/lib/work/locks.py."""
import errno
import fcntl
import os
import signal
import struct
import threading
import time

from operations.trial import child, operation, opened

OFD_GETLK, OFD_SETLK, OFD_SETLKW = 36, 37, 38


def lock(kind, start=0, length=0):
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)


def unpacked(data):
    kind, _, start, length, pid = struct.unpack("hhqqi4x", data)
    return kind, start, length, (pid > 0) - (pid < 0)


@operation()
def records(t):
    fd = opened("f")
    t.show("lock", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 10, 10))
    t.show("one's own is no obstacle", lambda: unpacked(fcntl.fcntl(fd, fcntl.F_GETLK, lock(fcntl.F_WRLCK)))[0])

    def other(part):
        mine = opened("f")
        part.show("obstacle", lambda: unpacked(fcntl.fcntl(mine, fcntl.F_GETLK, lock(fcntl.F_WRLCK))))
        part.show("refused", fcntl.fcntl, mine, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 15, 1))
        part.show("beside", fcntl.fcntl, mine, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 20, 5))
        part.show("not waiting for ever", interrupted, lambda: fcntl.fcntl(mine, fcntl.F_SETLKW, lock(fcntl.F_WRLCK)))

    t.in_child(other)
    t.show("shared in the middle", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 13, 2))
    t.in_child(lambda part: [part.show(f"at {at}", lambda: unpacked(fcntl.fcntl(
        opened("f"), fcntl.F_GETLK, lock(fcntl.F_WRLCK, at, 1)))) for at in (9, 10, 13, 15, 19, 20)])
    t.show("unlock a part", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_UNLCK, 12, 4))
    t.in_child(lambda part: [part.show(f"then at {at}", lambda: unpacked(fcntl.fcntl(
        opened("f"), fcntl.F_GETLK, lock(fcntl.F_WRLCK, at, 1)))) for at in (11, 12, 15, 16)])
    os.close(opened("f"))
    t.in_child(lambda part: part.show("any close unlocks", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
    reader, writer = opened("f", os.O_RDONLY), opened("f", os.O_WRONLY)
    t.show("for writing by one for reading", fcntl.fcntl, reader, fcntl.F_SETLK, lock(fcntl.F_WRLCK))
    t.show("for reading by one for writing", fcntl.fcntl, writer, fcntl.F_SETLK, lock(fcntl.F_RDLCK))
    t.show("of no kind", fcntl.fcntl, fd, fcntl.F_SETLK, lock(9))
    t.show("to the end of all", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 1 << 62, 0))
    t.show("backwards", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 100, -10))
    t.show("before the start", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 0, -10))


def interrupted(function):
    """What a signal without SA_RESTART makes of a wait."""
    class Rung(Exception):
        pass

    rung = []

    def ring(*_):  # once; again and again it comes for the case that the wait had not begun
        if not rung:
            rung.append(True)
            raise Rung
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        return function()
    except Rung:
        return "interrupted"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def soon(function):
    """The kernel tells of the last close of a file a moment after it."""
    end = time.monotonic() + 100
    while True:
        try:
            return function()
        except BlockingIOError:
            if time.monotonic() > end:
                raise


@operation()
def closes_that_unlock(t):
    """A process's record locks end with any close of the file, also of one it had only read from."""
    for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDONLY):
        fd = opened("f")
        fcntl.fcntl(fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK))
        t.in_child(lambda part: part.show("held", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
        t.in_child(lambda part: os.close(fd))
        t.in_child(lambda part: part.show("another's close is nothing", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
        os.close(opened("f", flags))
        t.in_child(lambda part: part.show("gone", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
        os.close(fd)
    fd = opened("f", os.O_RDONLY)
    fcntl.fcntl(fd, fcntl.F_SETLK, lock(fcntl.F_RDLCK))
    t.in_child(lambda part: part.show("shared, held", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
    os.close(fd)
    t.in_child(lambda part: part.show("shared, gone", soon, lambda: fcntl.fcntl(opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK))))


class Wait:
    """A thread that waits for a lock on the first byte of a file, which a child holds until granted()."""

    def __init__(self, path, fd):
        held, told = os.pipe()
        ended, self.end = os.pipe()

        def hold():
            os.close(self.end)
            fcntl.fcntl(opened(path), fcntl.F_SETLK, lock(fcntl.F_WRLCK, 0, 1))
            os.write(told, b"x")
            os.read(ended, 1)

        self.holder = child(hold)
        os.read(held, 1)
        self.result = None
        self.thread = threading.Thread(target=self.wait, args=(fd,), daemon=True)
        self.thread.start()
        inode = os.stat(path).st_ino
        while not is_awaited(inode):
            time.sleep(0.001)

    def wait(self, fd):
        try:
            self.result = fcntl.fcntl(fd, fcntl.F_SETLKW, lock(fcntl.F_WRLCK, 0, 1))
        except OSError as error:
            self.result = error

    def granted(self):
        os.close(self.end)
        os.waitpid(self.holder, 0)
        self.thread.join()
        if isinstance(self.result, OSError):
            raise self.result


def is_awaited(inode):
    with open("/proc/locks") as locks:
        return any("->" in line and f":{inode} " in line for line in locks)


@operation()
def closes_beside_a_wait(t):
    """A close ends the locks that a process has, and not one that another thread is granted later."""
    fd = opened("f")
    fcntl.fcntl(fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 1, 1))
    wait = Wait("f", fd)
    os.close(opened("f"))
    t.in_child(lambda part: part.show("gone", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK, 1, 1)))
    t.show("locked meanwhile", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 2, 1))
    t.show("granted", wait.granted)
    t.in_child(lambda part: [part.show(f"held at {at}", fcntl.fcntl, opened("f"), fcntl.F_SETLK,
                                       lock(fcntl.F_WRLCK, at, 1)) for at in (0, 2)])
    os.close(fd)
    t.in_child(lambda part: part.show("ended", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))


@operation()
def last_close_beside_a_wait(t):
    """Likewise the close of a file open for reading, of which a mount is told later."""
    os.close(opened("f"))
    reader, fd = opened("f", os.O_RDONLY), opened("f")
    wait = Wait("f", fd)
    t.show("locked meanwhile", fcntl.fcntl, reader, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 2, 1))
    os.close(reader)
    t.show("granted", wait.granted)
    t.in_child(lambda part: part.show("held", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK, 0, 1)))
    os.close(fd)
    t.in_child(lambda part: part.show("ended", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))


@operation()
def of_open_files(t):
    a, b = opened("f"), opened("f")
    t.show("lock", fcntl.fcntl, a, OFD_SETLK, lock(fcntl.F_WRLCK, 0, 10))
    t.show("refused in one process", fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_WRLCK, 5, 1))
    t.show("beside", fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_WRLCK, 10, 1))
    t.show("obstacle", lambda: unpacked(fcntl.fcntl(b, OFD_GETLK, lock(fcntl.F_WRLCK, 0, 1))))
    t.show("refused to a record lock", fcntl.fcntl, a, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 0, 1))
    t.show("not waiting for ever", interrupted, lambda: fcntl.fcntl(b, OFD_SETLKW, lock(fcntl.F_WRLCK, 0, 1)))
    os.close(opened("f"))
    t.show("another close is nothing to it", fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_WRLCK, 5, 1))
    copy = os.dup(a)
    os.close(a)
    t.show("held by the copy", fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_WRLCK, 5, 1))
    os.close(copy)
    t.show("until that is closed", soon, lambda: fcntl.fcntl(b, OFD_SETLK, lock(fcntl.F_WRLCK, 5, 1)))


FOR_READING = "the owner's descriptor is for reading, and another would be another owner to the tree"


@operation(users=("user",), differs={"for writing later": ("EBADF", FOR_READING)})
def rights_given_while_locked(t):
    os.close(opened("f", mode=0o444))
    reader = opened("f", os.O_RDONLY)
    t.show("shared by one who may not write", fcntl.fcntl, reader, fcntl.F_SETLK, lock(fcntl.F_RDLCK))
    os.chmod("f", 0o644)
    fd = opened("f")
    t.show("for writing later", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK))
    t.in_child(lambda part: part.show("still locked", fcntl.fcntl, opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
    os.close(opened("f"))
    t.show("for writing after a close", fcntl.fcntl, fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK))


@operation()
def of_files(t):
    a, b = opened("f"), opened("f", os.O_RDONLY)
    t.show("exclusive", fcntl.flock, a, fcntl.LOCK_EX)
    t.show("refused", fcntl.flock, b, fcntl.LOCK_SH | fcntl.LOCK_NB)
    t.show("not waiting for ever", interrupted, lambda: fcntl.flock(b, fcntl.LOCK_EX))
    t.show("made shared", fcntl.flock, a, fcntl.LOCK_SH)
    t.show("two share", fcntl.flock, b, fcntl.LOCK_SH | fcntl.LOCK_NB)
    t.show("not exclusive then", fcntl.flock, a, fcntl.LOCK_EX | fcntl.LOCK_NB)
    t.show("unlock", fcntl.flock, b, fcntl.LOCK_UN)
    t.show("exclusive then", fcntl.flock, a, fcntl.LOCK_EX | fcntl.LOCK_NB)
    copy = os.dup(a)
    os.close(a)
    t.show("held by the copy", fcntl.flock, b, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(copy)
    t.show("until that is closed", soon, lambda: fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB))
    t.show("beside a record lock", lambda: fcntl.fcntl(opened("f"), fcntl.F_SETLK, lock(fcntl.F_WRLCK)))
    t.show("of a directory", fcntl.flock, os.open(".", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    t.show("of no kind", fcntl.flock, b, 0)


@operation()
def leases(t):
    fd = opened("f")
    t.show("none", fcntl.fcntl, fd, fcntl.F_GETLEASE)
    t.show("for writing", fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    t.show("held", fcntl.fcntl, fd, fcntl.F_GETLEASE)
    t.show("given up", fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    os.close(fd)
    reader = opened("f", os.O_RDONLY)
    t.show("for reading", fcntl.fcntl, reader, fcntl.F_SETLEASE, fcntl.F_RDLCK)


DEADLOCK = "nobody is told which locks are a process's, and which of open files, that may wait in circles"


@operation(differs={"a circle": ("interrupted", DEADLOCK)})
def deadlocks(t):
    fd = opened("f")
    fcntl.fcntl(fd, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 0, 1))
    ready, told = os.pipe()

    def other():
        mine = opened("f")
        fcntl.fcntl(mine, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 1, 1))
        os.write(told, b"x")
        fcntl.fcntl(mine, fcntl.F_SETLKW, lock(fcntl.F_WRLCK, 0, 1))

    pid = child(other)
    os.read(ready, 1)
    wait_until_waiting(pid)
    try:
        t.note("a circle", interrupted(lambda: fcntl.fcntl(fd, fcntl.F_SETLKW, lock(fcntl.F_WRLCK, 1, 1))))
    except OSError as error:
        t.note("a circle", errno.errorcode[error.errno])
    os.close(fd)
    t.show("the other has it then", lambda: os.waitpid(pid, 0)[1])


def wait_until_waiting(pid):
    """No event tells it: the system call a process stands in is looked at."""
    while True:
        with open(f"/proc/{pid}/syscall") as call:
            if call.read().split()[0] == "72":  # fcntl; elsewhere than on x86-64 this never ends
                return
