#!/usr/bin/env bash
# Whoever looks into a mount first is not refused, however much changes in the root meanwhile: the kernel knows its rights when
# the mount is said to be there.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs python3
chmod 755 "$SCRATCH"
mkdir source
echo text > source/file
cat > look <<'EOF'
import os, sys, threading
from users import run
source, mount = sys.argv[1:]
ends = False


def change(number):
    while not ends:
        open(f"{source}/new{number}", "w").close()
        os.unlink(f"{source}/new{number}")


def look():
    for _ in range(200):
        os.stat(f"{mount}/file")


threads = [threading.Thread(target=change, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
try:
    run(54321, look)
finally:
    ends = True
    for thread in threads:
        thread.join()
EOF
for i in $(seq 12); do
    mkdir "mnt$i"
    "$KINFS" mount -o views=none,allow_other source "mnt$i" > /dev/null
    python3 look source "mnt$i" || fail "refused in round $i"
    umount "mnt$i"
done
