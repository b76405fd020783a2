#!/usr/bin/env bash
# Who stands in a directory that is removed beside the mount gets what a plain directory gives.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
for option in watch=fanotify watch=fanotify,nopassthrough watch=none; do
    OUT=$(start -o "views=none,$option" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    mkdir "$SCRATCH/plain"
    python3 "$LIB/beside/removed_beside.py" "$SCRATCH/plain" "$MNT" "$SOURCE" || fail "see above, $option"
    stop
    find "$SOURCE" "$SCRATCH/plain" -mindepth 1 -delete
    rmdir "$SCRATCH/plain"
done
