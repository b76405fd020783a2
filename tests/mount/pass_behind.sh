#!/usr/bin/env bash
# What changed in the tree behind the mount is there for whoever opens it next.
. "$(dirname "$0")/../lib/mount.sh"
is_closed() { # of a close the daemon is told a moment later; with O_PATH it knows a file, and has it not open
    local fd
    for fd in "/proc/$daemon/fd/"*; do
        [[ $(readlink "$fd") != "$SOURCE/file" ]] || grep -qs '^flags:.*[1357].......$' "/proc/$daemon/fdinfo/${fd##*/}" || return 1
    done
}
for option in passthrough nopassthrough; do
    start -o "views=none,$option"
    daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    for i in $(seq 20); do
        words 1 10 > "$MNT/file"
        [[ $(stat -c %s "$MNT/file") = $(stat -c %s "$SOURCE/file") ]] || fail "size"
        soon 'the file is closed' is_closed
        words 1 $((10 + 10 * i)) > "$SOURCE/file"
        cp "$MNT/file" "$MNT/copy"
        cmp "$MNT/copy" "$SOURCE/file" || fail "a copy was cut short"
        words 5 "$i" > "$SOURCE/file"
        cp "$MNT/file" "$MNT/copy"
        cmp "$MNT/copy" "$SOURCE/file" || fail "a copy of a file made shorter"
        words 1 12 > "$SOURCE/other"
        mv "$SOURCE/other" "$SOURCE/file"
        cmp "$MNT/copy" "$SOURCE/copy"
    done
    rm "$SOURCE/copy"
    stop
done
