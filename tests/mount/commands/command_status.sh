#!/usr/bin/env bash
# What kinfs status says that a store takes is what it takes on the disk, mounted and not; and that is little.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
mkdir -p "$SOURCE"
for i in {1..200}; do words "$i" 300 > "$SOURCE/$i"; done

# usage TREE: what is said, and what du says then.
usage() {
    said=$("$KINFS" status --json "$1" | sed -n 's/.*"disk_bytes": *\([0-9]*\).*/\1/p')
    there=$(du -s --block-size=1 "$KINFS_STATE_DIR"/*source | cut -f 1)
}
is_as_on_disk() {
    usage "$1"
    [[ $said = "$there" ]]
}
start
"$KINFS" settle "$MNT"
soon 'the size of a store that is mounted' is_as_on_disk "$MNT"
# A document takes a kilobyte or two; the rest is what any store has.
most=$((2 << 20))
((there <= most)) || fail "mounted: $there bytes for 200 small documents"
stop
for i in 1 2; do
    # A command that has opened the store itself leaves a seal of two files when it ends.
    usage "$SOURCE"
    ((there >= said && there - said <= 4 * 4096)) || fail "unmounted, $i: $said is said, $there are there"
    ((there <= most)) || fail "unmounted, $i: $there bytes for 200 small documents"
done
