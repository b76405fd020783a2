#!/usr/bin/env bash
# A daemon that has no descriptor left says so, and goes on: no request goes round for ever.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root limits the descriptors of another process'
needs python3
mkdir -p "$SOURCE/d" "$SOURCE/nested"
deep=$SOURCE
for _ in $(seq 40); do deep=$deep/x; done
mkdir -p "$deep"
words 1 200 > "$SOURCE/d/f"
words 1 190 > "$SOURCE/d/g"
has_nested=
if mount -t tmpfs none "$SOURCE/nested" 2> /dev/null; then
    has_nested=1
    mkdir -p "$SOURCE/nested/a/b/c/d/e/f"
    echo text > "$SOURCE/nested/a/b/c/d/e/f/g"
fi
start -o watch=none
"$KINFS" settle "$MNT" > /dev/null
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
python3 - "$MNT" "$pid" "$has_nested" << 'EOP'
import errno, os, resource, sys
mount, pid, has_nested = sys.argv[1:4]
# Those it keeps of the tree, to save openings, are not among them yet.
taken = {int(fd) for fd in os.listdir(f"/proc/{pid}/fd")}
free = [fd for fd in range(len(taken) + 8) if fd not in taken]
deep = f"{mount}/" + "/".join("x" * 40)
nested = f"{mount}/nested/a/b/c/d/e/f"
held = [os.open(path, os.O_PATH) for path in [f"{mount}/d", f"{mount}/d/f", deep] + ([nested, f"{nested}/g"] if has_nested else [])]

def limit(n):
    resource.prlimit(int(pid), resource.RLIMIT_NOFILE, (n, 4096))

def list_directory(fd):
    os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_DIRECTORY))

def open_file(fd):
    os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))

def make(fd):
    os.close(os.open(f"/proc/self/fd/{fd}/made", os.O_WRONLY | os.O_CREAT))

def ask(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        os.write(fd, "\n".join(f"word{i}" for i in range(1, 201)).encode())
        os.lseek(fd, 0, 0)
        os.read(fd, 4096)
    finally:
        os.close(fd)

def get_similar(fd):
    os.getxattr(f"/proc/self/fd/{fd}", "user.kinfs.similar")

views = [os.open(f"{mount}/{path}", os.O_PATH) for path in ("similar/d", "similar/d/f", "clusters")]
view_attempts = [(fd, list_directory) for fd in views] + [(held[1], get_similar), (f"{mount}/.kinfs/query/all", ask)]
attempts = [(fd, function) for fd in held for function in (list_directory, open_file, os.fstat, os.statvfs, make, os.listxattr)]

def attempt(fd, function):
    try:
        function(fd if function not in (os.statvfs, os.listxattr) else f"/proc/self/fd/{fd}")
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]

# A bound of the daemon's is never said to be the caller's own (EMFILE), who would close some.
# With one, two, three to be had: a call succeeds or says what is missing, none hangs (the runner ends this one when it does).
# Before each there are none, for which the daemon closes those it keeps.
def say(attempts):
    said = set()
    for n in range(8):
        for fd, function in attempts:
            limit(free[0])
            attempt(mount, os.listdir)
            limit(free[n])
            said.add(attempt(fd, function))
    limit(4096)
    return said

said = say(attempts + [(mount, os.listdir)])
if not said <= {"done", "ENFILE", "ENOTDIR"} or "ENFILE" not in said:
    sys.exit(f"said: {said}")
for fd, function in view_attempts:
    said = say([(fd, function)])
    if not said <= {"done", "ENFILE"} or ("ENFILE" not in said and fd != views[-1]): # no descriptor is needed there
        sys.exit(f"of a view, {function}: {said}")
for fd, function in attempts + view_attempts:
    if attempt(fd, function) not in ("done", "ENOTDIR"):
        sys.exit(f"afterwards: {function} {attempt(fd, function)}")
EOP
stop
