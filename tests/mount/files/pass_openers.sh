#!/usr/bin/env bash
# Who opens a file while the last of others closes it reads and writes it: what the kernel passes it through by is never another's,
# and is given back with the last.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"
printf '%4096s' text > "$SOURCE/f"
start -o nosketch
python3 - "$MNT/f" "$SOURCE/f" << 'EOP'
import fcntl, os, signal, sys, time
path, source = sys.argv[1:]


def work(flags):
    for _ in range(1500):
        fd = os.open(path, flags)
        assert len(os.pread(fd, 4096, 0)) == 4096
        if flags != os.O_RDONLY:
            os.pwrite(fd, b"x", 4095)
        os.close(fd)


children = []
for i in range(8):
    pid = os.fork()
    if pid == 0:
        try:
            work((os.O_RDONLY, os.O_RDWR)[i % 2])
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr)
            os._exit(1)
    children.append(pid)
for i in range(60):  # these are killed, wherever they are
    pid = os.fork()
    if pid == 0:
        while True:
            os.close(os.open(path, os.O_RDWR))
    time.sleep(0.001 * (i % 8))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
if any([os.waitpid(pid, 0)[1] for pid in children]):
    sys.exit(1)
# A lease for one's own is had where nobody has the file open, nor the kernel something to pass it through by.
fd = os.open(source, os.O_RDWR)
for _ in range(600):  # of a close the daemon is told a moment later
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        sys.exit(0)
    except BlockingIOError:
        time.sleep(0.1)
sys.exit("somebody has the file open")
EOP
stop
