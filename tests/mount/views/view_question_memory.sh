#!/usr/bin/env bash
# Answers that are kept open take no memory of the daemon's, however long they are.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
! grep -q __asan_init "$KINFS" || skip 'a sanitizer keeps memory that was freed'

mkdir -p "$SOURCE"
python3 - "$SOURCE" > document << 'EOF'
import os, sys

document = " ".join(f"w{i}" for i in range(20))
long = "\x01" * 250 # each is shown as four characters
os.chdir(sys.argv[1])
for _ in range(3):
    os.mkdir(long)
    os.chdir(long)
for i in range(1000):
    with open(f"{i:04}" + "\x01" * 246, "w") as out:
        out.write(document)
print(document, end="")
EOF
start
"$KINFS" settle "$MNT" > /dev/null
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)

python3 - "$MNT/.kinfs/query/q,limit=0" "$daemon" document << 'EOF'
import os, sys

name, daemon, document = sys.argv[1:]
document = open(document, "rb").read()
N, LINE_BYTES, N_LINES = 60, 3900, 1000 # a user may have 64
MEMORY_MAX = 100 << 20


def held():
    with open(f"/proc/{daemon}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS:"))


def ask():
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(fd, document)
    os.lseek(fd, 0, os.SEEK_SET)
    first = os.read(fd, 1)
    assert first == b"1", first
    return fd


def answer(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    pieces = []
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


one = ask()
whole = answer(one)
assert len(whole) > N_LINES * LINE_BYTES and len(set(whole.splitlines())) == N_LINES, len(whole)
before = held()
asked = [ask() for _ in range(N)]
more = held() - before
assert N * len(whole) > 2 * MEMORY_MAX
assert more < MEMORY_MAX, f"{more >> 20} MiB more for {N} answers of {len(whole)} bytes"
assert answer(asked[-1]) == answer(one) == whole
os.lseek(one, 0, os.SEEK_SET)
os.write(one, b"another")
os.lseek(one, 0, os.SEEK_SET)
assert os.read(one, 100) == b"", "the answer to what was asked before"
EOF
stop
