#!/usr/bin/env bash
# -o nosketch: the tree and nothing else; status and umount as ever; refusals that say what to do.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr
needs python3

mkdir -p "$SOURCE/sub"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/sub/b"

start -o nosketch
expect_equal 'the tree and nothing else' "$(cd "$SOURCE" && find . | sort)" "$(cd "$MNT" && find . | sort)"
expect_code 2 ls "$MNT/.kinfs"
expect_equal 'no attributes' '' "$(getfattr -d -m - "$MNT" "$MNT/a" 2>&1)"
words 21 100 > "$MNT/sub/c"
expect_equal 'written' "$(words 21 100)" "$(cat "$SOURCE/sub/c")"
setfattr -n user.kinfs.state -v mine "$MNT/a" 2> /dev/null &&
    expect_equal 'names of no meaning are passed through' mine "$(getfattr --only-values --absolute-names -n user.kinfs.state "$SOURCE/a")"

# In its root the names are the daemon's: they are not there, and cannot be made.
mkdir "$SOURCE/.kinfs"
words 1 1 > "$SOURCE/.kinfs/file"
expect_equal 'the tree without .kinfs' "$(cd "$SOURCE" && find . -path ./.kinfs -prune -o -print | sort)" "$(cd "$MNT" && find . | sort)"
expect_code 2 ls "$MNT/.kinfs"
expect_code 1 cat "$MNT/.kinfs/file"
python3 - "$MNT" << 'EOF' || fail 'a name of the daemon'
import errno, os, sys
root = sys.argv[1]
name, other = root + "/.kinfs", root + "/a"
attribute = "user.kinfs.store"
calls = [("create", lambda: os.open(name, os.O_CREAT | os.O_WRONLY)), ("mkdir", lambda: os.mkdir(name)), ("mkfifo", lambda: os.mkfifo(name)),
         ("symlink", lambda: os.symlink("a", name)), ("link", lambda: os.link(other, name)), ("rename", lambda: os.rename(other, name)),
         ("setxattr", lambda: os.setxattr(root, attribute, b"x")), ("removexattr", lambda: os.removexattr(root, attribute))]
for call, make in calls:
    try:
        make()
        sys.exit(call + " was done")
    except OSError as error:
        if error.errno != errno.EPERM:
            sys.exit("%s: %s" % (call, error))
os.mkdir(root + "/sub/.kinfs")  # below the root it is a name like any other
os.rmdir(root + "/sub/.kinfs")
EOF
rm -r "$SOURCE/.kinfs"
if setfattr -n user.kinfs.store -v /nowhere "$SOURCE" 2> /dev/null; then
    setfattr -n user.other -v kept "$SOURCE"
    expect_equal 'attributes of the root' 'user.other' "$(getfattr -m - "$MNT" 2> /dev/null | sed '/^#/d; /^$/d')"
    expect_code 1 getfattr -n user.kinfs.store "$MNT"
    setfattr -x user.kinfs.store "$SOURCE"
    setfattr -x user.other "$SOURCE"
fi

