#!/usr/bin/env bash
# A name is given to another file beside the mount and at once moved through it: what the kernel knew by it
# is not what it finds there.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
for option in watch=fanotify watch=none; do
    if ! OUT=$(start -o "views=none,$option" 2>&1); then
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    fi
    python3 "$LIB/beside/moves.py" "$MNT" "$SOURCE" || fail "see above, $option"
    stop
    find "$SOURCE" -mindepth 1 -delete
done
