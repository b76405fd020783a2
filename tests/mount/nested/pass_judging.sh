#!/usr/bin/env bash
# A file system that judges for itself who may do what, mounted inside the tree or the tree's own, is asked as who asks: whom it
# refuses natively is refused through the mount, whatever was found there by others before.
# Begins early: it starts a program for each user and place.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs_fuse
needs python3 setpriv
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/"{nested,mild,late,private,trusting,kernel,plain}

judging() { # DIRECTORY [OPTIONS [CODES]]: serves until it is unmounted
    "$LIB/file_systems/judging_fs.py" "$@" > "$SCRATCH/ready" &
    soon "$1" grep -q ready "$SCRATCH/ready"
    rm "$SCRATCH/ready"
}

# What a user may do in a directory is what that user may do in another; wanted is what must come of it.
try() { # WANTED DIRECTORY UID GROUPS EXCEPT...
    python3 - "$@" << 'EOP'
import fcntl, os, sys
from users import attempt, expect
wanted, at, uid, groups, *free = sys.argv[1:]
uid, groups = int(uid), [int(group) for group in groups.split()]

def read(path):
    with open(path) as file:
        return file.read()

def write(path, flags):
    fd = os.open(path, os.O_WRONLY | flags, 0o666)
    try:
        return os.write(fd, b"text\n")
    finally:
        os.close(fd)

def lock(path):
    with open(path, "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

f, l, d = f"{at}/f", f"{at}/l", f"{at}/d"
for what, said, call, *args in (
        ("ls", ["d", "f", "l"], lambda: sorted(os.listdir(at))),
        ("stat", 5, lambda: os.lstat(f).st_size),
        ("cat", "text\n", read, f),
        ("readlink", "f", os.readlink, l),
        ("truncate", None, os.truncate, f, 2),
        ("write", 5, write, f, os.O_TRUNC),
        ("append", 5, write, f, os.O_APPEND),
        ("cut", 5, write, f, os.O_TRUNC),
        ("touch", None, os.utime, f),
        ("lock", None, lock, f),
        ("get", b"value", os.getxattr, f, "user.x"),
        ("set", None, os.setxattr, f, "user.x", b"y"),
        ("list", True, lambda: "user.x" in os.listxattr(f)),
        ("df", 255, lambda: os.statvfs(f).f_namemax),
        ("create", 5, write, f"{at}/new", os.O_CREAT | os.O_EXCL),
        ("mv", None, os.rename, f"{at}/new", f"{at}/moved"),
        ("mv into", None, os.rename, f"{at}/moved", f"{d}/moved"),
        ("ln", None, os.link, f, f"{at}/linked"),
        ("rm", None, os.unlink, f"{d}/moved"),
        ("rm a link", None, os.unlink, f"{at}/linked"),
        ("mkdir", None, os.mkdir, f"{at}/made"),
        ("rmdir", None, os.rmdir, f"{at}/made"),
        ("ln -s", None, os.symlink, "x", f"{at}/soft"),
        ("rm soft", None, os.unlink, f"{at}/soft"),
        ("mkfifo", None, os.mkfifo, f"{at}/fifo"),
        ("rm fifo", None, os.unlink, f"{at}/fifo")):
    made = {"mv": ["new"], "mv into": ["moved"], "rm": ["d/moved"], "rm a link": ["linked"], "rmdir": ["made/"],
            "rm soft": ["soft"], "rm fifo": ["fifo"]}.get(what, []) if wanted != "all" else []
    for name in made:  # by root, so that there is something to be refused
        (os.mkdir if name.endswith("/") else lambda path: os.close(os.open(path, os.O_CREAT, 0o666)))(f"{at}/{name}")
    got = attempt(uid, call, *args, groups=groups)
    expect(f"{at}: {what} by {uid}", said if wanted == "all" or what in free else wanted, got)
    for name in made:
        (os.rmdir if name.endswith("/") else os.unlink)(f"{at}/{name}")
    attempt(0, os.lstat, f)  # is known to the kernel again
    attempt(0, os.listdir, at)
EOP
}
# As refused as natively, and as allowed; by root and the file system's friend after each other. LOOKUP, GETATTR and FORGET tell
# nobody's rights where they are free, so that the request itself is judged.
refused() { # DIRECTORY [EXCEPT...]
    try all "$1" 0 ''
    try EACCES "$1" 12346 '' "${@:2}"
    try all "$1" 12345 ''
    try EACCES "$1" 12346 '' "${@:2}"
    try all "$1" 12346 '5 777'
}

judging "$SOURCE/nested" allow_other
judging "$SOURCE/mild" allow_other 1 3 # LOOKUP GETATTR
# shellcheck disable=SC2046 # numbers
judging "$SOURCE/private" '' $(seq 1 60) # refuses nobody
refused "$SOURCE/nested"
refused "$SOURCE/mild" stat
for how in passthrough nopassthrough; do
    start -o allow_other,views=none,$how
    refused "$MNT/nested"
    refused "$MNT/mild" stat
    judging "$SOURCE/late" allow_other
    refused "$MNT/late"
    soon 'it is left' umount "$SOURCE/late"

    # Where the kernel lets nobody but who mounted it in, nobody else comes in through the mount, whomever the server would let in.
    try all "$MNT/private" 0 ''
    try EACCES "$MNT/private" 12345 ''
    try EACCES "$MNT/private" 12346 '5 777'

    # One that has the kernel compare modes, too, judges all the same.
    judging "$SOURCE/trusting" allow_other,default_permissions
    refused "$MNT/trusting"
    soon 'it is left' umount "$SOURCE/trusting"

    # Of what may judge by more than ids for file systems none but root has anything.
    mount -t proc proc "$SOURCE/kernel"
    expect_match 'for root' '(^| )version($| )' "$(ls -C -w 0 "$MNT/kernel" | xargs)"
    expect_code 1 setpriv --reuid 12346 --clear-groups cat "$MNT/kernel/version"
    expect_match 'a file of the kernel' 'Permission denied' "$OUT"
    expect_code 2 setpriv --reuid 12346 --clear-groups ls "$MNT/kernel"
    soon 'it is left' umount "$SOURCE/kernel"

    # Nor do the capabilities of a service let it in, by what it was given open.
    expect_code 1 setpriv --reuid 12346 --clear-groups --inh-caps=+fowner --ambient-caps=+fowner \
        chmod 700 /dev/stdin < "$MNT/private/f"
    expect_match 'a service' 'Permission denied' "$OUT"
    expect_code 1 setpriv --reuid 12346 --clear-groups cat < "$MNT/private/f"
    expect_match 'given to read' 'Permission denied' "$OUT"
    expect_code 1 setpriv --reuid 12346 --clear-groups sh -c 'echo x | cat >&3' 3<> "$MNT/private/f"
    expect_match 'given to write' 'Permission denied' "$OUT"
    stop
done

# A daemon that cannot act as others refuses them, and not its owner.
setpriv --bounding-set=-setuid --inh-caps=-setuid "$KINFS" mount -o allow_other,views=none "$SOURCE" "$MNT"
try all "$MNT/nested" 0 ''
try EACCES "$MNT/nested" 12345 ''
stop
umount "$SOURCE/nested" "$SOURCE/mild" "$SOURCE/private"

# The tree's own file system. What it has of documents is for the owner of the mount and for root alone.
judging "$SOURCE" allow_other
for how in passthrough nopassthrough; do
    start -o allow_other,views=hidden,$how
    refused "$MNT"
    "$KINFS" settle "$MNT"
    expect_equal 'a view' 'EACCES' "$(python3 -c 'import os, sys
from users import attempt
print(attempt(12345, os.lstat, sys.argv[1]))' "$MNT/similar/f")"
    stop
done
umount "$SOURCE"
