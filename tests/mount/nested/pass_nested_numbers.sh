#!/usr/bin/env bash
# File systems mounted inside the tree have the mount's st_dev, and numbers of their own: no two files are
# taken for one by tar, cp or find, which know a file by both.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount a tmpfs'
needs python3 tar
mkdir -p "$SOURCE"
mount -t tmpfs none "$SOURCE" 2> /dev/null || skip 'no tmpfs can be mounted here'
mkdir "$SOURCE/in" "$SOURCE/other"
mount -t tmpfs none "$SOURCE/in"
mount -t tmpfs none "$SOURCE/other"
mkdir "$SOURCE/bound" "$SOURCE/same"
mount --bind "$SOURCE/same" "$SOURCE/bound"

# Files with two names each, of the same numbers in all three.
for directory in "$SOURCE" "$SOURCE/in" "$SOURCE/other"; do
    for i in {1..20}; do
        echo "$directory $i" > "$directory/f$i"
        ln "$directory/f$i" "$directory/g$i"
    done
    mkdir "$directory/d"
done
numbers() { # DIRECTORY: what is one file by device and number, as names, a line each
    python3 - "$1" << 'END'
import collections, os, sys
top, files = sys.argv[1], collections.defaultdict(list)
for directory, names, others in os.walk(top):
    if directory == top:
        names[:] = [name for name in names if name not in ("similar", "clusters")]
    inner = {os.path.join(directory, name) for name in names}
    for entry in os.scandir(directory):
        st = os.lstat(entry.path)
        if directory == top and entry.name in ("similar", "clusters"):
            continue
        if not os.path.ismount(entry.path) and entry.name not in ("in", "other", "bound"):
            assert entry.inode() == st.st_ino, f"{entry.path} is listed as {entry.inode()}, and is {st.st_ino}"
        files[st.st_dev, st.st_ino].append(os.path.relpath(entry.path, top))
    st = os.lstat(directory)
    files[st.st_dev, st.st_ino].append(os.path.relpath(directory, top) + "/.")
print("\n".join(sorted(" ".join(sorted(names)) for names in files.values())))
END
}
(($(stat -c %i "$SOURCE"/{,in/,other/}{.,f1,f2} | sort -u | wc -l) < 9)) || skip 'the numbers do not meet'
start
expect_equal 'one file here is one there' "$(numbers "$SOURCE")" "$(numbers "$MNT")"
expect_equal "the tree's own" "$(stat -c %i "$SOURCE/f1")" "$(stat -c %i "$MNT/f1")"
touch "$MNT/in/new"
exec 3< "$MNT/in/new"
expect_equal 'by a descriptor and by name' "$(stat -c %i "$MNT/in/new")" "$(stat -Lc %i /proc/self/fd/3)"
exec 3<&-
rm "$MNT/in/new"

expect_equal 'find' "$(cd "$SOURCE" && find . | sort)" "$(cd "$MNT" && find . \( -path ./similar -o -path ./clusters \) -prune -o -print | sort)"
mkdir copy unpacked
cp -a "$MNT/." copy
rm -r copy/similar copy/clusters
diff -r "$SOURCE" copy > differences || fail "copied: $(head -3 differences)"
tar -C "$MNT" --exclude=./similar --exclude=./clusters -cf - . | tar -C unpacked -xf -
diff -r "$SOURCE" unpacked > differences || fail "archived: $(head -3 differences)"

before=$(stat -c %i "$MNT/in" "$MNT/in/f1" "$MNT/other/f1")
stop
start
expect_equal 'numbers last' "$before" "$(stat -c %i "$MNT/in" "$MNT/in/f1" "$MNT/other/f1")"
stop
