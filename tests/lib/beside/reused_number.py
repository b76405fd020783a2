#!/usr/bin/env python3
"""reused_number.py MOUNT SOURCE [generation ATTACK...]

What a user had through the mount and removed beside it is not what has its inode number since: not another user's
private file (steal), nor for that user, standing in a directory that was removed (lead), or holding a file that was
(swap), one of the first. SOURCE is where MOUNT shows it; both are everybody's to write. With generation the numbers of
inodes are not enough: the file system is an ext4 on which an owner may set the generation that a file handle has.
"""
import ctypes
import fcntl
import os
import struct
import sys

from users import attempt, expect, libc

mount, source = sys.argv[1:3]
of_generation = len(sys.argv) > 3
A, V = 12345, 12346  # who attacks, and whom
ROUNDS, TRIES, CROWD = 8, 500, 320  # of 1024 descriptors the daemon keeps 256
SECRET = b"the victim's own"
SETVERSION = 0x40087602


def write(path, data, mode):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.write(fd, data)
    os.close(fd)


def forget():
    """What descriptors the daemon keeps are of others, soon: the kernel knows for a second what was removed."""
    for i in range(CROWD):
        os.listdir(f"{mount}/crowd/{i}")


def steal():
    """Whether a removed file's number came to be that of a private one, which was then tried."""
    name, private = f"{source}/own", f"{source}/private"
    attempt(A, write, name, b"", 0o666, umask=0)
    number = os.stat(name).st_ino
    fd = attempt(A, os.open, f"{mount}/own", os.O_PATH)
    attempt(A, os.unlink, name)
    forget()
    attempt(V, write, private, SECRET, 0o600)
    before = os.stat(private)
    path = f"/proc/self/fd/{fd}"
    if before.st_ino != number:  # The daemon has used what was removed just now: it is there, and its owner may have it.
        os.close(fd)
        os.unlink(private)
        return False
    for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY | os.O_TRUNC):
        got = attempt(A, os.open, path, flags)
        if isinstance(got, int):
            sys.exit(f"a private file was opened by {flags:#o}, of {os.fstat(got).st_size} bytes")
    for call, *args in ((os.truncate, 0), (os.chmod, 0o666), (os.chown, -1, A), (os.utime, (1, 1)),
                        (os.setxattr, "user.x", b"1")):
        expect(call.__name__, str, type(attempt(A, call, path, *args)))
    after = os.stat(private)
    with open(private, "rb") as file:
        expect("the private file", SECRET, file.read())
    expect("how it is", (before.st_mode, before.st_uid, before.st_gid, before.st_mtime_ns),
           (after.st_mode, after.st_uid, after.st_gid, after.st_mtime_ns))
    expect("its attributes", [], os.listxattr(private))
    os.close(fd)
    os.unlink(private)
    return True


def key(path):
    """An inode's number and generation."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount_id = ctypes.c_int()
    if not of_generation or libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount_id), 0) < 0:
        return os.stat(path).st_ino, 0
    return struct.unpack_from("<II", handle.raw, 8)


def make_file(place, mode):
    write(place, b"", mode)


def take_key(place, wanted, make):
    """Whether the attacker has a directory or file of that key in that place."""
    for i in range(TRIES):
        make(place, 0o777)
        os.chmod(place, 0o777)
        if os.stat(place).st_ino == wanted[0]:
            if of_generation:
                fd = os.open(place, os.O_RDONLY)
                fcntl.ioctl(fd, SETVERSION, struct.pack("q", wanted[1]))
                os.close(fd)
            return key(place) == wanted
        os.rename(place, f"{place}.{i}")
    return False


def lead():
    """Whether the directory in which a user stands came to be another user's, to which nothing then was written."""
    shared = f"{source}/shared"
    attempt(A, os.mkdir, shared)
    os.chmod(shared, 0o777)
    place = f"{shared}/private"
    attempt(V, os.mkdir, place, 0o700)
    wanted = key(place)
    attempt(V, os.chdir, f"{mount}/shared/private")
    attempt(V, os.listdir, ".")
    forget()
    attempt(A, os.rmdir, place)
    met = attempt(A, take_key, place, wanted, os.mkdir)
    expect("a name in what was removed", str, type(attempt(V, write, "secret", SECRET, 0o666)))
    # Whoever looks the new one up does not lead there.
    attempt(A, os.listdir, f"{mount}/shared/private")
    expect("a name in what was removed", str, type(attempt(V, write, "secret", SECRET, 0o666)))
    expect("what the attacker has", [], os.listdir(place) if met else [])
    os.chdir("/")
    for name in os.listdir(shared):
        os.rmdir(f"{shared}/{name}")
    os.rmdir(shared)
    return met


def swap():
    """Whether a file that a user holds came to be another user's, to which nothing then was written."""
    shared = f"{source}/swapped"
    attempt(A, os.mkdir, shared)
    os.chmod(shared, 0o777)
    place = f"{shared}/private"
    attempt(V, make_file, place, 0o600)
    wanted = key(place)
    fd = attempt(V, os.open, f"{mount}/swapped/private", os.O_PATH)
    forget()
    attempt(A, os.unlink, place)
    met = attempt(A, take_key, place, wanted, make_file)
    for looks in (False, True) if met else ():
        # Whoever looks the new one up does not have it taken for the old one.
        if looks:
            attempt(A, os.stat, f"{mount}/swapped/private")
        got = attempt(V, os.open, f"/proc/self/fd/{fd}", os.O_WRONLY)
        if isinstance(got, int):
            os.write(got, SECRET)
            os.close(got)
        expect("what the attacker has", 0, os.stat(place).st_size)
        # What is opened by the name is what has it.
        got = attempt(A, os.open, f"{mount}/swapped/private", os.O_RDONLY)
        expect("what has the name", os.stat(place).st_ino, os.fstat(got).st_ino)
        os.close(got)
    os.close(fd)
    for name in os.listdir(shared):
        os.unlink(f"{shared}/{name}")
    os.rmdir(shared)
    return met


os.mkdir(f"{source}/crowd")
for i in range(CROWD):
    os.mkdir(f"{source}/crowd/{i}")
for attack in [globals()[name] for name in sys.argv[4:]] if of_generation else [steal, lead]:
    n_met = sum([attack() for i in range(ROUNDS)])
    print(f"{attack.__name__}: of {ROUNDS} numbers {n_met} were used again")
    if not n_met:
        sys.exit("none was used again")
