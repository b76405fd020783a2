#!/usr/bin/env bash
# With fanotify the kernel keeps what it was told, and every change beside the mount is seen all the same.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
for option in passthrough nopassthrough; do
    if ! OUT=$(start -o "watch=fanotify,$option" 2>&1); then
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        skip "$OUT"
    fi
    expect_match 'what is kept' '"kept_seconds": *60' "$("$KINFS" status --json "$MNT")"
    expect_match 'in words' $'\nwatch +fanotify\n' "$("$KINFS" status "$MNT")"$'\n'
    changes_are_seen
    changes_of_both_sides_are_seen
    changes_are_sketched
    stop
    rm -rf "$SOURCE" "$SCRATCH/outside" "$SCRATCH/elsewhere"
done
