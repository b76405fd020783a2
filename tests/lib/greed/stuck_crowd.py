#!/usr/bin/env python3
"""A user whose lookups do not end leaves others threads that serve: stuck_crowd.py MOUNT TREE HANGING USER OTHER_USER DAEMON HOW,
as root.

TREE/own is the user's, TREE/open anybody's, TREE/page a file that all may read; HANGING is a file of a file system of the user's, whose reads are never answered.
Getdents(2) of TREE/own into a mapping of that file keeps the directory locked, so that each name of it looked up through the
mount stands in the daemon, whose process is DAEMON. Prints "held" when more were asked for than the user may have threads, and
others were served; then the file system is to be ended. HOW is what else is asked for meanwhile:

serve    lookups and new directories where others are served, for each of which the kernel has the directory locked; all are
         refused, and not each after the other
setuid   the same, by set-uid programs of root that the user begins
root     the same, by root itself, who takes none of the others' either
page     what others read, whose pages the kernel has locked until it has them; it is refused, and the others read
kill     more lookups, while the daemon gets no memory for large buffers; those who asked are killed
write    more to be written than the daemon keeps; it is refused, and what was open is closed at the end
close    nothing: HANGING is in the tree, and the user closes more files of it than the kernel may have requests for in the background,
         when no close is answered any more
mapped   nothing: the user has the kernel write what was stored in a mapping of a file of the tree, which is locked for good
abort    something to be written; the mount is ended (by who reads "held") first, and it is not written
"""
import ctypes
import errno
import mmap
import os
import resource
import select
import signal
import threading
import sys
import time

mount, tree, hanging = sys.argv[1:4]
user, other_user, daemon = map(int, sys.argv[4:7])
how = sys.argv[7]
ROOTS_PART = 512 // 32 if how == "setuid" else 0  # what root may have, whoever began its programs (fs/inodes/user_room.h)
SHARE = ROOTS_PART + (512 - ROOTS_PART) // 2  # of SERVE_MOST_THREADS (fs/serve_private.h), what one user may have
MORE = 44
ASIDE_BYTES = 128 << 20  # what a user's requests that have no thread may take: half of MOST_ASIDE_BYTES
N_WRITERS = (ASIDE_BYTES >> 20) + 12
CONTENT = b"x" * (1 << 20)
SYS_GETDENTS64 = {"x86_64": 217, "aarch64": 61}[os.uname().machine]


def check(what, right):
    if not right:
        print("not so:", what)
        os._exit(1)


def begin(uid, act, *arguments, effective=None):
    pid = os.fork()
    if pid == 0:
        if uid:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            euid = uid if effective is None else effective
            os.setresuid(uid, euid, euid)
        act(*arguments)
        os._exit(0)
    return pid


def is_asleep(pid):
    """Or has ended."""
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] in "SDZ"


def until(what, is_so):
    end = time.monotonic() + 60
    while not is_so():
        check(what, time.monotonic() < end)
        time.sleep(0.01)


def lister(told):
    fd = os.open(hanging, os.O_RDONLY)
    where = mmap.mmap(fd, 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(where))
    directory = os.open(f"{tree}/own", os.O_RDONLY | os.O_DIRECTORY)
    libc = ctypes.CDLL(None)
    os.write(told, b"l")
    libc.syscall(SYS_GETDENTS64, directory, ctypes.c_void_p(address), 4096)


def maker(told):
    """Waits for the directory's lock, and whoever looks a name up in it waits behind."""
    os.write(told, b"m")
    os.mkdir(f"{tree}/own/new")


def asker(told, ask, path):
    os.write(told, b"s")
    try:
        ask(path)
    except OSError as error:
        os.write(told, {errno.ENOENT: b"n", errno.EAGAIN: b"a"}.get(error.errno, b"?"))


def reader_ahead(told, fd):
    """Does not wait for it."""
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
    os.write(told, b"p")


def writer(told, i, go):
    fd = os.open(f"{mount}/open/written{i}", os.O_WRONLY | os.O_CREAT)
    os.write(fd, b"x")  # Before the first write(2) the kernel asks for attributes.
    os.write(told, b"o")
    os.read(go, 1)
    os.write(told, b"s")
    try:
        n = os.pwrite(fd, CONTENT, 0)
        os.write(told, b"w" if n == len(CONTENT) else b"?")
    except OSError as error:
        os.write(told, b"r" if error.errno in (errno.ENOMEM, errno.EAGAIN) else b"e")
    os.close(fd)
    os.write(told, b"c")


