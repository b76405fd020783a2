#!/usr/bin/env bash
# Who stores through a mapping beside the mount, into a page that is still to be written back, changes no time of the file: when they close it
# it is read all the same.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

cat > store.py << 'EOP'
import mmap, os, subprocess, sys

kinfs, path, asked, first, second = sys.argv[1:]
fd = os.open(path, os.O_RDWR)
with mmap.mmap(fd, 0) as memory:
    for _ in range(10):
        memory[:] = open(first, "rb").read()
        assert "copy" in subprocess.run([kinfs, "similar", "-n", "0", asked], stdout=subprocess.PIPE, text=True, check=True).stdout
        before = os.fstat(fd).st_ctime_ns
        memory[:] = open(second, "rb").read()
        if os.fstat(fd).st_ctime_ns == before:
            break
    else:
        sys.exit("the page is written back each time")
os.close(fd)
EOP
words 1000 100 > first
words 9000 100 > second
expect_equal 'the size' "$(stat -c %s first)" "$(stat -c %s second)"
for watch in fanotify inotify; do
    OUT=$(start -o "watch=$watch" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    cp first "$SOURCE/copy"
    cp second "$SOURCE/other"
    cp second "$SOURCE/mapped"
    "$KINFS" settle "$MNT" > settled
    python3 store.py "$KINFS" "$SOURCE/mapped" "$MNT/mapped" first second
    "$KINFS" settle "$MNT" > settled
    expect_equal "after the last store, $watch" mapped "$("$KINFS" similar -n 0 "$MNT/other" | cut -f 2)"
    stop
done
