#!/usr/bin/env bash
# 5,000 files known to the kernel do not take 5,000 descriptors.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "file handles need root"
needs pgrep
mkdir -p "$SOURCE"
for d in $(seq 50); do
    mkdir "$SOURCE/d$d"
    (cd "$SOURCE/d$d" && touch $(seq 100))
done
ulimit -n 1024
start -o views=none
find "$MNT" -type f -exec stat -c %s {} + > sizes
expect_equal "files" 5000 "$(wc -l < sizes)"
find "$MNT" -type f -exec cat {} + > /dev/null
for i in $(seq 300); do
    exec {fd}< "$MNT/d1/$((i % 100 + 1))"
done
pid=$(pgrep -n -f "mount.*$MNT") || fail "no daemon"
few_descriptors() { (($(ls "/proc/$pid/fd" | wc -l) < 900)); }
soon "few descriptors" few_descriptors # of what was closed the daemon is told a moment later
find "$MNT" -type f -exec stat -c %s {} + > sizes
expect_equal "files" 5000 "$(wc -l < sizes)"
for fd in $(seq 10 400); do
    exec {fd}<&-
done
stop
