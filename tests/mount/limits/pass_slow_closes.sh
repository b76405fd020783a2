#!/usr/bin/env bash
# Who closes the last descriptor of what was removed waits for its file system, which its owner can make slow; here closes take ten minutes.
# Nobody waits for that: neither who looks a directory up, for which one of these goes, nor anybody when the kernel forgets hundreds or hears
# that they are not listed any more; nor who waits for the end of the mount, and mounts again.
# Begins early: the mount is traced.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'what mounts without root cannot be traced'
needs_fuse
needs strace python3 pgrep
# Under strace leaks cannot be looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
mkdir -p "$SOURCE/greedy" "$SOURCE/others" "$MNT"
for i in $(seq 400); do mkdir "$SOURCE/others/$i"; done
echo content > "$SOURCE/others/file"
# The daemon keeps 256 descriptors of directories.
ulimit -n 1024
held=150 open=50
slow=()
for ((i = 0; i < held + open; i++)); do
    slow+=(-P "$SOURCE/greedy/gone-$i" -P "$SOURCE/greedy/gone-$i (deleted)")
done

look() {
    expect_equal "directories $1" 402 "$(timeout 100 stat -c %F "$MNT/others" "$MNT"/others/* | wc -l)"
    expect_equal "listed $1" 401 "$(timeout 100 ls "$MNT/others" | wc -l)"
    expect_equal "content $1" content "$(timeout 100 cat "$MNT/others/file")"
    expect_code 1 timeout 100 stat "$MNT/others/none"
}

mount_slowly() {
    strace -D -f -o /dev/null "${slow[@]}" -e trace=close -e inject=close:delay_enter=600000000 "$KINFS" mount "$@" "$SOURCE" "$MNT"
    daemon=$(pgrep -f "^$KINFS mount ${*:+$* }$SOURCE $MNT")
    tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$daemon/status")
    trap 'kill -9 "$tracer" 2> /dev/null || true' EXIT
}

mount_slowly -o nosketch
coproc GREEDY { python3 "$LIB/greed/hold_removed.py" "$SOURCE/greedy" "$MNT/greedy" "$held" "$open"; }
greedy=$GREEDY_PID
read -r line <&"${GREEDY[0]}"
expect_equal 'who holds' held "$line"
look 'while they are held'
echo >&"${GREEDY[1]}"
wait "$greedy"
for i in $(seq 5); do look "$i, when nobody holds them"; done
# What comes after has a bound: all are shared out of 1024, a quarter and what may wait beside it for the cache of directories.
timeout 100 python3 "$LIB/greed/crowd_closes.py" "$SOURCE/greedy" "$MNT/greedy" 1500 12
n_fds=$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)
echo "N_FDS $n_fds"; ((n_fds < 580)) || fail "$n_fds descriptors of the daemon"
look 'when closes crowd behind them'
expect_code 0 timeout 100 "$KINFS" umount "$MNT"
expect_code 0 timeout 100 "$KINFS" mount -o nosketch "$SOURCE" "$MNT"
look 'in the next mount'
stop
kill -9 "$tracer" # which waits, however it is asked to end
await_end "$daemon" || fail 'the daemon goes on when nothing takes its time any more'

# Of a listing of similar/ there is but one descriptor, and the kernel names nobody for whom it is closed.
mount_slowly
coproc GREEDY { python3 "$LIB/greed/hold_removed.py" "$SOURCE/greedy" "$MNT/similar/greedy" 0 "$open"; }
greedy=$GREEDY_PID
read -r line <&"${GREEDY[0]}"
echo >&"${GREEDY[1]}"
wait "$greedy"
look 'when nobody lists them'
n_closing=$(grep -l '^3 ' "/proc/$daemon/task"/*/syscall 2> /dev/null | wc -l)
((n_closing < open / 2)) || fail "$n_closing threads close"
kill -9 "$tracer"
stop
