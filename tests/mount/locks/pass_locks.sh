#!/usr/bin/env bash
# Record locks and flock(2) hold between users of the mount, and between them and those of the tree.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
locks=$LIB/work/locks.py
touch plain
python3 "$locks" plain plain || fail "the test itself is wrong here"
start
touch "$MNT/file"
python3 "$locks" "$MNT/file" "$MNT/file"
python3 "$locks" "$MNT/file" "$SOURCE/file"
python3 "$locks" "$SOURCE/file" "$MNT/file"

# The kernel tells a FUSE file system of a lock's process alone, and answers F_OFD_GETLK with -1 whatever it hears.
python3 - "$MNT/file" <<'END'
import fcntl, os, struct, sys

OFD_GETLK, OFD_SETLK = 36, 37


def flock(kind):
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)


def pid_told(set_lock, get_lock):
    """The process of a lock that a child has, as the parent is told."""
    locked, locked_end = os.pipe()
    seen, seen_end = os.pipe()
    child = os.fork()
    if not child:
        os.close(seen_end)
        fcntl.fcntl(os.open(sys.argv[1], os.O_RDWR), set_lock, flock(fcntl.F_WRLCK))
        os.write(locked_end, b"x")
        os.read(seen, 1)
        os._exit(0)
    os.read(locked, 1)
    fd = os.open(sys.argv[1], os.O_RDWR)
    kind, *_, pid = struct.unpack("hhqqi4x", fcntl.fcntl(fd, get_lock, flock(fcntl.F_WRLCK)))
    os.close(seen_end)
    os.waitpid(child, 0)
    os.close(fd)
    assert kind == fcntl.F_WRLCK, kind
    return {child: "the child"}.get(pid, pid)


for set_lock, get_lock, expected in (
    (fcntl.F_SETLK, fcntl.F_GETLK, "the child"),
    (OFD_SETLK, fcntl.F_GETLK, "the child"),
    (fcntl.F_SETLK, OFD_GETLK, -1),
    (OFD_SETLK, OFD_GETLK, -1),
):
    told = pid_told(set_lock, get_lock)
    assert told == expected, (set_lock, get_lock, told)
END
stop
