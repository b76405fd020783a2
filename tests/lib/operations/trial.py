"""What an operation is tried with: a directory of its own, and a list of what came of each step.

An operation is a function of one argument, a Trial. It runs in a fresh directory, once in a plain
one and once in a mount, as root and as an ordinary user; what it showed must be the same, and so
must what the directory holds afterwards. Where Linux lets no FUSE file system do what the disk
does, the operation names the step, what the mount gives instead, and why.
"""
import errno
import hashlib
import json
import os
import stat
import sys
import time

from operations import kernel

CLOCK_REALTIME_COARSE, PR_SET_DUMPABLE = 5, 4

USER, STRANGER, GROUP = 54321, 54322, 4242
ESCAPED = "ended by"  # of what an operation did not expect: it fails though both places agree


def tick():
    """Until the clock that stamps files has moved on."""
    now = time.clock_gettime_ns(CLOCK_REALTIME_COARSE)
    while time.clock_gettime_ns(CLOCK_REALTIME_COARSE) == now:
        time.sleep(0.001)


class Trial:
    def __init__(self):
        self.steps = []

    def note(self, label, value):
        self.steps.append([label, repr(value)])

    def show(self, label, function, *args, **kwargs):
        """Notes what a call returns, or its errno; returns that too, or None."""
        try:
            result = function(*args, **kwargs)
        except OSError as error:
            self.note(label, name_of(error))
            return None
        self.note(label, result)
        return result

    def look(self, label, path):
        self.show(label, lambda: describe(os.lstat(path)))

    def as_user(self, uid, function, *args, groups=()):
        """In a child of another identity; what it notes is noted here."""
        def become():
            os.setgroups(list(groups))
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            kernel.libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # so that its parent may look at it
        self.in_child(function, *args, before=become)

    def in_child(self, function, *args, before=lambda: None):
        """In a child; what it notes is noted here."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            part = Trial()
            try:
                before()
                function(part, *args)
            except BaseException as error:  # told, and not lost with the child
                part.note(f"{ESCAPED} {function.__name__}", f"{type(error).__name__}: {error}")
            with os.fdopen(writer, "w") as out:
                json.dump(part.steps, out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as text:
            told = text.read()
        _, status = os.waitpid(pid, 0)
        self.steps += json.loads(told) if told else [[f"{ESCAPED} {function.__name__}", f"{status:x}"]]


def name_of(error):
    return errno.errorcode.get(error.errno, str(error.errno))


def describe(st):
    """Of a stat what does not depend on when and where."""
    if stat.S_ISDIR(st.st_mode):
        return f"{st.st_mode:o} {st.st_uid}:{st.st_gid} links={st.st_nlink}"
    device = f" device={st.st_rdev:x}" if st.st_rdev else ""
    return f"{st.st_mode:o} {st.st_uid}:{st.st_gid} links={st.st_nlink} size={st.st_size}{device}"


class Operation:
    def __init__(self, function, users, differs, off, root):
        self.function, self.users, self.differs = function, users, differs
        self.name = function.__name__
        self.off, self.root = off, root


def child(function):
    """Its pid; it ends with 0 unless the function says or raises otherwise."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        code = function() or 0
    except BaseException as error:
        complain(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


registered = []


def operation(users=("root", "user"), differs=None, differs_off=None, differs_root=None):
    """Registers an operation.

    users        who does it: root, user
    differs      {label: (what it gives on a mount, why it cannot give the same)}
    differs_off  likewise, only without kernel passthrough
    differs_root likewise, only where the daemon is root's
    """
    def register(function):
        registered.append(Operation(function, users, differs or {}, differs_off or {}, differs_root or {}))
        return function
    return register


def write(path, content=b"content\n", flags=os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        return os.write(fd, content)
    finally:
        os.close(fd)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(path):
    return hashlib.sha256(read(path)).hexdigest()[:16]


def opened(path, flags=os.O_RDWR | os.O_CREAT, mode=0o644):
    return os.open(path, flags, mode)


def attributes_of(path):
    """Extended attributes but those computed by kinfs, which are not listed either."""
    try:
        return {n: os.getxattr(path, n, follow_symlinks=False)
                for n in sorted(os.listxattr(path, follow_symlinks=False))}
    except OSError as error:
        return name_of(error)


def walk(root):
    """Of a directory and all below it, however deep: its path from there, and one good until the next
    is asked for."""
    yield ".", root
    for directory, directories, files, fd in os.fwalk(root):
        directories.sort()
        for name in sorted(directories + files):
            yield os.path.relpath(os.path.join(directory, name), root), f"/proc/self/fd/{fd}/{name}"


def portable(root):
    """All below a directory, without what differs from one run to the next."""
    result = {}
    for relative, path in walk(root):
        st = os.lstat(path)
        what = [describe(st), attributes_of(path)]
        if stat.S_ISREG(st.st_mode):
            what.append(digest(path) if os.access(path, os.R_OK) else "unreadable")
        elif stat.S_ISLNK(st.st_mode):
            what.append(os.readlink(path))
        result[relative] = what
    return result


def paths_below(root):
    return [relative for relative, _ in walk(root)]


def identity(root, paths):
    """Of each path numbers and times: the same inodes seen by another way have the same. Looks at
    nothing but attributes, which changes none."""
    result = {}
    for relative in paths:
        try:
            st = os.lstat(os.path.join(root, relative))
        except OSError as error:
            result[relative] = name_of(error)
            continue
        result[relative] = {
            "ino": st.st_ino, "mode": oct(st.st_mode), "links": st.st_nlink,
            "owner": (st.st_uid, st.st_gid), "size": st.st_size, "blocks": st.st_blocks,
            "block size": st.st_blksize, "device": st.st_rdev, "accessed": st.st_atime_ns,
            "modified": st.st_mtime_ns, "changed": st.st_ctime_ns}
    return result


def complain(text):
    print(text)
    sys.stdout.flush()
