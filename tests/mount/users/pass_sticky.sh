#!/usr/bin/env bash
# In a directory with the sticky bit nobody removes or renames what belongs to others, though the kernel, whose knowledge of a
# name is as old as its last look, would let him: the name may be another file's since.
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
A, B, C, GROUP = 12345, 12346, 12347, 12399
EXCHANGE, NOREPLACE, WHITEOUT = 2, 1, 4

def make(directory, name, uid, is_directory=False):
    path = f"{source}/{directory}/{name}"
    os.mkdir(path) if is_directory else open(path, "w").close()
    os.chown(path, uid, uid)

def make_directory(name, mode, uid=0, gid=0):
    os.mkdir(f"{source}/{name}")
    os.chown(f"{source}/{name}", uid, gid)
    os.chmod(f"{source}/{name}", mode)

# Each with a name of B's, which the kernel has just seen through the mount, that becomes the name of what is A's.
n_attacks = 0
def attack(what, function, is_directory=False):
    global n_attacks
    n_attacks += 1
    name, victim, own = (f"{word}{n_attacks}" for word in ("name", "victim", "own"))
    make("tmp", name, B, is_directory)
    make("tmp", victim, A, is_directory)
    make("tmp", own, B, is_directory)
    for seen in (name, own):
        expect("seen", B, attempt(B, os.stat, f"{mount}/tmp/{seen}").st_uid)
    renameat2(f"{source}/tmp/{victim}", f"{source}/tmp/{name}", EXCHANGE)
    expect(what, "EPERM", attempt(B, function, f"{mount}/tmp/{name}", f"{mount}/tmp/{own}"))
    expect(f"{what}: still A's", A, os.stat(f"{source}/tmp/{name}").st_uid)
    expect(f"{what}: still B's", B, os.stat(f"{source}/tmp/{own}").st_uid)
    for left in (name, victim, own):
        (os.rmdir if is_directory else os.unlink)(f"{source}/tmp/{left}")

if acts == "as itself":
    make_directory("of_b", 0o1777, uid=B)
    for directory, wanted in (("tmp", "EPERM"), ("of_b", None), ("plain", None)):
        for name in ("first", "second"):
            make(directory, name, B)
        at = f"{mount}/{directory}"
        expect(f"{directory}: rename", wanted, attempt(B, os.rename, f"{at}/first", f"{at}/three"))
        expect(f"{directory}: remove", wanted, attempt(B, os.unlink, f"{at}/second"))
        expect(f"{directory}: by root", None, attempt(0, os.unlink, f"{at}/{'first' if wanted else 'three'}"))
    sys.exit()

make_directory("tmp", 0o1777)
make_directory("plain", 0o777)
attack("unlink", lambda name, own: os.unlink(name))
attack("rmdir", lambda name, own: os.rmdir(name), True)
attack("rename", lambda name, own: os.rename(name, name + "2"))
attack("rename of a directory", lambda name, own: os.rename(name, name + "2"), True)
attack("rename out", lambda name, own: os.rename(name, f"{mount}/plain/taken"))
attack("replacing", lambda name, own: os.rename(own, name))
attack("replacing a directory", lambda name, own: os.rename(own, name), True)
attack("exchange", lambda name, own: renameat2(own, name, EXCHANGE))
attack("exchange, the other way", lambda name, own: renameat2(name, own, EXCHANGE))
attack("without replacing", lambda name, own: renameat2(name, name + "2", NOREPLACE))
attack("whiteout", lambda name, own: renameat2(name, name + "2", WHITEOUT))

# Who may, still does: the owner of the file, of the directory, root, and members of a group that may write there.
def allowed(what, uid, directory, owner, **identity):
    for is_directory in (False, True):
        remove = os.rmdir if is_directory else os.unlink
        for name in ("one", "two"):
            make(directory, name, owner, is_directory)
        at = f"{mount}/{directory}"
        expect(f"{what}: exchange", None, attempt(uid, renameat2, f"{at}/one", f"{at}/two", EXCHANGE, **identity))
        expect(f"{what}: rename", None, attempt(uid, os.rename, f"{at}/one", f"{at}/two", **identity))
        expect(f"{what}: remove", None, attempt(uid, remove, f"{at}/two", **identity))

make_directory("of_a", 0o1777, uid=A)
make_directory("of_group", 0o1770, gid=GROUP)
allowed("owner of the file", B, "tmp", B)
allowed("owner of the directory", A, "of_a", B)
allowed("root", 0, "tmp", B)
allowed("in the group", B, "of_group", B, gid=GROUP)
allowed("in the group besides", B, "of_group", B, groups=[GROUP])
allowed("not sticky", B, "plain", A)
expect("nothing left", [[]] * 4, [os.listdir(f"{source}/{name}") for name in ("tmp", "plain", "of_a", "of_group")])

# What is left behind belongs to the caller, and so does what is made next.
make("tmp", "one", B)
expect("whiteout", None, attempt(B, renameat2, f"{mount}/tmp/one", f"{mount}/tmp/two", WHITEOUT))
expect("whiteout's owner", B, os.stat(f"{source}/tmp/one").st_uid)
expect("made", None, attempt(C, os.mkdir, f"{mount}/tmp/three"))
expect("its owner", C, os.stat(f"{source}/tmp/three").st_uid)
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
