#!/usr/bin/env bash
# However few threads the daemon can have: a mount is either refused, in a line that says why, or it serves.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
! grep -q __asan_init "$KINFS" || skip 'a sanitizer takes all addresses there are'
mkdir -p "$SOURCE" "$MNT"
echo content > "$SOURCE/f"

STACK_KIB=$((1 << 18)) # of each thread: next to nothing else counts
refused=0 served=0
for ((kib = STACK_KIB / 2; served < 2; kib += STACK_KIB / 2)); do
    ((kib < 40 * STACK_KIB)) || fail 'never served'
    code=0
    (ulimit -s $STACK_KIB && ulimit -v $kib && exec timeout 60 "$KINFS" mount -o nosketch,watch=none "$SOURCE" "$MNT") > said 2>&1 || code=$?
    if ((code)); then
        [[ $code != 127 ]] || continue # not even the program's libraries fit
        expect_equal "exit code with $kib KiB" 3 "$code"
        expect_match "what is said with $kib KiB" '^kinfs: [^[:cntrl:]]+$' "$(cat said)"
        ! mountpoint -q "$MNT" || fail "refused with $kib KiB, and mounted"
        refused=$((refused + 1))
    else
        expect_equal "what is served with $kib KiB" content "$(timeout 20 cat "$MNT/f")"
        stop
        served=$((served + 1))
    fi
done
((refused)) || fail 'there were threads enough always'
