#!/usr/bin/env bash
# What watches over an extractor may stand still for long, together with the daemon, as a machine that is frozen does:
# once it goes on, it still ends all that was started.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr pgrep
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
# For a time by which no other test's are taken for its own.
sleeper=$(readlink -f "$(command -v sleep)")
sleeps=1013$(stat -c %i "$SCRATCH")

mkdir -m 755 programs
printf '#!/bin/sh\n%s %s &\nexec %s %s\n' "$sleeper" "$sleeps" "$sleeper" "$sleeps" > programs/orphan
chmod 755 programs/orphan
printf '[extractor "image/png"]\ncommand = %s/programs/orphan\nseconds = 5\n' "$PWD" > kinfs.conf
mkdir -p "$SOURCE" "$MNT"
"$KINFS" mount -o "config=$PWD/kinfs.conf,settle_ms=0" "$SOURCE" "$MNT"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/a.png"

sleepers() { pgrep -f "^$sleeper $sleeps" | wc -l; }
state() { getfattr -n user.kinfs.state --only-values "$MNT/a.png"; }
runs() { (($(sleepers) == 2)); }
gone() { (($(sleepers) == 0)); }
skipped() { [[ $(state) = skipped* ]]; }
# Bit 14 of the signals that wait for the process: SIGTERM.
asked() { awk '/^ShdPnd/ { exit substr($2, length($2) - 3, 1) !~ /[4-7c-f]/ }' "/proc/$watcher/status"; }
"$KINFS" settle "$MNT" > /dev/null & # or it would wait for the burst's end
soon 'it runs' runs
watcher=$(pgrep -f "kinfs-extract .*$PWD/programs/orphan" | head -n 1) || fail "nobody watches"
kill -STOP "$watcher"
until asked; do sleep 0.1; done # after fifteen seconds it is late
kill -CONT "$watcher"
soon 'nothing is left' gone
soon 'skipped' skipped
expect_equal 'the reason' 'skipped: image/png: took longer than 5 s' "$(state)"
wait
