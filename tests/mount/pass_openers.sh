#!/usr/bin/env bash
# Who opens a file while the last of others closes it reads and writes it: what the kernel passes it through by is never another's.
. "$(dirname "$0")/../lib/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"
printf '%4096s' text > "$SOURCE/f"
start -o nosketch
python3 - "$MNT/f" << 'EOP'
import os, sys
path = sys.argv[1]


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
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children))
EOP
stop
