"""Flags of open(2)."""
import fcntl
import os
import stat

from operations import kernel
from operations.trial import child, operation, opened, read, write


@operation()
def modes(t):
    write("f", b"0123456789")
    t.show("read of one for writing", lambda: os.read(opened("f", os.O_WRONLY), 1))
    t.show("write of one for reading", lambda: os.write(opened("f", os.O_RDONLY), b"x"))
    t.show("for nothing", opened, "f", os.O_ACCMODE)
    t.show("a directory for writing", opened, ".", os.O_WRONLY)
    t.show("a file as a directory", opened, "f", os.O_RDONLY | os.O_DIRECTORY)
    t.show("nothing", opened, "none", os.O_RDONLY)
    t.show("truncated for reading", lambda: os.close(opened("f", os.O_RDONLY | os.O_TRUNC)))
    t.look("truncated for reading", "f")
    t.show("create and directory", opened, "new", os.O_CREAT | os.O_DIRECTORY)
    t.show("large file", lambda: os.close(opened("f", os.O_RDWR | os.O_LARGEFILE)))
    t.show("not waiting", lambda: os.close(opened("f", os.O_RDWR | os.O_NONBLOCK)))
    t.show("no terminal", lambda: os.close(opened("f", os.O_RDWR | os.O_NOCTTY)))
    for flag in (os.O_SYNC, os.O_DSYNC):
        fd = opened("f", os.O_RDWR | flag)
        t.show("synchronous", os.write, fd, b"kept")
        t.show("flags", lambda: fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_SYNC)


@operation()
def truncation(t):
    write("f", b"0123456789")
    reader = opened("f", os.O_RDONLY)
    t.show("at open", write, "f", b"xy", os.O_WRONLY | os.O_TRUNC)
    t.show("seen by who had it open", os.read, reader, 100)
    t.show("at exclusive creation", opened, "f", os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_WRONLY)
    t.show("kept", read, "f")
    t.show("with creation", lambda: os.close(opened("f", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)))
    t.show("gone", read, "f")


@operation()
def flags_changed_later(t):
    fd = opened("f")
    os.write(fd, b"0123456789")
    os.lseek(fd, 0, os.SEEK_SET)
    t.show("to append", fcntl.fcntl, fd, fcntl.F_SETFL, os.O_APPEND)
    t.show("written at the end", os.write, fd, b"end")
    t.show("content", read, "f")
    t.show("and no longer", fcntl.fcntl, fd, fcntl.F_SETFL, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"X")
    t.show("content", read, "f")
    t.show("to direct", fcntl.fcntl, fd, fcntl.F_SETFL, os.O_DIRECT)
    t.show("is said", lambda: bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT))
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
    t.show("to asynchronous", fcntl.fcntl, fd, fcntl.F_SETFL, os.O_ASYNC)


@operation()
def no_longer_to_append(t):
    for flags in os.O_WRONLY, os.O_RDWR:
        fd = opened("f", flags | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        os.write(fd, b"0123456789")
        fcntl.fcntl(fd, fcntl.F_SETFL, 0)
        t.show("at its place", os.pwrite, fd, b"ab", 2)
        t.show("content", read, "f")
        os.lseek(fd, 5, os.SEEK_SET)
        t.show("where the file stands", os.write, fd, b"c")
        t.show("content", read, "f")
        write("source", b"xyz")
        t.show("copied", os.copy_file_range, opened("source", os.O_RDONLY), fd, 3, 0, 0)
        t.show("content", read, "f")
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
        os.truncate("f", 12)
        t.show("at the end again", os.pwrite, fd, b"end", 0)
        t.show("content", read, "f")


@operation()
def paths(t):
    """O_PATH descriptors do not open."""
    write("f", b"content")
    os.mkdir("d")
    os.symlink("f", "l")
    fd = os.open("f", os.O_PATH)
    t.show("read", os.read, fd, 1)
    t.show("stat", lambda: os.fstat(fd).st_size)
    t.show("chmod", os.fchmod, fd, 0o600)
    t.show("attribute", os.getxattr, fd, "user.x")
    t.show("ioctl", fcntl.ioctl, fd, 0x80086601, bytes(8))
    t.show("reopened", lambda: read(f"/proc/self/fd/{fd}"))
    t.show("linked", kernel.link_descriptor, fd, "f2")
    link = os.open("l", os.O_PATH | os.O_NOFOLLOW)
    t.show("of a symbolic link", lambda: stat.S_ISLNK(os.fstat(link).st_mode))
    t.show("its target", lambda: os.readlink("", dir_fd=link))
    directory = os.open("d", os.O_PATH)
    t.show("below a directory", lambda: os.close(os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=directory)))
    t.show("listed", os.listdir, f"/proc/self/fd/{directory}")
    os.unlink("f2")
    os.unlink("f")
    t.show("of a file without a name", lambda: (os.fstat(fd).st_nlink, os.fstat(fd).st_size))
    t.show("reopened without a name", lambda: read(f"/proc/self/fd/{fd}"))
    os.unlink("d/x")
    os.rmdir("d")
    t.show("of a directory without a name", lambda: os.fstat(directory).st_nlink)
    t.show("created in it", lambda: os.open("y", os.O_CREAT | os.O_RDWR, dir_fd=directory))


@operation()
def access_times_left_alone(t):
    write("f", b"content")
    os.utime("f", ns=(10**9, 2 * 10**9))
    fd = opened("f", os.O_RDONLY | os.O_NOATIME)
    os.read(fd, 100)
    t.show("accessed", lambda: os.stat("f").st_atime_ns)
    os.close(fd)
    reader = opened("f", os.O_RDONLY)
    os.read(reader, 100)
    t.show("and by another who leaves it not", lambda: os.stat("f").st_atime_ns > 10**9)


@operation(users=("root",))
def access_times_of_others(t):
    write("f", b"content")
    t.as_user(54321, lambda part: part.show("not one's own", opened, "f", os.O_RDONLY | os.O_NOATIME))


@operation()
def running(t):
    """A program in the mount runs, and is busy meanwhile."""
    script = b"#!/bin/sh\necho ran; exit 7\n"
    write("script", script, mode=0o755)
    os.chmod("script", 0o755)
    t.show("script", lambda: os.waitstatus_to_exitcode(os.system("./script > out")))
    t.show("said", read, "out")
    with open("/bin/sleep", "rb") as sleep:
        write("program", sleep.read(), mode=0o755)
    os.chmod("program", 0o755)
    reader, writer = os.pipe()
    pid = child(lambda: os.execv("./program", ["sleep", "100"]))  # the pipe is closed by a good one
    os.close(writer)
    os.read(reader, 1)
    t.show("written while it runs", opened, "program", os.O_WRONLY)
    t.show("truncated while it runs", os.truncate, "program", 0)
    t.show("replaced while it runs", os.rename, "script", "program")
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    fd = opened("program", os.O_WRONLY)
    t.show("run while it is written", lambda: os.execv("./program", ["program"]))
    os.close(fd)
    os.chmod("program", 0o644)
    t.show("run without the right", lambda: os.execv("./program", ["program"]))


@operation()
def many_at_once(t):
    write("f", b"0123456789")
    fds = [opened("f", flags) for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_NOATIME,
                                           os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_DSYNC)]
    os.pwrite(fds[1], b"AB", 0)
    os.write(fds[4], b"end")
    os.pwrite(fds[5], b"CD", 2)
    t.show("all see the same", lambda: {os.pread(fds[i], 100, 0) for i in (0, 2, 3, 5)})
    for fd in fds:
        os.close(fd)
    t.show("and who comes later", read, "f")
