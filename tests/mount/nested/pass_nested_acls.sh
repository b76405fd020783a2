#!/usr/bin/env bash
# Access control lists hold where a file has them: on a file system mounted inside a tree that has none, and the other way round.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount file systems, and act as others'
needs python3 mkfs.ext4 setfacl

file_system() { # KIND DIRECTORY; ramfs has no lists, the others do
    if [[ $1 = ext4 ]]; then
        truncate -s 16M "$SCRATCH/image"
        mkfs.ext4 -qF "$SCRATCH/image"
        mount -o loop "$SCRATCH/image" "$2"
    else
        mount -t "$1" none "$2"
    fi 2> /dev/null || skip "no $1 can be mounted here"
}

try() { # WHERE-THERE-ARE-LISTS WHERE-THERE-ARE-NONE, in the tree
    python3 - "$MNT" "$SOURCE" "$@" << 'EOP'
import os, subprocess, sys
from users import attempt, expect
mount, source, with_lists, without = sys.argv[1:5]
A, B, C = 12345, 12346, 12347

def read(path):
    with open(path) as file:
        return file.read()

def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))

def mode(path):
    return oct(os.stat(path).st_mode & 0o7777)

def acl(path, *rules):
    subprocess.run(["setfacl", *(word for rule in rules for word in ("-m", rule)), path], check=True)

for directory in (with_lists, without):
    at = f"{source}/{directory}"
    os.chmod(at, 0o755)
    for name, owner, bits in (("everyones", A, 0o644), ("groups", A, 0o640), ("own", A, 0o600), ("executable", A, 0o755)):
        with open(f"{at}/{name}", "w") as file:
            file.write("text")
        os.chown(f"{at}/{name}", owner, owner)
        os.chmod(f"{at}/{name}", bits)
    for name, bits in (("open", 0o1777), ("closed", 0o750)):
        os.mkdir(f"{at}/{name}")
        os.chmod(f"{at}/{name}", bits)
    with open(f"{at}/closed/in", "w") as file:
        file.write("text")
    os.chown(f"{at}/closed", A, A)

# What natively is refused or allowed is so through the mount.
acl(f"{source}/{with_lists}/everyones", f"u:{B}:-")
acl(f"{source}/{with_lists}/own", f"u:{B}:r")
acl(f"{source}/{with_lists}/closed", f"u:{B}:x")
acl(f"{source}/{with_lists}/executable", f"g:{C}:-")
acl(f"{source}/{with_lists}/open", f"d:u:{B}:rw", "d:g::-", "d:o::-")
for directory in (with_lists, without):
    for path in ("everyones", "groups", "own", "closed/in", "executable"):
        for user in (A, B, C):
            for groups in ((), (A,), (C,)):
                natively = attempt(user, read, f"{source}/{directory}/{path}", groups=groups)
                expect(f"{directory}/{path} read by {user} of {groups}", natively,
                       attempt(user, read, f"{mount}/{directory}/{path}", groups=groups))
expect("a denied user", "EACCES", attempt(B, read, f"{mount}/{with_lists}/everyones"))
expect("a denied group", "EACCES", attempt(C, read, f"{mount}/{with_lists}/executable"))
expect("an allowed user", "text", attempt(B, read, f"{mount}/{with_lists}/own"))
expect("through a directory", "text", attempt(B, read, f"{mount}/{with_lists}/closed/in"))
expect("only by their mode", "text", attempt(B, read, f"{mount}/{without}/everyones"))
expect("by the group's mode", "text", attempt(B, read, f"{mount}/{without}/groups", groups=[A]))
expect("no list", "ENODATA", attempt(0, os.getxattr, f"{mount}/{without}/everyones", "system.posix_acl_access"))

# A list replaces the umask where a directory has a default one; elsewhere the umask counts.
for directory, first, second in ((with_lists, "0o660", "0o660"), (without, "0o644", "0o600")):
    expect("make", None, attempt(A, make, f"{mount}/{directory}/open/first", umask=0o22))
    expect("make", None, attempt(A, make, f"{mount}/{directory}/open/second", umask=0o77))
    expect(f"{directory}: its mode", first, mode(f"{source}/{directory}/open/first"))
    expect(f"{directory}: its mode with another umask", second, mode(f"{source}/{directory}/open/second"))
expect("inherited", "", attempt(B, read, f"{mount}/{with_lists}/open/first"))
expect("inherited", "EACCES", attempt(C, read, f"{mount}/{with_lists}/open/first"))

# A list that is set through the mount holds at once, and is refused where there can be none.
acl(f"{mount}/{with_lists}/groups", f"u:{C}:r")
expect("set through the mount", "text", attempt(C, read, f"{mount}/{with_lists}/groups"))
acl(f"{mount}/{with_lists}/groups", f"u:{C}:-")
expect("set once more", "EACCES", attempt(C, read, f"{mount}/{with_lists}/groups"))
value = os.getxattr(f"{mount}/{with_lists}/groups", "system.posix_acl_access")
expect("none can be set", "ENOTSUP", attempt(0, os.setxattr, f"{mount}/{without}/groups", "system.posix_acl_access", value))
expect("nor by its owner", "ENOTSUP", attempt(A, os.setxattr, f"{mount}/{without}/groups", "system.posix_acl_access", value))
EOP
}

mkdir -p "$SOURCE"
chmod 755 "$SCRATCH"
for kinds in 'ramfs ext4' 'ramfs tmpfs' 'ext4 ramfs'; do
    read -r outer inner <<< "$kinds"
    file_system "$outer" "$SOURCE"
    mkdir "$SOURCE/outer" "$SOURCE/inner"
    file_system "$inner" "$SOURCE/inner"
    start -o allow_other
    if [[ $inner = ramfs ]]; then try outer inner; else try inner outer; fi
    stop
    umount "$SOURCE/inner" "$SOURCE"
done
