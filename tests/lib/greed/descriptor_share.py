#!/usr/bin/env python3
"""A user who opens all there is leaves others descriptors: descriptor_share.py MOUNT LIMIT USER OTHER_USER [setuid], as root,
LIMIT being the daemon's. The tree has files and directories/ of that many of each, which all may use, and mine/ of the
user. With setuid the user does so by set-uid programs of root, and the other is root."""
import errno
import fcntl
import os
import sys
import time

mount, limit = sys.argv[1], int(sys.argv[2])
user, other_user = map(int, sys.argv[3:5])
is_setuid = "setuid" in sys.argv[5:]
room = limit * 3 // 4  # what is not the daemon's own
roots_part = room // 32 if is_setuid else 0  # what root may have, whoever began its programs (fs/inodes/user_room.h)
half = roots_part + (room - roots_part) // 2


def check(what, right):
    if not right:
        print("not so:", what)
        os._exit(1)


def fill(what, n, refusal, take):
    """Takes n, which is to be possible soon (what was closed is given back a moment later), and no more."""
    taken, end = [], time.monotonic() + 60
    while len(taken) < n:
        try:
            taken.append(take(len(taken)))
        except OSError as error:
            check(f"{what}: {error} of {len(taken)}", error.errno == refusal and time.monotonic() < end)
            time.sleep(0.01)
    try:
        take(n)
        check(f"{what}: refused more than {n}", False)
    except OSError as error:
        check(f"{what}: {error}", error.errno == refusal)
    return taken


def close_all(fds):
    for fd in fds:
        os.close(fd)


def open_file(i):
    return os.open(f"{mount}/files/{i}", os.O_RDONLY)


def create(i):
    return os.open(f"{mount}/mine/{i}", os.O_WRONLY | os.O_CREAT)


def open_directory(i):
    return os.open(f"{mount}/directories/{i}", os.O_RDONLY | os.O_DIRECTORY)


def greedy(told, go_on):
    close_all(fill("files", half, errno.ENFILE, open_file))
    close_all(fill("new files", half, errno.ENFILE, create))
    check("what was refused was not made", not os.path.exists(f"{mount}/mine/{half}"))
    # One for the listing, and one by which its attributes are asked.
    close_all(fill("directories", half // 2, errno.ENFILE, open_directory))
    unlock_by_children()
    lock_by_children()
    hold_removed()
    fill("files and what was removed", half, errno.ENFILE, open_file)
    os.write(told, b"f")
    os.read(go_on, 1)


def unlock_by_children():
    """What gives up locks that it has not takes nothing. A child that ends leaves what it took on a file open for reading."""
    fd = open_file(0)
    for _ in range(half + 1):
        if os.fork() == 0:
            try:
                fcntl.lockf(fd, fcntl.LOCK_UN)
            except OSError as error:
                check(f"unlock: {error}", False)
            os._exit(0)
        check("a child unlocks", os.wait()[1] == 0)
    close_all(fill("files beside what was unlocked", half - 1, errno.ENFILE, lambda i: open_file(i + 1)))
    os.close(fd)


def lock_by_children():
    """A process's locks on a file take a descriptor, and children have their parent's files."""
    fds = [open_file(i) for i in range(half // 8)]
    ends = []

    def lock(i):
        to_parent, from_child = os.pipe()
        to_child, from_parent = os.pipe()
        if os.fork() == 0:
            os.close(from_parent)
            n = 0
            try:
                for fd in fds:
                    fcntl.lockf(fd, fcntl.LOCK_SH)
                    n += 1
            except OSError as error:
                check(f"lock: {error}", error.errno == errno.ENOLCK)
            os.write(from_child, bytes([n]))
            os.read(to_child, 1)
            os._exit(0)
        n = os.read(to_parent, 1)[0]
        ends.append(from_parent)
        os.close(to_child)
        return n

    counts = [lock(i) for i in range(12)]
    check(f"locks and files: {counts}", sum(counts) + len(fds) == half)
    close_all(ends)
    for _ in counts:
        os.wait()
    close_all(fds)


def hold_removed():
    """What has lost its name, and is held: by one who has nothing open."""
    for i in range(limit):
        path = f"{mount}/mine/held{i}"
        os.mknod(path)
        os.open(path, os.O_PATH)
        os.remove(path)


def modest():
    for i in range(20):
        fds = [open_file(i), open_directory(i)]
        check("listed", len(os.listdir(f"{mount}/directories")) == limit)
        with open(f"{mount}/anybodys/{i}", "w+") as file:
            file.write("content")
            fcntl.lockf(file, fcntl.LOCK_EX)
        close_all(fds)


def begin(uid, euid, act, *arguments):
    pid = os.fork()
    if pid == 0:
        os.setresuid(uid, euid, euid)
        act(*arguments)
        os._exit(0)
    return pid


to_parent, told = os.pipe()
go_on, to_child = os.pipe()
one = begin(user, 0 if is_setuid else user, greedy, told, go_on)
os.close(told)
check("a user takes half", os.read(to_parent, 1) == b"f")
check("another is served", os.waitpid(begin(other_user, other_user, modest), 0)[1] == 0)
os.write(to_child, b"x")
os.waitpid(one, 0)
