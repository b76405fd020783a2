#!/usr/bin/env bash
# A store through a shared mapping changes the times that the next stat shows, though the kernel has asked for them just before it.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"
for options in passthrough passthrough,watch=none nopassthrough; do
    start -o "nosketch,$options"
    python3 - "$MNT/f" "$SOURCE/f" << 'EOF' || fail "$options: see above"
import mmap, os, sys

path, beside = sys.argv[1:]
PAGE, PAGES = 4096, 4096


def store(memory):
    """Page after page, since the first store in each tells the time, until that is another."""
    before = os.stat(beside).st_mtime_ns
    for page in range(PAGES):
        memory[page * PAGE] = page % 251 + 1
        memory.flush(page * PAGE, PAGE)  # without passthrough it is in the tree from then on
        if os.stat(beside).st_mtime_ns != before:
            return
    raise SystemExit("no store changed the time")


def check(what):
    found, is_so = os.stat(path), os.stat(beside)
    if (found.st_mtime_ns, found.st_ctime_ns) != (is_so.st_mtime_ns, is_so.st_ctime_ns):
        raise SystemExit(f"{what}: {found.st_mtime_ns}, {found.st_ctime_ns} and not {is_so.st_mtime_ns}, {is_so.st_ctime_ns}")


with open(path, "wb") as file:
    file.truncate(PAGES * PAGE)
for round in range(3):
    # Held open, as long as the mapping is there.
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), PAGES * PAGE)
        os.stat(path)
        store(memory)
        check("while it is mapped")
        os.fstat(file.fileno())
        store(memory)
        memory.close()
        check("unmapped")
    check("closed")
    # Closed before the store, and nobody asks between.
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), PAGES * PAGE)
        os.stat(path)
    store(memory)
    memory.close()
    check("stored after close, and unmapped")
EOF
    stop
done
