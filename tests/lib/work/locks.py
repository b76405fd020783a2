#!/usr/bin/env python3
"""Locks on a file seen by two ways: locks.py PATH PATH [BACKING_PATH]. Exits 1 where one differs
from what POSIX and flock(2) say."""
import errno
import fcntl
import os
import select
import signal
import struct
import sys
import time

here, there = sys.argv[1], sys.argv[2]


class Other:
    """A process that does what it is told."""

    def __init__(self, path):
        self.to, self.back = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.obey(path)
            os._exit(0)
        os.close(self.to[0])
        os.close(self.back[1])

    def obey(self, path):
        os.close(self.to[1])
        fd = os.open(path, os.O_RDWR)
        while True:
            word = os.read(self.to[0], 1)
            if not word:
                return
            try:
                fd = self.act(word, path, fd)
                answer = b"y"
            except OSError as error:
                answer = b"n" if error.errno in (errno.EAGAIN, errno.EACCES) else b"e"
            os.write(self.back[1], answer)

    def act(self, word, path, fd):
        if word == b"w":
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif word == b"r":
            fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        elif word == b"W":
            fcntl.lockf(fd, fcntl.LOCK_EX)
        elif word == b"u":
            fcntl.lockf(fd, fcntl.LOCK_UN)
        elif word == b"2":
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
        elif word == b"c":  # any close of the file ends all locks of a process
            os.close(os.open(path, os.O_RDWR))
        elif word == b"f":
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif word == b"F":
            fcntl.flock(fd, fcntl.LOCK_EX)
        elif word == b"U":
            fcntl.flock(fd, fcntl.LOCK_UN)
        elif word == b"x":
            os.close(fd)
            fd = os.open(path, os.O_RDWR)
        return fd

    def tell(self, word):
        os.write(self.to[1], word)

    def answer(self):
        return os.read(self.back[0], 1).decode()

    def ask(self, word):
        self.tell(word)
        return self.answer()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.to[1])
        os.close(self.back[0])
        os.waitpid(self.pid, 0)


def expect(what, wanted, got):
    if wanted != got:
        print(f"{here} and {there}: {what}: expected {wanted}, got {got}")
        sys.exit(1)


def is_waiting(other):
    """Until the process stands in the system call: there is no event to wait for."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        with open(f"/proc/{other.pid}/syscall") as file:
            # 72: fcntl, 73: flock (x86-64); elsewhere: not running will do
            if not file.read().startswith("running"):
                with open(f"/proc/{other.pid}/wchan") as wchan:
                    if "pipe" not in wchan.read():
                        return
        time.sleep(0.001)


def granted_soon(other, what):
    """The last close, of which close(2) does not wait for the end, may come a moment later."""
    end = time.monotonic() + 100
    while (got := other.ask(what)) != "y" and time.monotonic() < end:
        pass
    return got


a, b = Other(here), Other(there)
for exclusive, wait, unlock, name in ((b"w", b"W", b"u", "record"), (b"f", b"F", b"U", "flock")):
    expect(f"{name}: first", "y", a.ask(exclusive))
    expect(f"{name}: refused", "n", b.ask(exclusive))
    expect(f"{name}: unlock", "y", a.ask(unlock))
    expect(f"{name}: free again", "y", b.ask(exclusive))
    a.tell(wait)
    is_waiting(a)
    expect(f"{name}: unlock wakes", "y", b.ask(unlock))
    expect(f"{name}: granted", "y", a.answer())
    expect(f"{name}: refused to the former", "n", b.ask(exclusive))
    expect(f"{name}: close unlocks", "y", a.ask(b"x"))
    expect(f"{name}: after close", "y", granted_soon(b, exclusive))
    # Whoever waits can be killed, and holds nothing then.
    victim = Other(here)
    victim.tell(wait)
    is_waiting(victim)
    victim.end()
    expect(f"{name}: unlock", "y", b.ask(unlock))
    expect(f"{name}: the killed one left nothing", "y", a.ask(exclusive))
    holder = Other(here)
    expect(f"{name}: unlock", "y", a.ask(unlock))
    expect(f"{name}: held", "y", holder.ask(exclusive))
    holder.end()
    expect(f"{name}: death unlocks", "y", granted_soon(b, exclusive))
    expect(f"{name}: unlock", "y", b.ask(unlock))

expect("shared", "y", a.ask(b"r"))
expect("shared by two", "y", b.ask(b"r"))
expect("not exclusive then", "n", b.ask(b"w"))
expect("unlock", "y", a.ask(b"u"))
expect("upgraded", "y", b.ask(b"w"))
expect("close of another descriptor", "y", b.ask(b"c"))
expect("free", "y", a.ask(b"w"))
expect("unlock", "y", a.ask(b"u"))
expect("a range", "y", a.ask(b"2"))
expect("the same range", "n", b.ask(b"2"))
expect("all", "n", b.ask(b"w"))

# Who holds it is told where that can be known.
probe = os.open(there, os.O_RDWR)
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
kind, _, start, length, pid = struct.unpack("hhqqi4x", fcntl.fcntl(probe, fcntl.F_GETLK, lock))
expect("held range", (fcntl.F_WRLCK, 10, 10), (kind, start, length))
if os.path.dirname(here) == os.path.dirname(there):
    expect("holder", True, pid in (a.pid, 0))
os.close(probe)

# Many wait at once, and the unlock is served all the same.
expect("unlock", "y", a.ask(b"u"))
expect("lock", "y", a.ask(b"w"))
crowd = [Other(there) for _ in range(60)]
for one in crowd:
    one.tell(b"W")
for one in crowd:
    is_waiting(one)
expect("unlock", "y", a.ask(b"u"))
waiting = list(crowd)
while waiting:
    ready, _, _ = select.select([one.back[0] for one in waiting], [], [], 20)
    if not ready:
        print("some wait for ever")
        sys.exit(1)
    for one in [one for one in waiting if one.back[0] in ready]:
        expect("granted", "y", one.answer())
        one.end()
        waiting.remove(one)
a.end()
b.end()
