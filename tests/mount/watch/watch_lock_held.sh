#!/usr/bin/env bash
# A directory's lock held by somebody who hangs holds up nothing but what is done in that directory: changes
# elsewhere are seen, and the daemon can be ended.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
needs python3
[[ $(uname -m) = x86_64 ]] || skip 'knows the number of getdents64 on x86_64 only'
if ! OUT=$(start -o watch=fanotify 2>&1); then
    [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
    skip "$OUT"
fi
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
# A second mount, whose daemon will stand still: memory that maps its file hangs whoever touches it.
mkdir -p "$SCRATCH/slow" "$SCRATCH/slow_mnt"
truncate -s 1M "$SCRATCH/slow/memory"
KINFS_STATE_DIR=$SCRATCH/slow_state "$KINFS" mount -o nosketch,nopassthrough "$SCRATCH/slow" "$SCRATCH/slow_mnt"
slow_pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$SCRATCH"/slow_state/*/holder)
mkdir -p "$SOURCE/held" "$SOURCE/free"
echo one > "$SOURCE/held/a"
echo one > "$SOURCE/free/a"
soon 'the start' is one cat "$MNT/free/a"
soon 'the start' is one cat "$MNT/held/a"
warm free/new held/new

cat > "$SCRATCH/hang.py" <<'EOP'
import ctypes, mmap, os, sys
directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
memory = mmap.mmap(os.open(sys.argv[2], os.O_RDWR), 1 << 20, mmap.MAP_SHARED)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
print("ready", flush=True)
sys.stdin.readline()
libc = ctypes.CDLL(None, use_errno=True)
n = libc.syscall(217, directory, ctypes.c_void_p(address), 4096)  # getdents64
print("done" if n > 0 else f"getdents64: {n}, {os.strerror(ctypes.get_errno())}", flush=True)
EOP
trap 'kill -CONT "$slow_pid" 2> /dev/null || true' EXIT
is_hanging() { grep -q fault "/proc/$hang_pid/stack"; } # and not in a request of the directory
why_not() {
    cat "/proc/$hang_pid/stack" "/proc/$hang_pid/status" 2>&1 || true
    grep '^State' "/proc/$slow_pid"/task/*/status || true
    kill -CONT "$slow_pid"
    timeout 5 head -n 1 <&7 || true
}
# A signal to stop is told to one thread, which tells the others: until then these go on.
stands_still() { [[ -z $(grep -L '^State:.T' "/proc/$slow_pid"/task/*/status) ]]; }

coproc HANG { exec python3 "$SCRATCH/hang.py" "$MNT/held" "$SCRATCH/slow_mnt/memory"; }
hang_pid=$HANG_PID
exec 7<&"${HANG[0]}" 8>&"${HANG[1]}" # which are gone from here when it ends
read -r line <&7
expect_equal 'the one who will hang' ready "$line"
kill -STOP "$slow_pid"
soon 'the other daemon stands still' stands_still
echo go >&8
(soon 'it hangs' is_hanging) || fail "nobody hangs, but: $(why_not)"

rm "$SOURCE/held/a" # which cannot be told now
soon 'the telling hangs' grep -qE 'rwsem|fuse_reverse|down_write|inval|folio' /proc/"$pid"/task/*/wchan /proc/"$pid"/task/*/stack
echo two > "$SOURCE/free/new"
chmod 600 "$SOURCE/free/a"
mv "$SOURCE/free/a" "$SOURCE/free/b"
soon 'attributes elsewhere' is 600 stat -c %a "$MNT/free/b"
if all_names_can_be_told; then
    soon 'a new name elsewhere' is two cat "$MNT/free/new"
    soon 'a name gone elsewhere' gone "$MNT/free/a"
fi
kill -CONT "$slow_pid"
read -r line <&7
expect_equal 'it hangs no more' 'done' "$line"
soon 'in that directory' gone "$MNT/held/a"
wait "$hang_pid"
"$KINFS" umount "$SCRATCH/slow_mnt"
stop
