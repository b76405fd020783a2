#!/usr/bin/env bash
# Requests that cannot be answered for now hold up nobody else, even where one thread answers all that
# comes quickly; and the mount can be ended afterwards.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "freezing needs root"
needs fsfreeze mkfs.ext4
truncate -s 64M "$SCRATCH/image"
mkfs.ext4 -q -F "$SCRATCH/image"
mkdir -p "$SOURCE"
mount -o loop "$SCRATCH/image" "$SOURCE" || skip 'no loop devices here'
thaw() { fsfreeze -u "$SOURCE" 2> /dev/null || true; }
trap 'thaw; umount -l "$MNT" 2> /dev/null || true; umount -l "$SOURCE"' EXIT
mkdir "$SOURCE/d"
for i in $(seq 50); do echo "$i" > "$SOURCE/d/$i"; done
# Each in a directory of its own, whose lock the kernel holds meanwhile.
for i in $(seq 100); do mkdir "$SOURCE/$i"; done
start -o views=none,watch=none

# Requests that follow each other quickly, without end.
look() {
    while [[ -e $SCRATCH/looking ]]; do ls -l "$MNT/d" > /dev/null; done
}
touch "$SCRATCH/looking"
look &
looking=$!
for n in 1 20 100; do
    fsfreeze -f "$SOURCE"
    makers=()
    for i in $(seq "$n"); do
        touch "$MNT/$i/made-$n" &
        makers+=($!)
    done
    for i in $(seq 50); do
        expect_equal "content while $n are held up" "$i" "$(timeout 100 cat "$MNT/d/$i")"
        expect_code 1 timeout 100 stat "$MNT/d/none$i"
    done
    for maker in "${makers[@]}"; do
        kill -0 "$maker" || fail 'a file was made in a frozen file system'
    done
    thaw
    wait "${makers[@]}" || fail 'what was held up failed'
    expect_equal "made" "$n" "$(find "$SOURCE" -name "made-$n" | wc -l)"
done
rm "$SCRATCH/looking"
wait "$looking" || fail 'somebody else'
stop
