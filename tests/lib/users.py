"""What users may do, tried by root: a module for the tests' Python (PYTHONPATH is set by mount.sh)."""
import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: expected {wanted!r}, got {got!r}")


def renameat2(old, new, flags):
    if libc.renameat2(-100, old.encode(), -100, new.encode(), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def attempt(uid, function, *args, gid=None, groups=(), umask=0o22):
    """The function's result, or the name of its errno, as the user and that user's group."""
    os.setgroups(groups)
    os.setegid(uid if gid is None else gid)
    os.seteuid(uid)
    before = os.umask(umask)
    try:
        return function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.umask(before)
        os.seteuid(0)
        os.setegid(0)
        os.setgroups([])


def begin(uid, work, groups=()):
    """Begins work in a process of the user. Returns what awaits its end, and gives its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups)
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            work()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr)
            os._exit(1)
    return lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run(uid, work, groups=()):
    assert begin(uid, work, groups)() == 0
