# Sourced by what has a process keep directories or files locked (locker.py), whose output is in the file `locked`.
# shellcheck shell=bash

# serve_hanging [MOUNT POINT...]: a file system that never answers, on $SCRATCH/hanging, from which a locker of uid 54321 has its memory; until the
# end, with which what is mounted at the mount points goes as well.
serve_hanging() {
    mkdir -p "$SCRATCH/hanging"
    "$LIB/file_systems/hanging_fs.py" "$SCRATCH/hanging" 54321 > said &
    server=$!
    mounted_too=("$SCRATCH/hanging" "$@")
    trap 'kill -9 "$server" 2> /dev/null || true; umount -l "${mounted_too[@]}" 2> /dev/null || true' EXIT
    soon 'a file system that does not answer' grep -q ready said
}

# end_locks PID: the file system goes, and with it what the process keeps locked.
end_locks() {
    kill -9 "$server"
    wait "$server" || true
    wait "$1"
}

# await_locks PID: it holds its locks.
await_locks() {
    soon 'what is to be locked is locked' holds_locks "$1"
}

holds_locks() {
    grep -q locked locked || { kill -0 "$1" || fail 'it could not be locked'; false; }
}
