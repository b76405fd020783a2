#!/usr/bin/env bash
# The store's file system fills up: documents are written and read as ever, the state of what could not
# be sketched says so, and when there is room again everything is found, without anybody's help.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs fallocate
[[ $(id -u) = 0 ]] || skip "mounting a small file system takes root"

disk=$SCRATCH/disk
mkdir "$disk"
# The log has up to 32 MB before the tables are written, and 64 MB stay free for that.
mount -t tmpfs -o size=160m kinfs-test "$disk"
trap 'stop 2> /dev/null; umount "$disk"' EXIT

mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/before"
start -o store="$disk/store"
"$KINFS" settle "$MNT" > /dev/null

# Whatever room the store leaves free for itself, it has less.
fallocate -l "$(df --output=avail -B1 "$disk" | tail -1)" "$disk/fill" ||
    dd if=/dev/zero of="$disk/fill" bs=1M 2> /dev/null || true

# What it wants is said.
small=$SCRATCH/small
mkdir "$small"
mount -t tmpfs -o size=32m kinfs-test "$small"
expect_code 3 "$KINFS" scan --store="$small/store" "$SOURCE"
umount "$small"
expect_match "a small disk" "^kinfs: no room for store $small/store: .* 64 MiB .*make room" "$OUT"

# More than the store may write before it looks at the room again.
for i in $(seq 1500); do
    words "$i" 400 > "$MNT/new$i"
done
for i in 1 700 1500; do
    cmp "$MNT/new$i" <(words "$i" 400)
    cmp "$SOURCE/new$i" "$MNT/new$i"
done
expect_equal "state of what is in" current \
    "$(getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/before")"
expect_equal "state of what is not" pending \
    "$(getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/new1500")"
expect_match "status" 'No space left|room' "$("$KINFS" status "$MNT")"
# Which is after the first that found no room.
for ((n = 0; n < 200; n++)); do
    pending=$(getfattr --absolute-names -n user.kinfs.pending --only-values "$MNT")
    known=$(getfattr --absolute-names -n user.kinfs.documents --only-values "$MNT")
    ((pending + known != 1501)) || break
    "$KINFS" settle "$MNT" > /dev/null 2>&1 || sleep 0.3
done
((pending + known == 1501)) || fail "$pending are pending, $known are known of 1501"
((pending > 0)) || fail "all is known with no room left"

# Nobody is left waiting for what cannot come.
expect_code 3 "$KINFS" settle "$MNT"
expect_match "settle" 'make room' "$OUT"

# Its room is given back at once, also where somebody beside the test still holds the file: one who
# watches every mount of the machine keeps what was written in his queue.
truncate -s 0 "$disk/fill"
rm "$disk/fill"
# The daemon looks every two seconds whether it can go on.
documents() {
    getfattr --absolute-names -n user.kinfs.documents --only-values "$MNT"
}
for ((n = 0; n < 200; n++)); do
    [[ $(documents) != 1501 ]] || break
    "$KINFS" settle "$MNT" > /dev/null 2>&1 || sleep 0.3
done
expect_equal "documents, with $(df --output=avail -B1 "$disk" | tail -1) bytes free: $("$KINFS" status "$MNT")" \
    1501 "$(documents)"
expect_equal "state afterwards" current \
    "$(getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/new1500")"
[[ -n $(ls "$MNT/similar/new1500") ]] || fail "nothing resembles new1500"
