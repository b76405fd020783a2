#!/usr/bin/env bash
# Who uses a name that is replaced beside the mount all the time is never told ESTALE.
. "$(dirname "$0")/../lib/mount.sh"
needs python3
lib=$(cd "$(dirname "$0")/../lib" && pwd)
for option in passthrough nopassthrough watch=none; do
    start -o "$option"
    python3 "$lib/replaced_beside.py" "$MNT" "$SOURCE" || fail "see above, $option"
    stop
    find "$SOURCE" -mindepth 1 -delete
done
