#!/usr/bin/env bash
# An sgid bit is set by who is of the file's group as that is, not as the kernel may still know it: a file or directory that came
# to another group beside the mount makes nobody a member of that.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs python3
chmod 755 "$SCRATCH"
for option in watch=fanotify watch=none; do
    OUT=$(start -o "views=none,allow_other,$option" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    python3 - "$SOURCE" "$MNT" << 'PYTHON' || fail "see above, $option"
import os, stat, struct, sys
from users import run
source, mnt = sys.argv[1:]
A, GROUP = 54321, 54400
MANY = list(range(60000, 60200))


def make(name, mode):
    with open(f"{source}/{name}", "w") as out:
        out.write("text")
    os.chown(f"{source}/{name}", A, A)
    os.chmod(f"{source}/{name}", mode)
    run(A, lambda: os.stat(f"{mnt}/{name}"))


def create(name):
    run(A, lambda: os.close(os.open(f"{mnt}/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o2755)))


def is_sgid(name):
    st = os.stat(f"{source}/{name}")
    assert st.st_gid == GROUP, st
    return bool(st.st_mode & stat.S_ISGID)


def acl():
    entry = lambda tag, rights, who=0xffffffff: struct.pack("<HHI", tag, rights, who)
    return struct.pack("<I", 2) + entry(1, 7) + entry(2, 5, A) + entry(4, 5) + entry(16, 5) + entry(32, 5)


for n in range(5):
    # what came to be of another group a moment ago
    make(f"file{n}", 0o755)
    os.chown(f"{source}/file{n}", -1, GROUP)
    run(A, lambda: os.chmod(f"{mnt}/file{n}", 0o2755))
    assert not is_sgid(f"file{n}"), "chmod"
    os.mkdir(f"{source}/directory{n}")
    os.chown(f"{source}/directory{n}", A, A)
    run(A, lambda: os.stat(f"{mnt}/directory{n}"))
    os.chown(f"{source}/directory{n}", -1, GROUP)
    os.chmod(f"{source}/directory{n}", 0o2755)
    create(f"directory{n}/made")
    assert not is_sgid(f"directory{n}/made"), "create"
    # of a group that is the caller's, one of many, too
    for groups in [GROUP], [*MANY, GROUP]:
        kind = f"{n}.{len(groups)}"
        make(f"own{kind}", 0o755)
        os.chown(f"{source}/own{kind}", -1, GROUP)
        run(A, lambda: os.chmod(f"{mnt}/own{kind}", 0o2755), groups)
        assert is_sgid(f"own{kind}"), "chmod of the group"
        os.chmod(f"{source}/own{kind}", 0o2745)
        run(A, lambda: os.setxattr(f"{mnt}/own{kind}", "system.posix_acl_access", acl()), groups)
        assert is_sgid(f"own{kind}"), "an access control list of the group"
        run(A, lambda: os.setxattr(f"{mnt}/own{kind}", "system.posix_acl_access", acl()))
        assert not is_sgid(f"own{kind}"), "an access control list of another"
    os.chmod(f"{mnt}/file{n}", 0o2755)
    assert is_sgid(f"file{n}"), "chmod of root"
PYTHON
    stop
    find "$SOURCE" -mindepth 1 -delete
done
