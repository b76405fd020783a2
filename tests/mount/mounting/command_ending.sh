#!/usr/bin/env bash
# How a mount ends, and what comes after: plain umount(8) and a mount right behind it, busy, lazily
# with files in use, by each signal, killed in the middle, crashed, started twice at a time.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs fusermount3 python3

holder_pid() { sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder; }
ended() { await_end "$1" || fail "process $1 does not end" 1; }
is_mounted() { awk -v point="$1" '$5 == point { n++ } END { exit !n }' /proc/self/mountinfo; }
kill_daemon() {
    local pid
    pid=$(holder_pid)
    kill "-$1" "$pid"
    ended "$pid"
}

mkdir -p "$SOURCE/d" "$MNT"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/b"

# What was closed just before umount(8) is known when it is mounted the next time, although that
# comes while the old daemon is still at it; also without a mount.
start
words 21 100 > "$MNT/c"
umount "$MNT"
start
expect_equal 'mounted at once' a "$("$KINFS" similar -0 -n 1 "$MNT/b" | tr -d '\0')"
expect_match 'the last one written' '0\.8113' "$("$KINFS" similar "$MNT/b")"
words 5 100 > "$MNT/c"
umount "$MNT"
expect_code 0 "$KINFS" similar "$SOURCE/c"

# A daemon with something left to read that takes long, and the next one that waits for it.
printf '[extractor "image/png"]\ncommand = /bin/sleep 1000\nseconds = 1000\n' > kinfs.conf
has_extract=
[[ ! -x $(dirname "$KINFS")/kinfs-extract ]] || has_extract=,config=$PWD/kinfs.conf
start -o "workers=1$has_extract"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/long"
pid=$(holder_pid)
umount "$MNT"
start
rm "$MNT/long"
[[ $(holder_pid) != "$pid" ]] || fail 'the same daemon'

# Busy: EBUSY, and later it works; the same for fusermount3 -u.
exec 5>> "$MNT/c"
! umount "$MNT" 2> err || fail 'unmounted while a file was open'
expect_match 'busy' 'busy|in use' "$(cat err)"
echo still >&5
expect_equal 'goes on' still "$(tail -n 1 "$SOURCE/c")"
exec 5>&-
pid=$(holder_pid)
fusermount3 -u "$MNT"
ended "$pid"

