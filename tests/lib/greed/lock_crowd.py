#!/usr/bin/env python3
"""A user who waits for locks without end leaves others room to wait: lock_crowd.py FILE USER OTHER_USER [setuid], as root.
Anybody may read and write the file. With setuid the user does so by set-uid programs of root, and the other is root."""
import errno
import fcntl
import os
import signal
import sys
import threading
import time

path = sys.argv[1]
user, other_user = map(int, sys.argv[2:4])
is_setuid = "setuid" in sys.argv[4:]
ROOTS_PART = 1024 // 32 if is_setuid else 0  # what root may have, whoever began its programs (fs/inodes/user_room.h)
SHARE = ROOTS_PART + (1024 - ROOTS_PART) // 2  # of WAITERS_MAX, what one user may have
N = SHARE + 40


def check(what, right):
    if not right:
        print("not so:", what)
        os._exit(1)


def lock(fd, i):
    """Of both kinds, which come out of one room."""
    if i % 2:
        fcntl.flock(fd, fcntl.LOCK_SH)
    else:
        fcntl.lockf(fd, fcntl.LOCK_SH, 1, i)


def crowd(told):
    """Threads that wait. Tells of each that is refused."""
    granted, refused = [], []

    def wait(i):
        fd = os.open(path, os.O_RDWR)
        try:
            lock(fd, i)
            granted.append(i)
        except OSError as error:
            check("refused with ENOLCK", error.errno == errno.ENOLCK)
            refused.append(i)
            os.write(told, b"r")

    threads = [threading.Thread(target=wait, args=(i,)) for i in range(N)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("all others are granted", (len(granted), len(refused)) == (SHARE, N - SHARE))


class Woken(Exception):
    pass


def wake(*_):
    raise Woken


def other(told):
    """One who waits, is woken, and waits again."""
    fd = os.open(path, os.O_RDWR)
    signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        lock(fd, 1)
        check("granted while somebody has it", False)
    except Woken:
        os.write(told, b"w")
    lock(fd, 1)
    lock(fd, 2)


def begin(uid, euid, act):
    read_end, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        os.setresuid(uid, euid, euid)
        act(told)
        os._exit(0)
    os.close(told)
    os.set_blocking(read_end, False)
    return pid, read_end


def is_told(read_end, n):
    """Whether so many are told of, soon."""
    said, end = b"", time.monotonic() + 60
    while len(said) < n and time.monotonic() < end:
        try:
            said += os.read(read_end, n - len(said))
        except BlockingIOError:
            time.sleep(0.01)
    return len(said) == n


holder = os.open(path, os.O_RDWR)
fcntl.flock(holder, fcntl.LOCK_EX)
fcntl.lockf(holder, fcntl.LOCK_EX)
many, of_many = begin(user, 0 if is_setuid else user, crowd)
check("what is more than a user's share is refused", is_told(of_many, N - SHARE))
one, of_one = begin(other_user, other_user, other)
check("another user waits", is_told(of_one, 1))
fcntl.flock(holder, fcntl.LOCK_UN)
fcntl.lockf(holder, fcntl.LOCK_UN)
check("another user is granted", os.waitpid(one, 0)[1] == 0)
check("and those who waited", os.waitpid(many, 0)[1] == 0)
