#!/usr/bin/env bash
# The handles that anybody is given of what is in the mount tell neither where the daemon's memory is nor how much others look at.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir -p "$SOURCE/d"
touch "$SOURCE/d/"{1..40}
start
python3 - "$MNT" "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)" << 'EOP'
import ctypes, errno, os, struct, sys
mount, pid = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_HANDLE_FID = -100, 0x200

def node(path): # its id and generation
    handle = ctypes.create_string_buffer(struct.pack("<Ii", 128, 0), 136)
    if libc.name_to_handle_at(AT_FDCWD, path.encode(), handle, ctypes.byref(ctypes.c_int()), AT_HANDLE_FID) < 0:
        if ctypes.get_errno() in (errno.EINVAL, errno.EOPNOTSUPP):
            print("handles that only identify are not known to this kernel")
            sys.exit(77)
        raise OSError(ctypes.get_errno(), path)
    high, low, generation = struct.unpack_from("<3I", handle.raw, 8)
    return high << 32 | low, generation

with open(f"/proc/{pid}/maps") as maps:
    mapped = [tuple(int(end, 16) for end in line.split()[0].split("-")) for line in maps]

for view in ("d", "similar/d"):
    nodes = [node(f"{mount}/{view}/{i}") for i in range(1, 41)]
    ids = [id for id, _ in nodes]
    if any(begin <= id < end for id in ids for begin, end in mapped):
        sys.exit(f"{view}: ids are addresses: {ids}")
    if len({id >> 40 for id in ids}) < 30:
        sys.exit(f"{view}: ids are alike: {ids}")
    generations = [generation for _, generation in nodes]
    if view != "d" and sum(0 < b - a < 1000 for a, b in zip(generations, generations[1:])) > 5:
        sys.exit(f"{view}: generations count: {generations}")
EOP
stop
