#!/usr/bin/env bash
# What changed in the tree behind the mount is there for whoever opens it next.
. "${0%/mount/*}/lib/shell/mount.sh"
is_closed() { # of a close the daemon is told a moment later; with O_PATH it knows a file, and has it not open
    local fd
    for fd in "/proc/$daemon/fd/"*; do
        [[ $(readlink "$fd") != "$SOURCE/file" ]] || grep -qs '^flags:.*[1357].......$' "/proc/$daemon/fdinfo/${fd##*/}" || return 1
    done
}
for option in $WAYS; do
    start -o "views=none,$option"
    daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    for i in $(seq 20); do
        words 1 10 > "$MNT/file"
        [[ $(stat -c %s "$MNT/file") = $(stat -c %s "$SOURCE/file") ]] || fail "size"
        soon 'the file is closed' is_closed
        words 1 $((10 + 10 * i)) > "$SOURCE/file"
        cp "$MNT/file" "$MNT/copy"
        cmp "$MNT/copy" "$SOURCE/file" || fail "a copy was cut short"
        words 5 "$i" > "$SOURCE/file"
        cp "$MNT/file" "$MNT/copy"
        cmp "$MNT/copy" "$SOURCE/file" || fail "a copy of a file made shorter"
        words 1 12 > "$SOURCE/other"
        mv "$SOURCE/other" "$SOURCE/file"
        cmp "$MNT/copy" "$SOURCE/copy"
    done
    rm "$SOURCE/copy"
    stop
done
# Three at once, just when the kernel is told of the change: none goes on with the size of before. While the kernel takes the size for one
# of them, it may still tell the others that of before (decision 17); when all have been answered, it tells nobody.
start -o views=none
cat > "$SCRATCH/three" <<'EOF'
import os, sys, threading
source, mount, name = sys.argv[1:]

def copy(number, wrong):
    file = os.open(f"{mount}/{name}", os.O_RDONLY)
    other = os.open(f"{mount}/{name}.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.fstat(file)
    copied = 0
    while n := os.copy_file_range(file, other, 1 << 20):
        copied += n
    os.close(file)
    os.close(other)
    if copied != length:
        wrong.append(f"{copied} bytes copied of {length}")

for length in range(1000, 1200):
    for directory, n in (mount, 50), (source, length):
        with open(f"{directory}/{name}", "w") as file:
            file.write("a" * n)
        if directory == mount:
            os.stat(f"{mount}/{name}")
    wrong = []
    threads = [threading.Thread(target=copy, args=(number, wrong)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    size = os.stat(f"{mount}/{name}").st_size
    if size != length:
        wrong.append(f"size {size} of {length}")
    if wrong:
        sys.exit(wrong[0])
EOF
copying=()
for name in one two three; do
    python3 "$SCRATCH/three" "$SOURCE" "$MNT" "$name" & copying+=($!)
done
for pid in "${copying[@]}"; do
    wait "$pid" || fail "a copy was cut short among three"
done
stop
