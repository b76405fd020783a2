#!/usr/bin/env bash
# Nobody moves a directory into another one who may not write to it, though the kernel, whose knowledge of a name is as old as its
# last look, would let him: the name may be another directory's since.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs python3 setpriv
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
chmod 755 "$SOURCE"

attempt() { # WHAT: "as others", or "as itself" where the daemon cannot act as others
    python3 - "$MNT" "$SOURCE" "$1" << 'EOP'
import os, sys
from users import attempt, expect, renameat2
mount, source, acts = sys.argv[1:]
A, B, GROUP = 12345, 12346, 12399
EXCHANGE, WHITEOUT = 2, 4

def make(name, uid, mode=0o700, gid=None, is_directory=True):
    path = f"{source}/{name}"
    os.mkdir(path) if is_directory else open(path, "w").close()
    os.chown(path, uid, uid if gid is None else gid)
    os.chmod(path, mode)

make("shared", 0, 0o777)
make("of_b", B)
refused = "EACCES" if acts == "as others" else "EPERM"

# Each with a directory of B's, which the kernel has just seen, whose name becomes that of A's.
def attack(what, function):
    make("shared/name", B)
    make("shared/victim", A)
    make("of_b/other", B)
    for seen in ("shared/name", "of_b/other"):
        expect("seen", B, attempt(B, os.stat, f"{mount}/{seen}").st_uid)
    renameat2(f"{source}/shared/victim", f"{source}/shared/name", EXCHANGE)
    expect(what, refused, attempt(B, function, f"{mount}/shared/name", f"{mount}/of_b/other"))
    expect(f"{what}: A's is where it was", A, os.stat(f"{source}/shared/name").st_uid)
    for left in ("shared/name", "shared/victim", "of_b/other"):
        os.rmdir(f"{source}/{left}")

attack("away", lambda name, other: os.rename(name, f"{mount}/of_b/taken"))
attack("in the place of another", lambda name, other: os.rename(name, other))
attack("exchange", lambda name, other: renameat2(name, other, EXCHANGE))
attack("exchange, the other way", lambda name, other: renameat2(other, name, EXCHANGE))
if acts == "as itself":
    os.rmdir(f"{source}/shared"); os.rmdir(f"{source}/of_b")
    sys.exit()

# Who may, still does.
make("group1", 0, 0o770, GROUP)
make("group2", 0, 0o770, GROUP)
def allowed(what, asker, there, here, groups=(), **kind):
    make(f"{there}/name", **kind)
    expect(what, None, attempt(asker, os.rename, f"{mount}/{there}/name", f"{mount}/{here}/name", groups=groups))
    (os.rmdir if kind.get("is_directory", True) else os.unlink)(f"{source}/{here}/name")

allowed("own", B, "shared", "of_b", uid=B)
allowed("root", 0, "shared", "of_b", uid=A)
allowed("a file of another", B, "shared", "of_b", uid=A, is_directory=False)
allowed("one that all may write to", B, "shared", "of_b", uid=A, mode=0o777)
allowed("of the group", B, "group1", "group2", groups=[GROUP], uid=A, mode=0o770, gid=GROUP)
allowed("own among the group's", B, "group1", "group2", groups=[GROUP], uid=B)
allowed("a file among the group's", B, "group1", "group2", groups=[GROUP], uid=A, is_directory=False)
make("shared/name", B, is_directory=False)
expect("whiteout", None, attempt(B, renameat2, f"{mount}/shared/name", f"{mount}/of_b/name", WHITEOUT))
expect("whiteout's owner", B, os.stat(f"{source}/shared/name").st_uid)
for left in ("shared/name", "of_b/name"):
    os.unlink(f"{source}/{left}")
for left in ("shared", "of_b", "group1", "group2"):
    os.rmdir(f"{source}/{left}")
EOP
}

# Names are not watched, so that the kernel keeps them for a second.
options=allow_other,watch=none,views=none
start -o "$options"
attempt 'as others'
stop
setpriv --bounding-set=-setuid --inh-caps=-setuid "$KINFS" mount -o "$options" "$SOURCE" "$MNT" 2> /dev/null
attempt 'as itself'
stop
