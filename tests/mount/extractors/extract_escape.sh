#!/usr/bin/env bash
# What reads a document cannot end what watches it, and so not outlive it: not by its user, and not by a signal that it has the
# kernel send.
. "${0%/mount/*}/lib/shell/mount.sh"
needs setpriv pgrep
python=/usr/bin/python3
[[ -x $python ]] || skip "$python is not installed"
tools=$(dirname "$KINFS")
[[ -x $tools/kinfs-extract ]] || skip 'kinfs-extract is not built'
chmod 711 .
mkfifo document
seconds=120 # for what waits on a busy machine

# -- a signal by the owner of a descriptor, asked for with more bits than the kernel looks at --

cat > attack << SCRIPT
#!$python
import ctypes, os
libc, upper = ctypes.CDLL(None, use_errno=True), 1 << 32
number = {"x86_64": (72, 157), "aarch64": (25, 167)}.get(os.uname().machine)
def call(name, which, *arguments):
    r = libc.syscall(ctypes.c_long(number[which]), *(ctypes.c_ulong(a) for a in arguments))
    print(name, os.strerror(ctypes.get_errno()) if r < 0 else "done", flush=True)
F_SETFL, F_SETOWN, F_SETSIG, SIGKILL, PR_SET_PDEATHSIG = 4, 8, 10, 9, 1
watcher = os.getppid()
if number:
    here, there = os.pipe()
    call("parent", 1, upper | PR_SET_PDEATHSIG, 0, 0, 0, 0)
    call("owner", 0, here, upper | F_SETOWN, watcher)
    call("signal", 0, here, upper | F_SETSIG, SIGKILL)
    call("asynchronous", 0, here, F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(there, b"x")
os.read(0, 1) # until the document ends
print("watched" if os.getppid() == watcher else "escaped", flush=True)
SCRIPT
chmod 755 attack

# attack COMMAND...: run by it, and looked at while it reads.
attack() {
    local said bytes shell output
    exec {said}< <(exec "$@" bash -c '"$0" "$BASHPID" "$1" 1024 "$2"; echo "exit code $?"' \
        "$tools/kinfs-extract" "$seconds" "$PWD/attack" < document 2>&1)
    shell=$!
    exec {bytes}> document
    reads() { watcher=$(pgrep -P "$shell" -x kinfs-extract) && reader=$(pgrep -P "$watcher" -x attack); }
    soon 'it reads' reads
    look
    exec {bytes}>&-
    output=$(cat <&"$said")
    exec {said}<&-
    ! grep -v '^asynchronous' <<< "$output" | grep 'done$' >&2 || fail 'it could'
    expect_equal 'it is watched to its end' 'watched exit code 0' "$(tail -n 2 <<< "$output" | paste -sd ' ')"
}

look() { :; }
attack setpriv --reuid=54321 --regid=54321 --clear-groups

# -- the user of a run --

((EUID == 0)) || exit 0
look() {
    local user
    user=$(awk '/^Uid/ { print $2 }' "/proc/$reader/status")
    expect_equal 'the watcher' "0 $user 0" "$(awk '/^Uid/ { print $2, $3, $4 }' "/proc/$watcher/status")"
    ! setpriv --reuid="$user" --clear-groups kill -0 "$watcher" 2> /dev/null || fail 'the run can end what watches it'
    setpriv --reuid="$user" --clear-groups kill -0 "$reader" || fail 'the test is not that user'
    setpriv --bounding-set=-kill kill -0 "$watcher" || fail 'root cannot end the watcher'
}
attack setpriv --bounding-set=-kill
