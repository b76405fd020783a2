"""Fifos, sockets, devices."""
import os
import select
import socket
import stat

from operations.kernel import mknod
from operations.trial import child, operation, opened, read, write


@operation()
def fifos(t):
    t.show("mkfifo", os.mkfifo, "fifo", 0o600)
    t.look("fifo", "fifo")
    t.show("not waiting for a reader", os.open, "fifo", os.O_WRONLY | os.O_NONBLOCK)
    other = child(lambda: write("fifo", b"through the fifo", os.O_WRONLY) and None)
    t.show("read", read, "fifo")
    os.waitpid(other, 0)
    os.rename("fifo", "renamed")
    os.link("renamed", "linked")
    a, b = os.open("renamed", os.O_RDWR | os.O_NONBLOCK), os.open("linked", os.O_RDWR | os.O_NONBLOCK)
    os.write(a, b"one pipe by two names")
    t.show("by another name", os.read, b, 100)
    t.show("empty", os.read, b, 100)
    t.show("chmod", os.chmod, "linked", 0o644)
    t.show("times", lambda: (os.utime("linked", (1, 2)), os.stat("renamed").st_mtime)[1])
    t.show("truncate", os.truncate, "linked", 0)
    t.show("seek", os.lseek, a, 0, os.SEEK_SET)


@operation()
def sockets(t):
    server = socket.socket(socket.AF_UNIX)
    t.show("bind", server.bind, "socket")
    t.look("socket", "socket")
    server.listen()
    t.show("bind again", socket.socket(socket.AF_UNIX).bind, "socket")
    client = socket.socket(socket.AF_UNIX)
    t.show("connect", client.connect, "socket")
    peer, _ = server.accept()
    client.sendall(b"hello")
    t.show("said", peer.recv, 100)
    t.show("open", opened, "socket", os.O_RDWR)
    server.close()
    t.show("connect to nobody", socket.socket(socket.AF_UNIX).connect, "socket")
    t.show("made by mknod", mknod, "node", stat.S_IFSOCK | 0o640)
    t.look("node", "node")


@operation()
def devices(t):
    for name, mode, device in (("null", stat.S_IFCHR, os.makedev(1, 3)), ("block", stat.S_IFBLK, os.makedev(259, 70000)),
                               ("whiteout", stat.S_IFCHR, 0), ("file", stat.S_IFREG, 0), ("dir", stat.S_IFDIR, 0)):
        t.show(f"mknod {name}", mknod, name, mode | 0o644, device)
        t.look(name, name)
    t.show("again", mknod, "file", stat.S_IFREG | 0o644)


@operation(users=("root",))
def devices_opened(t):
    mknod("null", stat.S_IFCHR | 0o644, os.makedev(1, 3))
    t.show("open", lambda: os.close(opened("null", os.O_RDWR)))


POLLED = "the kernel's FUSE lets regular files be polled, and says they are ready"


@operation(differs={"epoll of a file": (None, POLLED), "ready": (2, POLLED)})
def waiting(t):
    """A regular file is always ready, a fifo when there is something."""
    fd = opened("f")
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLOUT | select.POLLPRI)
    t.show("poll", lambda: [event for _, event in poll.poll(0)])
    t.show("select", lambda: [len(x) for x in select.select([fd], [fd], [], 0)])
    epoll = select.epoll()
    t.show("epoll of a file", epoll.register, fd, select.EPOLLIN)
    os.mkfifo("fifo")
    fifo = os.open("fifo", os.O_RDWR | os.O_NONBLOCK)
    t.show("epoll of a fifo", epoll.register, fifo, select.EPOLLIN)
    os.write(fifo, b"x")
    t.show("ready", lambda: len(epoll.poll(5)))
    directory = os.open(".", os.O_RDONLY)
    t.show("epoll of a directory", epoll.register, directory, select.EPOLLIN)
