#!/usr/bin/env bash
# What is made has the umask of who makes it, whichever thread serves; where threads can have none of their own, nothing is made.
. "${0%/mount/*}/lib/shell/mount.sh"
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
[[ $EUID = 0 ]] || exit 0 # such a process cannot run fusermount3
without_unshare=(python3 "$LIB/callers/without_call.py" unshare)
"${without_unshare[@]}" true || exit 0
"${without_unshare[@]}" "$KINFS" mount "$SOURCE" "$MNT"
expect_equal 'made without an umask' EPERM "$(make 077 forbidden)"
expect_equal 'nothing made' '' "$(find "$SOURCE" -name 'forbidden*')"
expect_equal 'still served' 666 "$(stat -c %a "$MNT/4-file")"
stop
