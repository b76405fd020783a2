#!/usr/bin/env bash
# A full disk and a store that dies keep nobody from his files; what is damaged of the past is told, mended, and left out of answers.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
((EUID == 0)) || skip 'needs root, for a small file system'

mkdir -p small
mount -t tmpfs -o size=96m none small || skip 'no tmpfs here'
trap 'umount -l "$MNT" 2> /dev/null || true; umount -l small' EXIT
mkdir -p "$SOURCE"
for i in {1..40}; do words $((1000 * i)) 300 > "$SOURCE/$i"; done
start -o store="$SCRATCH/small/store"
expect_code 0 "$KINFS" settle "$MNT"
rm "$MNT/1"
cp "$MNT/2" "$MNT/two"
expect_code 0 "$KINFS" settle "$MNT"
# 64 MiB are kept free: with less no write is taken.
head -c 60M /dev/zero > small/fill 2> /dev/null || true
for i in {2..20}; do rm "$MNT/$i"; done
for i in {21..30}; do words $((1000 * i + 500)) 300 > "$MNT/$i"; done
[[ $(find "$MNT" -maxdepth 1 -type f | wc -l) -eq 21 ]] || fail 'the tree is not as it should be'
rm small/fill
expect_code 0 "$KINFS" scan "$MNT"
expect_code 0 "$KINFS" settle "$MNT"
expect_equal 'found' $'1.0000\ttwo' "$("$KINFS" lost "$MNT/2")"
expect_code 0 "$KINFS" check "$MNT"

# A daemon that is killed: what it had noted is there, and whole.
rm "$MNT/two"
expect_code 0 "$KINFS" settle "$MNT"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' small/store/holder)
kill -9 "$pid"
await_end "$pid"
umount -l "$MNT"
start -o store="$SCRATCH/small/store"
expect_code 0 "$KINFS" settle "$MNT"
expect_match 'after a kill' 'died' "$("$KINFS" history "$MNT/two")"
expect_code 0 "$KINFS" check "$MNT"
stop
