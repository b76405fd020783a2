#!/usr/bin/env bash
# What was changed beside the mount is in the next answer, as what was changed through it is: nobody waits, and nothing
# is missed. As root the changes are seen by fanotify, and by inotify as an ordinary user sees them.
# Begins early: it goes round many times.
. "${0%/mount/*}/lib/shell/mount.sh"
ROUNDS=${BESIDE_ROUNDS:-$((200 / ${TRIALS_SHARE:-1}))}
beside=$LIB/beside/beside.py

for watch in fanotify inotify; do
    # Bounded far above what an answer takes on a busy machine: what is asked here is whether it is right.
    OUT=$(start -o "watch=$watch,settle_ms=600000" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    words 1 100 > "$SOURCE/report"
    "$KINFS" settle "$MNT" > settled
    "$beside" "$KINFS" "$SOURCE" "$MNT" "$ROUNDS" || fail "$watch"
    # Of inotify the kernel queues only so much (fs.inotify.max_queued_events).
    [[ $watch = inotify ]] || "$beside" "$KINFS" "$SOURCE" "$MNT" "$((ROUNDS / 10))" noise || fail "$watch, with noise"
    stop
    rm -r "$SOURCE" "$SOURCE.outside"
done
