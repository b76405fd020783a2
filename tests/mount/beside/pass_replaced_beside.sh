#!/usr/bin/env bash
# Who uses a name that is replaced beside the mount all the time is never told ESTALE; who truncates by it empties nothing that was replaced.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
for option in passthrough nopassthrough watch=none; do
    start -o "$option"
    python3 "$LIB/beside/replaced_beside.py" "$MNT" "$SOURCE" || fail "see above, $option"
    python3 "$LIB/beside/replaced_truncated.py" "$MNT" "$SOURCE" || fail "see above, truncated, $option"
    stop
    find "$SOURCE" -mindepth 1 -delete
done
