#!/usr/bin/env bash
# What the kernel is told just before a change, and takes after it, it does not keep.
# Runs alone: it keeps others from a processor.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 && $(nproc) -gt 1 ]] || skip 'only root can keep others from a processor, and one has to be left'
needs python3 chrt
chrt -f 1 true 2> /dev/null || skip 'no real-time scheduling here'
for option in passthrough nopassthrough; do
    if ! OUT=$(start -o "watch=fanotify,views=none,$option" 2>&1); then
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        skip "$OUT"
    fi
    pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    python3 "$LIB/beside/late_answers.py" "$MNT" "$SOURCE" "$pid" || fail "see above, $option"
    stop
    find "$SOURCE" -mindepth 1 -delete
done
