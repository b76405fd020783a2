#!/usr/bin/env bash
# What is made has the umask of who makes it, whichever thread serves; where threads can have none of their own, nothing is made.
. "$(dirname "$0")/../lib/mount.sh"
needs_fuse
needs python3

make() { # UMASK NAME: a file, a directory, a fifo and a link
    python3 - "$MNT" "$@" << 'EOP'
import errno, os, sys
mount, mask, name = sys.argv[1:]
os.umask(int(mask, 8))
path = f"{mount}/{name}"
said = set()
for make in (lambda: os.close(os.open(f"{path}-file", os.O_CREAT | os.O_WRONLY, 0o666)), lambda: os.mkdir(f"{path}-directory"),
             lambda: os.mkfifo(f"{path}-fifo"), lambda: os.symlink("to", f"{path}-link"),
             lambda: os.close(os.open(mount, os.O_TMPFILE | os.O_WRONLY, 0o666))):
    try:
        make()
        said.add("done")
    except OSError as error:
        said.add(errno.errorcode[error.errno])
print(*sorted(said))
EOP
}

start
masks=(000 022 077 027)
for i in {1..40}; do
    make "${masks[i % 4]}" "$i" > "said-$i" &
done
wait
for i in {1..40}; do
    expect_equal "made with ${masks[i % 4]}" 'done' "$(cat "said-$i")"
    for kind in file:0666 fifo:0666 directory:0777; do
        expect_equal "$kind with ${masks[i % 4]}" "$(printf '%o' $((${kind#*:} & ~0${masks[i % 4]})))" \
            "$(stat -c %a "$SOURCE/$i-${kind%:*}")"
    done
done
stop

# As in a container that forbids unshare(2).
cat > without_unshare.py << 'EOF_PYTHON'
import ctypes, os, platform, struct, sys
number = {"x86_64": 272, "aarch64": 97}[platform.machine()]
LOAD, EQUAL, RETURN, ALLOW, REFUSE = 0x20, 0x15, 0x06, 0x7fff0000, 0x00050000 | 1
program = b"".join(struct.pack("<HBBI", *step) for step in
                   ((LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)))
steps = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None, use_errno=True)
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Program(4, ctypes.addressof(steps))), 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
EOF_PYTHON
[[ $EUID = 0 ]] || exit 0 # such a process cannot run fusermount3
case $(uname -m) in x86_64 | aarch64) ;; *) exit 0 ;; esac
python3 without_unshare.py "$KINFS" mount "$SOURCE" "$MNT"
expect_equal 'made without an umask' EPERM "$(make 077 forbidden)"
expect_equal 'nothing made' '' "$(find "$SOURCE" -name 'forbidden*')"
expect_equal 'still served' 666 "$(stat -c %a "$MNT/4-file")"
stop
