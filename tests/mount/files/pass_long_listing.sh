#!/usr/bin/env bash
# A directory of 30,000 names: each offset leads where it led, whatever is read and removed in between; and thousands of
# handles that are read in part take no more memory of the daemon than a descriptor is worth.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
ulimit -n "$(ulimit -Hn)"
mkdir -p "$SOURCE"
start -o nosketch,watch=none # so that each handle is read from the daemon
python3 - "$SOURCE/many" "$MNT/many" "$(pgrep -f "mount.*$MNT\$")" << 'EOP'
import os, random, resource, sys
from operations.kernel import Directory
source, mount, daemon = sys.argv[1:]
N = 30000

def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: expected {wanted!r}, got {got!r}")

def rest(directory):
    names = []
    while (name := directory.next()) is not None:
        names.append((name, directory.tell()))
    return names

os.mkdir(source)
for i in range(N):
    os.mknod(f"{source}/{'x' * (i % 200)}{i}") # names of all lengths

random.seed(7)
directory = Directory(mount)
places = rest(directory)
names = [name for name, _ in places]
expect("names", sorted(map(os.fsencode, os.listdir(source))), sorted(set(names) - {b".", b".."}))
expect("names, and the dots once", N + 2, len(names))

for i in random.sample(range(N), 200):
    directory.seek(places[i][1])
    expect(f"behind {names[i]}", names[i + 1 : i + 4], [directory.next() for _ in names[i + 1 : i + 4]])
directory.seek(places[-1][1])
expect("behind the last", None, directory.next())

directory.rewind()
expect("rewound", places, rest(directory))

# Removed while it is listed, before and behind where it is read.

directory.rewind()
seen = [directory.next() for _ in range(N // 2)]
place = directory.tell()
removed = {name for name in random.sample(names, N // 50) if name not in (b".", b"..")}
for name in removed:
    os.unlink(os.fsencode(mount) + b"/" + name)

for what in "read on", "sought":
    late = [name for name, _ in rest(directory)]
    expect(f"{what}: none twice", len(late), len(set(late)))
    expect(f"{what}: none from before", set(), set(late) & set(seen))
    expect(f"{what}: all that stayed", set(names[N // 2 :]) - removed, set(late) - removed)
    directory.seek(place)
directory.close()

def resident_bytes():
    with open(f"/proc/{daemon}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmRSS:"))

def handle():
    fd = os.open(mount, os.O_RDONLY | os.O_DIRECTORY)
    next(entries := os.scandir(fd))
    entries.close()
    return fd

N_HANDLES = min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8) # root's share: three eighths
handles = [handle() for _ in range(N_HANDLES // 4)] # what is made once is there
before = resident_bytes()
handles += [handle() for _ in range(N_HANDLES)]
each = (resident_bytes() - before) // N_HANDLES
assert each < 1024, f"{each} bytes of memory for each open directory"
EOP
stop
