#!/usr/bin/env bash
# Who uses a name that is replaced beside the mount all the time is never told ESTALE.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
for option in passthrough nopassthrough watch=none; do
    start -o "$option"
    python3 "$LIB/beside/replaced_beside.py" "$MNT" "$SOURCE" || fail "see above, $option"
    stop
    find "$SOURCE" -mindepth 1 -delete
done