# Lazily: what is open goes on, for reading, writing and by directory; others cannot have the store
# until the last is closed.
start
store=$(echo "$KINFS_STATE_DIR"/*)
exec 5<> "$MNT/a" 6>> "$MNT/c" 7< "$MNT/d"
pid=$(holder_pid)
umount -l "$MNT"
expect_equal 'taken away' '' "$(ls "$MNT")"
expect_equal 'read' word1 "$(head -n 1 <&5)"
words 900 50 >&6
exec 6>&-
expect_equal 'written' word949 "$(tail -n 1 "$SOURCE/c")"
echo made > "/proc/$$/fd/7/made"
expect_equal 'made' made "$(cat "$SOURCE/d/made")"
expect_code 3 "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'still held' "process $pid\)" "$OUT"
expect_match 'still answers' 'documents' "$("$KINFS" status --store="$store")"
exec 5>&- 7<&-
start
stop

# The signals that end it in order; HUP not when it is ignored.
for signal in TERM INT HUP; do
    start
    words 31 100 > "$MNT/$signal"
    kill_daemon "$signal"
    ! is_mounted "$MNT" || fail "$signal: still mounted"
    expect_code 0 "$KINFS" similar -t 0 "$SOURCE/$signal"
done
(trap '' HUP; exec "$KINFS" mount "$SOURCE" "$MNT")
pid=$(holder_pid)
kill -HUP "$pid"
expect_match 'HUP ignored' 'scan' "$("$KINFS" status "$MNT")"
kill_daemon TERM

# Who waits for a lock meanwhile is told as others are, by an errno there is.
start
# By one who lives: /proc/locks of a process namespace leaves out the locks of the dead, and who waits.
flock -F "$SOURCE/a" sleep 300 &
holder=$!
soon 'somebody has the lock' grep -q "^[0-9]*: FLOCK .*:$(stat -c %i "$SOURCE/a") " /proc/locks
flock "$MNT/a" true 2> err &
locker=$!
soon 'somebody waits for the lock' grep -q -- "-> FLOCK .*:$(stat -c %i "$SOURCE/a") " /proc/locks
kill_daemon TERM
! wait "$locker" || fail 'got a lock that somebody has'
expect_match 'told' 'abort|not connected' "$(cat err)"
kill "$holder"

# Killed: every file that was closed is whole, the dead mount is cleaned by the next, also with files
# open in it, also over the source itself, also several times on top of each other.
for over in "$MNT" "$SOURCE"; do
    "$KINFS" mount "$SOURCE" "$over"
    words 1 1000 > "$over/whole"
    exec 5< "$over/a" 6>> "$over/unfinished"
    echo begun >&6
    kill_daemon KILL
    is_mounted "$over" || fail 'no dead mount there'
    "$KINFS" mount "$SOURCE" "$over"
    expect_equal 'whole' "$(words 1 1000)" "$(cat "$over/whole")"
    expect_equal 'begun' begun "$(cat "$over/unfinished")"
    "$KINFS" settle "$over" > /dev/null
    rm "$over/unfinished"
    exec 5<&- 6>&-
    expect_equal 'one mount' 1 "$(awk -v point="$over" '$5 == point { n++ } END { print n }' /proc/self/mountinfo)"
    "$KINFS" umount "$over"
done

# Killed between the fork and the first answer: before it has the store, with it, after mounting.
if command -v strace > /dev/null; then
    for call in setsid flock mount listen; do
        # Under strace leaks cannot be looked for.
        expect_code 3 env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
            strace -f -o /dev/null -e "inject=$call:signal=KILL" "$KINFS" mount "$SOURCE" "$MNT"
        expect_match "killed at $call" 'died of Killed while it started' "$OUT"
        [[ $call != listen ]] || is_mounted "$MNT" || fail 'no dead mount there'
        start
        expect_equal "after $call" word1 "$(head -n 1 "$MNT/a")"
        stop
    done
fi

# A crash is told in the log, with what to do; so is an assertion's text, and nothing else is lost.
# A thread that crashes is who gets the signal. Sent to all, ThreadSanitizer lets it lie when one of
# RocksDB's takes it; and what a sanitizer handles itself is left to the daemon here.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}handle_segv=0:handle_sigbus=0"
for signal in ABRT SEGV BUS QUIT; do
    start -o "log=$SCRATCH/log"
    pid=$(holder_pid)
    python3 -c "import ctypes, signal; ctypes.CDLL(None).tgkill($pid, $pid, int(signal.SIG$signal))"
    ended "$pid"
    expect_match "$signal" "kinfs\[[0-9]+\]: error: ended by SIG$signal; .*$MNT.* kinfs mount $SOURCE $MNT" "$(tail -n 1 log)"
done

# Started several times at the same time, where nothing is mounted and where a daemon has died: one
# of them serves, and nobody takes its mount for the dead one.
start
for round in 1 2 3 4 5 6; do
    ((round == 1)) && stop || kill_daemon KILL
    starting=() serving=0
    for n in 1 2 3; do
        "$KINFS" mount "$SOURCE" "$MNT" > "start.$n" 2>&1 &
        starting+=($!)
    done
    for pid in "${starting[@]}"; do
        wait "$pid" && code=0 || code=$?
        case $code in
            0) serving=$((serving + 1)) ;;
            *) expect_equal "round $round: one that is too late" 3 "$code" ;;
        esac
    done
    expect_equal "round $round: one of three" 1 "$serving"
    expect_equal "round $round: why the others do not" 2 "$(grep -cE 'mounted (on|here)|in the kinfs mount' <(cat start.*))"
    expect_equal "round $round: serves" word1 "$(head -n 1 "$MNT/a")"
done
stop

# By one that ignores the end of children, which an exec passes on.
python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$KINFS" mount "$SOURCE" "$MNT"
expect_equal 'started without children' word1 "$(head -n 1 "$MNT/a")"
stop
