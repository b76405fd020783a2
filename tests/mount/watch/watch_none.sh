#!/usr/bin/env bash
# Without a watch the kernel asks again every second, and documents are looked at when they are asked about.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
start -o watch=none
expect_match 'what is kept' '"kept_seconds": *1[^0-9]' "$("$KINFS" status --json "$MNT")"
expect_match 'in words' $'\nwatch +none' "$("$KINFS" status "$MNT")"
changes_are_seen
stop
expect_code 2 "$KINFS" mount -o watch=always "$SOURCE" "$MNT"
expect_match 'what it takes' 'auto, fanotify, inotify or none' "$OUT"
