#!/usr/bin/env python3
"""late_answers.py MOUNT SOURCE DAEMON-PID

Answers that are taken by who asked only after the next change was made, as on a busy machine: the one who
asks is kept from his processor, by one who has it for himself, from before he is answered until after the
change. Then the mount shows what the tree holds, and goes on to.
"""
import os
import sys
import time

from operations.kernel import KEEP_SIZE, PUNCH_HOLE, fallocate

ROUNDS = 2
LATE_S = 0.4  # the kernel lets nobody keep others waiting for a second


def pass_on(pid, processors):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), processors)


def child(function):
    """Its pid, and where to read what it says."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function(writer)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    return pid, reader


def ended(pid, what):
    if os.waitpid(pid, 0)[1]:
        sys.exit(f"{what}: failed")


class Late:
    def __init__(self, daemon):
        self.daemon = daemon
        self.others, self.his = set(sorted(processors)[1:]), {min(processors)}
        pass_on(daemon, self.others)
        os.sched_setaffinity(0, self.others)

    def asks(self, ask):
        def run(writer):
            os.sched_setaffinity(0, self.his)
            os.write(writer, b".")
            ask()
        pid, reader = child(run)
        os.read(reader, 1)
        os.close(reader)
        return pid

    def has_the_processor(self, writer):
        os.sched_setaffinity(0, self.his)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.write(writer, b".")
        end = time.monotonic() + LATE_S
        while time.monotonic() < end:
            pass

    def answered(self, ask, change):
        """Does what changes things between that ask() is answered and that it takes the answer."""
        os.kill(self.daemon, 19)
        try:
            asker = self.asks(ask)
            time.sleep(0.05)
            hog, started = child(self.has_the_processor)
            os.read(started, 1)
        finally:
            os.kill(self.daemon, 18)
        change()
        ended(hog, "who has the processor")
        os.close(started)
        ended(asker, "who asks")


def described(st):
    return {"ino": st.st_ino, "mode": oct(st.st_mode), "links": st.st_nlink, "size": st.st_size, "blocks": st.st_blocks,
            "modified": st.st_mtime_ns, "changed": st.st_ctime_ns}


def touch(path):
    """By one who does not write, of whose end nobody is told."""
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o644))


class Directory:
    """Asked about while a name is made in it."""

    def __init__(self, mount, source, name):
        os.mkdir(f"{source}/{name}")
        self.path, self.names = f"{mount}/{name}", [name, f"{name}/file"]

    def run(self, late):
        fd = os.open(self.path, os.O_RDONLY)
        os.listdir(fd)  # after which the kernel knows all but when it was last read
        late.answered(lambda: os.fstat(fd), lambda: touch(f"{self.path}/file"))
        os.close(fd)


class File:
    """Asked about while it is changed."""

    def __init__(self, mount, source, name):
        with open(f"{source}/{name}", "w") as file:
            file.write("text" * 10000)
        self.path, self.names = f"{mount}/{name}", [name]

    def run(self, late):
        fd = os.open(self.path, os.O_RDWR)  # and left open: its close would be told of
        os.read(fd, 100)
        late.answered(lambda: os.fstat(fd), lambda: self.change(fd))


class Moved(File):
    def change(self, fd):
        os.rename(self.path, f"{self.path}.new")
        self.names[0] += ".new"


class Punched(File):
    def change(self, fd):
        fallocate(fd, PUNCH_HOLE | KEEP_SIZE, 8192, 8192)


class Created:
    """Given another name beside the mount before its maker knows that it is made; looked up by that, and changed."""

    def __init__(self, mount, source, name):
        self.mount, self.source, self.here, self.there = mount, source, f"{name}.here", f"{name}.there"
        os.mkdir(f"{source}/{self.here}")
        os.mkdir(f"{source}/{self.there}")
        self.names = [f"{self.here}/file"]  # whoever looks up the other one is told how it is

    def change(self):
        while not os.path.lexists(f"{self.source}/{self.here}/file"):
            time.sleep(0.001)
        os.link(f"{self.source}/{self.here}/file", f"{self.source}/{self.there}/file")
        while not os.path.lexists(f"{self.mount}/{self.there}/file"):
            time.sleep(0.001)
        os.chmod(f"{self.source}/{self.there}/file", 0o600)

    def run(self, late):
        for name in self.here, self.there:
            os.path.lexists(f"{self.mount}/{name}/none")
        os.path.lexists(f"{self.mount}/{self.here}/file")  # that there is none is known: it is made at once
        late.answered(lambda: touch(f"{self.mount}/{self.here}/file"), self.change)


def look(path):
    try:
        return described(os.lstat(path))
    except OSError as error:
        return error.errno


def differing(mount, source, case):
    both = [(name, look(f"{mount}/{name}"), look(f"{source}/{name}")) for name in case.names]
    return [f"{name}: {there} there, {here} here" for name, here, there in both if here != there]


def main(mount, source, daemon):
    late = Late(int(daemon))
    cases = [kind(mount, source, f"{kind.__name__}{i}") for i in range(ROUNDS)
             for kind in (Directory, Moved, Punched, Created)]
    time.sleep(1.5)  # of what was changed a moment ago the kernel may be told again
    for case in cases:
        case.run(late)
    end = time.monotonic() + 40  # below the minute for which the kernel may keep answers
    while any(differing(mount, source, case) for case in cases) and time.monotonic() < end:
        time.sleep(0.1)
    sys.exit("\n".join(line for case in cases for line in differing(mount, source, case)) or None)


processors = os.sched_getaffinity(0)
main(*sys.argv[1:])
