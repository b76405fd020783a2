"""System calls Python has no name for."""
import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.telldir.restype = ctypes.c_long
libc.opendir.restype = ctypes.c_void_p
libc.fdopendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.c_void_p
libc.readdir64.restype = ctypes.c_void_p
for name in ("telldir", "rewinddir", "closedir", "readdir64"):
    getattr(libc, name).argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_long, ctypes.c_uint]
libc.readahead.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_size_t]

NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
KEEP_SIZE, PUNCH_HOLE, COLLAPSE, ZERO_RANGE, INSERT, UNSHARE, WRITE_ZEROES = 1, 2, 8, 16, 32, 64, 128
SYS_GETDENTS64 = {"x86_64": 217, "aarch64": 61}[os.uname().machine]
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW = -100, 0x1000, 0x400, 0x100


def call(function, *args):
    result = function(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def syscall(number, *args):
    return call(libc.syscall, ctypes.c_long(number), *args)


def encoded(path):
    return path if isinstance(path, bytes) else path.encode()


def renameat2(old, new, flags):
    return call(libc.renameat2, AT_FDCWD, encoded(old), AT_FDCWD, encoded(new), flags)


def fallocate(fd, mode, offset, length):
    return call(libc.fallocate, fd, mode, offset, length)


def link_descriptor(fd, path):
    return call(libc.linkat, AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, encoded(path), AT_SYMLINK_FOLLOW)


def link_empty(fd, path):
    return call(libc.linkat, fd, b"", AT_FDCWD, encoded(path), AT_EMPTY_PATH)


def mknod(path, mode, device=0):
    return os.mknod(path, mode, device)


def getdents(fd, size):
    """How many bytes of entries there are next."""
    return syscall(SYS_GETDENTS64, fd, ctypes.create_string_buffer(size), ctypes.c_long(size))


def syncfs(fd):
    return call(libc.syncfs, fd)


STATX_BASIC, STATX_BTIME, STATX_MNT_ID = 0x7ff, 0x800, 0x1000
STATX_MODE, STATX_DIOALIGN = 0x2, 0x2000


def statx(path, mask=STATX_BASIC | STATX_BTIME, flags=AT_SYMLINK_NOFOLLOW, dirfd=AT_FDCWD):
    """As a dict, by the names of the manual page."""
    buffer = ctypes.create_string_buffer(256)
    call(libc.statx, dirfd, encoded(path), flags, ctypes.c_uint(mask), buffer)
    values = struct.unpack_from("=IIQIIIH2xQQQQ" + "qI4x" * 4 + "IIIIQII", buffer)
    names = ["mask", "blksize", "attributes", "nlink", "uid", "gid", "mode", "ino", "size", "blocks",
             "attributes_mask", "atime", "atime_ns", "btime", "btime_ns", "ctime", "ctime_ns", "mtime",
             "mtime_ns", "rdev_major", "rdev_minor", "dev_major", "dev_minor", "mnt_id",
             "dio_mem_align", "dio_offset_align"]
    return dict(zip(names, values))


class Directory:
    """A directory stream of the C library, with its offsets."""

    def __init__(self, path):
        self.stream = libc.opendir(encoded(path))
        if not self.stream:
            raise OSError(ctypes.get_errno(), "")

    def next(self):
        ctypes.set_errno(0)
        entry = libc.readdir64(self.stream)
        if not entry:
            if ctypes.get_errno():
                raise OSError(ctypes.get_errno(), "")
            return None
        return ctypes.string_at(entry + 19)

    def tell(self):
        return libc.telldir(self.stream)

    def seek(self, offset):
        libc.seekdir(self.stream, offset)

    def rewind(self):
        libc.rewinddir(self.stream)

    def close(self):
        libc.closedir(self.stream)


class Inotify:
    MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 2, 4, 8, 0x40, 0x80, 0x100, 0x200
    OPEN, CLOSE_NOWRITE, ACCESS, DELETE_SELF, MOVE_SELF = 0x20, 0x10, 1, 0x400, 0x800

    def __init__(self):
        self.fd = call(libc.inotify_init1, os.O_NONBLOCK | os.O_CLOEXEC)

    def watch(self, path, mask):
        return call(libc.inotify_add_watch, self.fd, encoded(path), ctypes.c_uint32(mask))

    def events(self):
        """[(mask, name)]: events are queued before the call that causes them returns."""
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return []
        result, at = [], 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            result.append((hex(mask), data[at + 16:at + 16 + length].rstrip(b"\0")))
            at += 16 + length
        return result


def name_to_handle(path):
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 8 + 128)
    mount_id = ctypes.c_int()
    call(libc.name_to_handle_at, AT_FDCWD, encoded(path), buffer, ctypes.byref(mount_id), 0)
    return True