def look(path):
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        return error


def serve_names(name):
    """What needs a thread, and the locks of directories where the user asked too."""
    for i in range(20):
        try:
            os.stat(f"{mount}/{name}{i}")
            check("what is not there", False)
        except FileNotFoundError:
            pass
        with open(f"{mount}/open/{name}{i}", "x") as file:
            file.write(name)
        os.rename(f"{mount}/open/{name}{i}", f"{mount}/open/{name}{i}.moved")
        os.unlink(f"{mount}/open/{name}{i}.moved")


def served(name):
    try:
        if how in ("page", "close"):
            with open(f"{mount}/page", "rb") as file:
                check("the page", file.read() == b"page")
        serve_names(name)
    except OSError as error:
        mounts = [line.split()[3:5] for line in open("/proc/self/mountinfo") if mount in line]
        print(f"{error}; in the tree: {look(tree + '/open')}, in the mount: {look(mount)}, {look(mount + '/open')}; "
              f"mounted: {mounts}; daemon: {os.path.exists(f'/proc/{daemon}')}", flush=True)
        raise


class Crowd:
    """Processes of the user, and what they tell, a letter each."""

    def __init__(self):
        self.heard, self.pids = "", []
        self.read_end, self.told = os.pipe()

    def hear(self, kinds, n):
        while sum(map(self.heard.count, kinds)) < n:
            check(f"{n} tell {kinds}: {self.heard}", select.select([self.read_end], [], [], 60)[0])
            self.heard += os.read(self.read_end, 4096).decode()

    def add(self, act, *arguments):
        uid = 0 if how == "root" else user
        self.pids.append(begin(uid, act, self.told, *arguments, effective=0 if how == "setuid" else None))


def served_all(uids):
    pids = [begin(uid, served, f"of{uid}") for uid in uids]

    def is_over():
        for pid in list(pids):
            ended, status = os.waitpid(pid, os.WNOHANG)
            check("others are served rightly", status == 0)
            if ended:
                pids.remove(pid)
        return not pids

    until("others are served", is_over)


def threads_of_daemon():
    return set(os.listdir(f"/proc/{daemon}/task"))


def stand(crowd, n, ask, path):
    """Each asks for a name of its own, which was never looked up: the tree knows without its lock what is not there."""
    before = crowd.heard.count("s")
    for i in range(before, before + n):
        crowd.add(asker, ask, f"{mount}/{path}-{how}-{i}")
    crowd.hear("s", before + n)
    until("all stand", lambda: all(map(is_asleep, crowd.pids)))


