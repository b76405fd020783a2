#!/usr/bin/env bash
# Nobody takes all the room that there is for open directories of the views: what is too many, or too much in memory,
# is refused to the user who has it, not to others, and there again when it was closed.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/copies"
python3 - "$SOURCE/copies" << 'EOF'
import sys
for i in range(1000): # each link takes some 600 bytes of memory
    with open(f"{sys.argv[1]}/{i:0200}", "w") as out:
        out.write(" ".join(f"w{j}" for j in range(20)))
EOF
start -o allow_other,limit=0
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" << 'EOF'
import errno, os, resource, sys, time

mnt = sys.argv[1]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
copies = f"{mnt}/similar/copies"
FEW, MANY = f"{mnt}/.kinfs", f"{copies}/{os.listdir(copies)[0]}"
EACH = 1024
BYTES = 64 << 20


def become(uid):
    """For what is opened: by this process, which is root again behind it."""
    os.setegid(uid), os.seteuid(uid)


def leave():
    os.seteuid(0), os.setegid(0)


def opened(uid, path):
    become(uid)
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    finally:
        leave()


def granted(uid, path, meanwhile): # the kernel tells of a close a moment after it
    for _ in range(5000):
        try:
            return opened(uid, path)
        except OSError as error:
            assert error.errno == meanwhile, error
            time.sleep(0.02)
    raise SystemExit("not given back: " + errno.errorcode[meanwhile])


def refused(uid, path, wanted):
    try:
        opened(uid, path)
    except OSError as error:
        assert error.errno == wanted, error
    else:
        raise SystemExit("not refused: " + errno.errorcode[wanted])


os.setgroups([])
if min(hard, 8192) > EACH + 100:
    held = [opened(54321, FEW) for _ in range(EACH)]
    refused(54321, FEW, errno.EMFILE)
    os.close(opened(54322, FEW))
    os.close(opened(54322, MANY))
    os.close(held.pop())
    held.append(granted(54321, FEW, errno.EMFILE))
    refused(54321, FEW, errno.EMFILE)
    for fd in held:
        os.close(fd)

if min(hard, 8192) > 4 * EACH + 100: # four who take what they get leave some for others, and for root
    held = []
    for uid in range(54330, 54334):
        try:
            for _ in range(EACH):
                held.append(opened(uid, FEW))
        except OSError as error:
            assert error.errno == errno.ENFILE, error
    assert len(held) > 3 * EACH, len(held)
    for uid in 54321, 0:
        os.close(opened(uid, FEW))
    for fd in held:
        os.close(fd)

held, refusal = [granted(54321, MANY, errno.EMFILE)], None
assert len(os.listdir(held[0])) == 999
while not refusal and len(held) < BYTES // 300_000:
    try:
        held.append(opened(54321, MANY))
    except OSError as error:
        refusal = error.errno
assert refusal == errno.EDQUOT, refusal
assert len(held) * 1_000_000 > BYTES, f"refused after {len(held)}"
other = opened(54322, MANY)
assert len(os.listdir(other)) == 999
os.close(held.pop())
held.append(granted(54321, MANY, errno.EDQUOT))
EOF
stop
