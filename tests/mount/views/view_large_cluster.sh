#!/usr/bin/env bash
# Who asks for an attribute asks for its length first, as getfattr does: for that the members of a large cluster are not
# read once more.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3 getfattr

mkdir -p "$SOURCE"
for i in {0..1999..500}; do words 1 100 | (cd "$SOURCE" && tee $(seq "$i" $((i + 499)))) > /dev/null; done
start -o list_xattr
"$KINFS" settle "$MNT" > /dev/null
cluster=$(echo "$MNT"/clusters/[0-9]*)
expect_equal 'size' 2000 "$(getfattr --absolute-names --only-values -n user.kinfs.size "$cluster")"
expect_equal 'least' 1.0000 "$(getfattr --absolute-names --only-values -n user.kinfs.resemblance.min "$cluster")"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)

# The processor's time, not the clock's, which others may have.
python3 - "$cluster" "$pid" << 'END'
import ctypes, os, sys
cluster, pid = os.fsencode(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None, use_errno=True)
def spent():
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])
def cost(ask, what):
    begin = spent()
    for _ in range(60):
        n = ask()
        assert n > 0, (what, n, ctypes.get_errno())
    return spent() - begin
for name in b"user.kinfs.resemblance.min", b"user.kinfs.resemblance.mean":
    room = ctypes.create_string_buffer(64)
    values = cost(lambda: libc.getxattr(cluster, name, room, 64), name)
    lengths = cost(lambda: libc.getxattr(cluster, name, None, 0), name)
    lists = cost(lambda: libc.listxattr(cluster, None, 0), name)
    assert libc.getxattr(cluster, name, None, 0) == libc.getxattr(cluster, name, room, 64), name
    assert values > 10, f"{values} ticks tell nothing"
    assert 3 * lengths < values, f"{name}: lengths cost {lengths} ticks, values {values}"
    assert lists < values, f"{name}: lists cost {lists} ticks, values {values}"
END