def limit_memory():
    """To little more than it has: for short requests, but not for many buffers."""
    with open(f"/proc/{daemon}/status") as status:
        size = next(int(line.split()[1]) for line in status if line.startswith("VmSize:")) * 1024
    resource.prlimit(daemon, resource.RLIMIT_AS, (size + MORE * (1 << 20) // 2, resource.RLIM_INFINITY))


def kill(crowd):
    """They are told by who waits for an answer that is not begun, and so end."""
    victims = [crowd.pids.pop() for _ in range(MORE)]
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    until("who is killed ends", lambda: all(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for pid in victims))
    for pid in victims:
        os.waitpid(pid, 0)


def begin_writers(crowd, n):
    """They have their files open before the user has no thread left. Returns what lets them write."""
    go, let_go = os.pipe()
    for i in range(n):
        crowd.add(writer, i, go)
    crowd.hear("o", n)
    os.close(go)
    return lambda: os.write(let_go, b"g" * n)


N_CLOSED = 2048 + MORE  # of MOST_IN_BACKGROUND (fs/connection.c)
N_STORED, APART = 1200, 4 << 20  # each is a request of its own


def closer(told, go):
    files = [os.open(f"{mount}/hanging/f", os.O_RDONLY) for _ in range(N_CLOSED)]
    os.write(told, b"o")
    os.read(go, 1)
    for fd in files:
        os.close(fd)
    os.write(told, b"c")


def storer(told, go):
    """Locks the file by a write(2) in the tree, of what cannot be read."""
    fd = os.open(f"{mount}/open/mapped", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, N_STORED * APART)
    stored = mmap.mmap(fd, N_STORED * APART)
    below, source = os.open(f"{tree}/open/mapped", os.O_WRONLY), os.open(hanging, os.O_RDONLY)
    unread = mmap.mmap(source, 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(unread))
    for i in range(N_STORED):
        stored[i * APART] = 1
    libc = ctypes.CDLL(None)
    writing = threading.Thread(target=libc.write, args=(below, ctypes.c_void_p(address), ctypes.c_size_t(1)))
    writing.start()
    until("the file is locked", lambda: is_asleep(f"{os.getpid()}/task/{writing.native_id}"))
    os.write(told, b"o")
    os.read(go, 1)
    os.fsync(fd)  # waits as long as the file is locked, and loses nothing
    with open(f"{tree}/open/mapped", "rb") as file:
        for i in range(N_STORED):
            check(f"what was stored at {i * APART} is in the tree", os.pread(file.fileno(), 1, i * APART) == b"\1")
    os.write(told, b"c")


def by_the_kernel(act):
    """Requests that name no user."""
    crowd = Crowd()
    go, let_go = os.pipe()
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * N_CLOSED, 2 * N_CLOSED))
    crowd.add(act, go)
    crowd.hear("o", 1)
    if how == "close":
        os.kill(int(os.environ["SERVER"]), signal.SIGUSR1)
    os.write(let_go, b"g")
    if how == "close":
        crowd.hear("c", 1)
    until("the user has all threads there are for one", lambda: len(threads_of_daemon()) > SHARE)
    served_all([0, other_user])
    print("held", flush=True)
    crowd.hear("c", 1)
    for pid in crowd.pids:
        os.waitpid(pid, 0)
    served_all([0, user, other_user])


def main():
    if how in ("close", "mapped"):
        by_the_kernel({"close": closer, "mapped": storer}[how])
        return
    os.stat(f"{mount}/own")
    os.stat(f"{mount}/open")
    crowd = Crowd()
    n_writers = {"write": N_WRITERS, "abort": MORE}.get(how, 0)
    let_write = begin_writers(crowd, n_writers)
    for act, kind in ((lister, "l"), (maker, "m")):
        crowd.add(act)
        crowd.hear(kind, 1)
        until("it waits", lambda: is_asleep(crowd.pids[-1]))
    page = os.open(f"{mount}/page", os.O_RDONLY)
    stand(crowd, SHARE, os.stat, "own/standing")
    refuses = how in ("serve", "setuid", "root")
    if refuses:
        stand(crowd, MORE, os.mkdir, "open/made")
        stand(crowd, MORE, os.stat, "open/sought")
    elif how == "page":
        crowd.add(reader_ahead, page)
        crowd.hear("p", 1)
    elif how == "kill":
        limit_memory()
        stand(crowd, MORE, os.stat, "own/killed")
    else:
        let_write()
        crowd.hear("s", SHARE + n_writers)
        until("all write", lambda: all(map(is_asleep, crowd.pids)))
    if how != "abort":
        served_all([user, other_user] if how == "root" else [0, other_user])
    if refuses:
        crowd.hear("a?", 2 * MORE)
    elif how == "kill":
        kill(crowd)
        served_all([0, other_user])
        resource.prlimit(daemon, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    elif how == "write":
        crowd.hear("rwe", n_writers)
    check(f"no more was answered: {crowd.heard}", not any(map(crowd.heard.count, "n?wec")))
    threads = threads_of_daemon()
    print("held", flush=True)
    if how == "abort":
        until("a thread has ended, as none does before the mount", lambda: threads - threads_of_daemon())
        print("ended", flush=True)
        for pid in crowd.pids:
            os.waitpid(pid, 0)
        return
    crowd.hear("n?", SHARE)
    check("each was told that there is nothing", crowd.heard.count("n") == SHARE)
    crowd.hear("c", n_writers)
    for pid in crowd.pids:
        os.waitpid(pid, 0)
    sizes = [entry.stat().st_size for entry in os.scandir(f"{tree}/open")]
    check("what was refused was not done", sizes == [1] * n_writers)
    served_all([user])


main()
