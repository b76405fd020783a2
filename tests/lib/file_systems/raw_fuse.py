"""A FUSE file system that speaks to /dev/fuse itself: one that may be as odd as a test wants it. Run by root."""
import collections
import ctypes
import errno
import os
import struct

LOOKUP, GETATTR, OPEN, READ, WRITE, STATFS, SETXATTR, GETXATTR, LISTXATTR, REMOVEXATTR, FLUSH, INIT, OPENDIR, READDIR = \
    1, 3, 14, 15, 16, 17, 21, 22, 23, 24, 25, 26, 27, 28
NAMES = {LOOKUP: "lookup", GETATTR: "getattr", OPEN: "open", READ: "read", WRITE: "write", STATFS: "statfs", GETXATTR: "getxattr",
         FLUSH: "flush", OPENDIR: "opendir", 34: "access", 35: "create"}
WRITEBACK_CACHE = 1 << 16  # a flag of INIT
WITHOUT_ANSWER = (2, 36, 42)  # forget, interrupt, forget many
HEADER = struct.Struct("<2I2Q4I")
ROOT = 1
Request = collections.namedtuple("Request", "code node uid gid pid body")


def attributes(node, mode, uid=0, n_bytes=0, device=0):
    return struct.pack("<6Q10I", node, n_bytes, 0, 0, 0, 0, 0, 0, 0, mode, 1, uid, uid, device, 4096, 0)


def found(node, *rest):
    """The reply to LOOKUP; all that is said is to be asked again at once."""
    return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + attributes(node, *rest)


def has(node, *rest):
    """The reply to GETATTR."""
    return struct.pack("<Q2I", 0, 0, 0) + attributes(node, *rest)


OPENED = struct.pack("<Q2I", 0, 0, 0)


def attribute_name(request):
    return request.body[0 if request.code == REMOVEXATTR else 8:].split(b"\0")[0].decode()


def attribute_value(request, value):
    """The reply to GETXATTR: the value, or how long it is."""
    return value if struct.unpack_from("<I", request.body)[0] else struct.pack("<2I", len(value), 0)


def serve(directory, kind, answer, source="none", uid=0, options=(), flags=0):
    """Mounts it, on a directory or a file, as the user's, says "ready", and serves until it is unmounted. answer(request) gives the data of the reply, a
    negative errno, or None: then there is no reply. flags: what the kernel is to do, of those of INIT."""
    device = os.open("/dev/fuse", os.O_RDWR)
    rootmode = 40000 if os.path.isdir(directory) else 100000
    options = ",".join([f"fd={device},rootmode={rootmode},user_id={uid},group_id={uid}", *options])
    nosuid_nodev = 6
    if ctypes.CDLL(None, use_errno=True).mount(source.encode(), directory.encode(), f"fuse.{kind}".encode(), nosuid_nodev,
                                               options.encode()) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), directory)
    print("ready", flush=True)
    while True:
        try:
            message = os.read(device, 1 << 20)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            continue
        _, code, unique, node, *who, _ = HEADER.unpack_from(message)
        if code in WITHOUT_ANSWER:
            continue
        if code == INIT:
            said = struct.pack("<4I2H2I2H8I", 7, 31, 0, flags, 8, 8, 65536, 1, 16, 0, 0, *(0,) * 7)
        else:
            said = answer(Request(code, node, *who, message[HEADER.size:]))
        if said is not None:
            error, data = (said, b"") if isinstance(said, int) else (0, said)
            os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
