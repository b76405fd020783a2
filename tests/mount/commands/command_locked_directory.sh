#!/usr/bin/env bash
# kinfs cluster stands at a directory that its user keeps locked, but not beyond a signal, which a name looked up there would be.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked" "$SCRATCH/hanging"
words 1 100 | tee "$SOURCE/a" > "$SOURCE/own/b"
chown -R 54321:54321 "$SOURCE/own"
"$LIB/file_systems/hanging_fs.py" "$SCRATCH/hanging" 54321 > said &
server=$!
trap 'kill -9 $server 2> /dev/null; umount -l "$SCRATCH/hanging" 2> /dev/null || true' EXIT
soon 'a file system that does not answer' grep -q ready said
"$LIB/greed/keep_locked.py" 54321 "$SCRATCH/hanging/f" "$SOURCE/own/locked" > locked &
soon 'the directory is locked' grep -q locked locked

"$KINFS" cluster "$SOURCE" > /dev/null 2>&1 &
command=$!
stands() { # a system call that does not come to its end, twice the same
    local first
    first=$(< "/proc/$command/syscall")
    sleep 0.2
    [[ $first != running && $first = "$(< "/proc/$command/syscall")" ]]
}
soon 'it stands' stands
kill -KILL $command
soon 'it ends' has_ended $command
wait $command || true