expect_code 0 "$KINFS" status "$MNT"
expect_match 'status' $'^tree +'"$SOURCE"$'\nmounted on +'"$MNT"$'\nsketching +off.*\nkernel +' "$OUT"
expect_match 'io_uring' $'\nio_uring +off; libfuse' "$OUT"
field() { "$KINFS" status --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1]))' "$2"; }
expect_equal 'io_uring in JSON' False "$(field "$MNT" io_uring)"
expect_match 'and why' libfuse "$(field "$MNT" io_uring_why)"
expect_equal 'sketching' False "$(field "$MNT/sub" sketching)"
expect_equal 'no store' None "$(field "$MNT" store)"
for command in 'status MNT/a' 'similar MNT/a' 'similar -T MNT MNT/a' 'similar -T MNT/sub -' 'clusters MNT' 'compare MNT/a MNT/sub/b' 'settle MNT' 'scan MNT'; do
    # shellcheck disable=SC2086
    expect_code 3 "$KINFS" ${command//MNT/"$MNT"}
    expect_match "$command" "$MNT: mounted with -o nosketch.*, $SOURCE" "$OUT"
done
expect_code 3 "$KINFS" rebuild "$MNT"
expect_match 'rebuild' "mounted on $MNT .*kinfs umount $MNT" "$OUT"
expect_equal 'no store was made' 1 "$(find "$KINFS_STATE_DIR" -mindepth 1 -maxdepth 1 | wc -l)"

expect_code 3 "$KINFS" mount -o nosketch "$SOURCE" "$MNT"
expect_match 'twice' "mounted here already" "$OUT"
expect_code 2 "$KINFS" mount -o threshold=0.5,nosketch "$SOURCE" "$SCRATCH"
expect_match 'of two kinds' 'so -o threshold has no meaning' "$OUT"

# The same tree elsewhere, and its own index beside the mount.
mkdir "$SCRATCH/second"
"$KINFS" mount -o nosketch,views=none,ro "$SOURCE" "$SCRATCH/second"
expect_equal 'a second mount' "$(cat "$SOURCE/a")" "$(cat "$SCRATCH/second/a")"
expect_code 1 touch "$SCRATCH/second/new"
expect_code 3 "$KINFS" similar "$SOURCE/a"
expect_match 'not known' 'not in a tree kinfs knows' "$OUT"
expect_equal 'indexed beside the mounts' '3 documents in 1 cluster' "$("$KINFS" scan "$SOURCE")"
expect_match 'asked beside the mounts' 'sub/b' "$("$KINFS" similar "$SOURCE/a")"
expect_code 3 "$KINFS" similar "$MNT/a"
"$KINFS" umount "$SCRATCH/second"
expect_equal 'the first goes on' False "$(field "$MNT" sketching)"

# Lazily, then again while the first is in use; then mounts that follow each other at once.
exec 5< "$MNT/a"
"$KINFS" umount --lazy "$MNT"
expect_code 3 "$KINFS" mount -o nosketch "$SOURCE" "$MNT"
expect_match 'in use still' "$MNT: an earlier mount here, unmounted lazily" "$OUT"
pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$KINFS_STATE_DIR"/*+mount/holder)
exec 5<&-
await_end "$pid"
for _ in 1 2 3 4 5; do
    start -o nosketch
    stop
done
expect_equal 'nothing is left but the store' 1 "$(find "$KINFS_STATE_DIR" -mindepth 1 -maxdepth 1 | wc -l)"

# Killed: the next mount cleans up.
start -o nosketch
pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$KINFS_STATE_DIR"/*+mount/holder)
kill -KILL "$pid"
await_end "$pid"
expect_code 3 "$KINFS" status "$MNT"
expect_match 'dead' 'has died' "$OUT"
start -o nosketch
expect_equal 'serves again' False "$(field "$MNT" sketching)"
stop

# Over itself, and where no place can be made for it.
"$KINFS" mount -o nosketch "$SOURCE"
expect_equal 'over itself' "$(words 1 100)" "$(cat "$SOURCE/a")"
expect_equal 'over itself' False "$(field "$SOURCE" sketching)"
"$KINFS" umount "$SOURCE"
echo > "$SCRATCH/file"
expect_code 3 env KINFS_STATE_DIR="$SCRATCH/file/state" "$KINFS" mount -o nosketch "$SOURCE" "$MNT"
expect_match 'no place' "$SCRATCH/file" "$OUT"
expect_code 3 env KINFS_STATE_DIR="$SOURCE/state" "$KINFS" mount -o nosketch "$SOURCE"
expect_match 'in itself' 'elsewhere with KINFS_STATE_DIR' "$OUT"

# With sketching again, everything is there.
start
"$KINFS" settle "$MNT"
expect_equal 'sketched' True "$(field "$MNT" sketching)"
expect_match 'known' 'c' "$(ls "$MNT/similar/a")"
stop
