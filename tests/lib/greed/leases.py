#!/usr/bin/env python3
"""A user who holds leases on files of the tree and has them opened through the mount keeps nobody else
waiting: leases.py MOUNT TREE USER OTHER_USER, as root. TREE/leased is the user's, TREE/open anybody's."""
import errno
import fcntl
import os
import signal
import sys
import threading
import time

mount, tree = sys.argv[1:3]
user, other_user = map(int, sys.argv[3:])
N = 270  # more than a user may have of the threads that serve
signal.signal(signal.SIGIO, signal.SIG_IGN)  # nothing is given up when it is asked for


def check(what, right):
    if not right:
        print("not so:", what)
        os._exit(1)


def errno_of(call, *arguments):
    try:
        call(*arguments)
        return 0
    except OSError as error:
        return error.errno


def lease(i):
    fd = os.open(f"{tree}/leased/{i}", os.O_RDWR)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    return fd


def work():
    for i in range(20):
        name = f"{mount}/open/{i}"
        with open(name, "w+") as file:
            file.write("content")
            file.seek(0)
            check("content", file.read() == "content")
        os.rename(name, name + ".moved")
        check("listed", f"{i}.moved" in os.listdir(f"{mount}/open"))
        os.remove(name + ".moved")


begin, to_begin = os.pipe()
other = os.fork()
if other == 0:
    os.close(to_begin)
    os.setresuid(other_user, other_user, other_user)
    if os.read(begin, 1):
        work()
    os._exit(0)
os.setresuid(user, user, user)
held = {i: lease(i) for i in range(N + 2)}
ended = []


def open_one(i):
    flags = (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC)[i % 3]
    fd = os.open(f"{mount}/leased/{i}", flags)
    ended.append(i)
    check("what is open works", i % 3 != 2 or os.write(fd, b"x") == 1)
    check("its flags are the caller's", not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK)
    os.close(fd)


threads = [threading.Thread(target=open_one, args=(i,)) for i in range(N)]
for thread in threads:
    thread.start()
# A lease that somebody is waiting for is said to be what it has to become. The last one is of no thread.
waited_for = set()
while len(waited_for) < N:
    check("all are asked for before one is broken by time", not ended)
    waited_for |= {i for i in range(N) if fcntl.fcntl(held[i], fcntl.F_GETLEASE) != fcntl.F_WRLCK}
    time.sleep(0.01)

# Others are served, and so is this user, while all of those wait.
os.write(to_begin, b"x")
check("another user is served", os.waitpid(other, 0)[1] == 0)
check("who will not wait is told so",
      errno_of(os.open, f"{mount}/leased/{N}", os.O_RDWR | os.O_NONBLOCK) == errno.EWOULDBLOCK)
# The kernel holds the file's lock over it, and who unlinks the file that of the directory.
check("a path is not truncated", errno_of(os.truncate, f"{mount}/leased/{N}", 0) == errno.EWOULDBLOCK)

# Who waits can be killed.
pid = os.fork()
if pid == 0:
    os.open(f"{mount}/leased/{N + 1}", os.O_RDONLY)
    os._exit(0)
while fcntl.fcntl(held[N + 1], fcntl.F_GETLEASE) == fcntl.F_WRLCK:
    check("it does not end by itself", os.waitpid(pid, os.WNOHANG) == (0, 0))
    time.sleep(0.01)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
check("all of that while the others wait", not ended)

for fd in held.values():
    os.close(fd)
for thread in threads:
    thread.join()
check("all are opened then", sorted(ended) == list(range(N)))
check("a path is truncated then", errno_of(os.truncate, f"{mount}/leased/{N}", 0) == 0)

# A lease for reading is against writers, and a record lock needs to be able to be one for writing.
reader = os.open(f"{mount}/leased/0", os.O_RDONLY)
beside = os.open(f"{tree}/leased/0", os.O_RDONLY)
fcntl.fcntl(beside, fcntl.F_SETLEASE, fcntl.F_RDLCK)
check("not at once", errno_of(fcntl.lockf, reader, fcntl.LOCK_SH | fcntl.LOCK_NB) == errno.EAGAIN)
locker = threading.Thread(target=fcntl.lockf, args=(reader, fcntl.LOCK_SH))
locker.start()
fcntl.fcntl(beside, fcntl.F_SETLEASE, fcntl.F_UNLCK)
locker.join()
