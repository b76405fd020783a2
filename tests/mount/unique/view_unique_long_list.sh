#!/usr/bin/env bash
# A list of unique/ that somebody makes very long, by hard links far down in a tree, comes whole, takes the daemon no memory, and
# keeps nobody from views or from the next list.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open"
words 1 600 | tee "$SOURCE/open/original" > "$SOURCE/open/copy"
python3 - "$SOURCE" << 'PYTHON'
import os, sys

at = os.open(sys.argv[1], os.O_RDONLY)
name = "\x01" * 250 # each is shown as four characters
for _ in range(15):
    os.mkdir(name, dir_fd=at)
    at = os.open(name, os.O_RDONLY, dir_fd=at)
for i, name in enumerate(("a", "b")):
    with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=at), "w") as out:
        out.write(" ".join(f"w{j}" for j in range(300)))
    os.utime(name, (1600000000 + i,) * 2, dir_fd=at)
for i in range(3000):
    os.link("b", f"l{i}", src_dir_fd=at, dst_dir_fd=at)
PYTHON
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)

python3 - "$MNT" "$daemon" "$(grep -c __asan_init "$KINFS" || true)" << 'PYTHON'
import os, subprocess, sys, time

mnt, daemon, is_sanitized = sys.argv[1:]
LIST = f"{mnt}/unique/.kinfs-skipped.tsv"
TEXT_MIN_BYTES, MEMORY_MAX_BYTES = 80 << 20, 32 << 20
EXPECTED = sorted([b"b"] + [b"l%d" % i for i in range(3000)])


def memory(field):
    with open(f"/proc/{daemon}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(field))


def look():
    """A list: that one is whole, and how many bytes it has."""
    size, names, n_bytes = os.stat(LIST).st_size, [], 0
    with open(LIST, "rb") as lines:
        for line in lines:
            n_bytes += len(line)
            path, stand_in, _, _, what, *_ = line.split(b"\t")
            if path.startswith(b"open/"):
                continue
            assert what == b"equal" and stand_in == path[: path.rindex(b"/")] + b"/a", path[-9:]
            names.append(path[path.rindex(b"/") + 1 :])
    assert n_bytes == size > TEXT_MIN_BYTES, (n_bytes, size)
    assert sorted(names) == EXPECTED, len(names)


def as_user(uid, what):
    os.setegid(uid), os.seteuid(uid)
    what()
    os.seteuid(0), os.setegid(0)


def walk():
    for view in ("similar", "clusters", "similar/open"):
        assert os.listdir(f"{mnt}/{view}"), view


def make_one():
    walk()
    assert len({"copy", "original"} & set(os.listdir(f"{mnt}/unique/open"))) == 1
    return os.stat(LIST).st_size # one that is not read


def held_bytes():
    total = 0
    for fd in os.listdir(f"/proc/{daemon}/fd"):
        try:
            st = os.stat(f"/proc/{daemon}/fd/{fd}")
        except FileNotFoundError:
            continue
        total += st.st_size * (st.st_nlink == 0)
    return total


os.setgroups([])
with open(f"/proc/{daemon}/clear_refs", "w") as peak:
    peak.write("5")
before = memory("VmRSS:")
look()
make_one()
held = os.open(LIST, os.O_RDONLY)
make_one()
look()
as_user(54321, walk)
more = memory("VmHWM:") - before
assert is_sanitized != "0" or more < MEMORY_MAX_BYTES, f"{more >> 20} MiB more"

with open(f"{mnt}/open/another", "w") as out: # another state of the index
    out.write("another one")
make_one()
look()
os.close(held)
# Where the index changes between the stat and the open of a look there are two lists, of which one is not read.
subprocess.run([os.environ["KINFS"], "settle", mnt], check=True, stdout=subprocess.DEVNULL)
time.sleep(1.5) # then nobody comes to read what was made before
look()
for _ in range(1000): # the kernel lets go of what was read a moment after it
    if held_bytes() < TEXT_MIN_BYTES:
        break
    time.sleep(0.02)
else:
    raise SystemExit("a list that was read, and closed, is kept")
PYTHON
stop

# On a disk that is too small for it the list alone fails, until it is shorter.
mkdir "$SCRATCH/small"
mount -t tmpfs -o size=160m none "$SCRATCH/small"
start -o "allow_other,store=$SCRATCH/small/store"
"$KINFS" settle "$MNT" > /dev/null
list=$MNT/unique/.kinfs-skipped.tsv
expect_match 'a list that is too long' 'No space left' "$(stat "$list" 2>&1)"
ls "$MNT/unique" "$MNT/similar/open" > /dev/null
python3 - "$SOURCE" << 'PYTHON'
import os, sys

at = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(15):
    at = os.open("\x01" * 250, os.O_RDONLY, dir_fd=at)
for i in range(3000):
    os.unlink(f"l{i}", dir_fd=at)
PYTHON
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'one that is not' 2 "$(wc -l < "$list")"
stop
umount "$SCRATCH/small"
