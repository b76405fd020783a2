#!/usr/bin/env bash
# Files that come to be open in the tree when the mount has gone already, so that nobody can be told of them: the daemon ends as ever.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can end a mount by force'
needs_fuse
needs python3
mkdir -p "$SOURCE" "$MNT"
echo text > "$SOURCE/f"
for option in passthrough nopassthrough; do
    # What is freed does not stay as it was.
    MALLOC_PERTURB_=165 "$KINFS" mount -f -o "views=none,$option" "$SOURCE" "$MNT" 2> log &
    daemon=$!
    soon 'mounted' mountpoint -q "$MNT"
    python3 - "$MNT" "$SOURCE/f" "$daemon" << 'EOP'
import ctypes, errno, fcntl, os, signal, sys, threading, time
mnt, source, daemon = sys.argv[1:]
N_OPENERS, MNT_FORCE = 30, 1
told = []


def open_it():
    try:
        os.close(os.open(f"{mnt}/f", os.O_RDWR))
        told.append("opened")
    except OSError as error:
        told.append(errno.errorcode[error.errno])


def n_threads():
    return len(os.listdir(f"/proc/{daemon}/task"))


# Who opens a file waits for the lease on it, which is given up as soon as the mount has gone.
signal.signal(signal.SIGIO, signal.SIG_IGN)
lease = os.open(source, os.O_RDWR)
os.stat(f"{mnt}/f")
fcntl.fcntl(lease, fcntl.F_SETLEASE, fcntl.F_WRLCK)
openers = [threading.Thread(target=open_it) for _ in range(N_OPENERS)]
for opener in openers:
    opener.start()
while n_threads() < N_OPENERS:  # most of them are waiting
    time.sleep(0.01)
ctypes.CDLL(None).umount2(mnt.encode(), MNT_FORCE)
fcntl.fcntl(lease, fcntl.F_SETLEASE, fcntl.F_UNLCK)
for opener in openers:
    opener.join()
if not set(told) <= {"ECONNABORTED", "ENOTCONN"}:
    sys.exit(f"told {sorted(set(told))}")
EOP
    code=0
    wait "$daemon" || code=$?
    expect_equal "the end of the daemon: $(cat log)" 0 "$code"
    umount -l "$MNT" 2> /dev/null || true # while it was in use, it stayed
done
