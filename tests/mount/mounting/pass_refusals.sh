#!/usr/bin/env bash
# What would make a mount wait for itself is refused in one line, and nothing is left mounted.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
mkdir -p "$SOURCE/inside" "$MNT"
ln -s "$SOURCE/inside" by-link

refused() { # WHAT COMMAND...
    local what=$1 out
    shift
    ! out=$("$@" 2>&1) || fail "$what: was not refused"
    expect_equal "$what: lines" 1 "$(wc -l <<< "$out")"
    expect_equal "$what: mounts" 0 "$(grep -c fuse.kinfs.*"$SCRATCH" /proc/self/mounts || true)"
}
refused "mount point in the source" "$KINFS" mount "$SOURCE" "$SOURCE/inside"
refused "the same by another path" "$KINFS" mount "$SOURCE" by-link
refused "store in the mount point" "$KINFS" mount -o store="$MNT/store" "$SOURCE" "$MNT"
refused "store in a source mounted over itself" "$KINFS" mount -o store="$SOURCE/store" "$SOURCE" "$SOURCE"
refused "no source" "$KINFS" mount "$SCRATCH/none" "$MNT"
