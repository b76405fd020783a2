#!/usr/bin/env bash
# A file made beside the mount, where the kernel still knows that there is none: who opens it with
# O_CREAT needs the right to open it all the same.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs python3
mkdir -p "$SOURCE/d"
chmod 755 "$SCRATCH" "$SOURCE"
chmod 1777 "$SOURCE/d"
start -o allow_other
python3 - "$MNT/d" "$SOURCE/d" <<'EOP'
import errno, os, sys
mount, source = sys.argv[1:]
OTHER = 12345

def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: expected {wanted!r}, got {got!r}")

def look_and_open(name, make, flags):
    """What another user gets who saw that there is no such name before somebody made it."""
    os.seteuid(OTHER)
    expect("at first", False, os.path.lexists(f"{mount}/{name}"))
    os.seteuid(0)
    make(f"{source}/{name}")
    os.seteuid(OTHER)
    try:
        fd = os.open(f"{mount}/{name}", flags | os.O_CREAT, 0o644)
        return os.read(fd, 100)
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.seteuid(0)

def file_of_mode(mode):
    def make(path):
        with open(path, "w") as f:
            f.write("text")
        os.chmod(path, mode)
    return make

for i in range(20):
    expect("a secret", "EACCES", look_and_open(f"secret{i}", file_of_mode(0o600), os.O_RDWR))
    expect("to be cut", "EACCES", look_and_open(f"cut{i}", file_of_mode(0o600), os.O_WRONLY | os.O_TRUNC))
    expect("what was to be cut", 4, os.stat(f"{source}/cut{i}").st_size)
    expect("one to be read", b"text", look_and_open(f"open{i}", file_of_mode(0o644), os.O_RDONLY))
    expect("to be new", "EEXIST", look_and_open(f"new{i}", file_of_mode(0o666), os.O_RDWR | os.O_EXCL))
    expect("a directory", "EISDIR", look_and_open(f"directory{i}", os.mkdir, os.O_RDWR))
    expect("a link", b"text", look_and_open(f"link{i}", lambda path: os.symlink("open0", path), os.O_RDONLY))
EOP
stop
