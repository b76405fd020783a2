#!/usr/bin/env bash
# The reader of events opens no file to see whether it is as the daemon left it: one that is being freed, as its owner can have it in that
# moment, opens no sooner than that is done, which takes seconds of a large one. Here opening by a key takes ten minutes.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can trace what watches'
needs_fuse
needs strace python3 pgrep
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
start -o nosketch
[[ $("$KINFS" status "$MNT") == *fanotify* ]] || { stop; skip 'there is no fanotify here'; }
daemon=$(pgrep -f "^$KINFS mount .*$SOURCE $MNT")
strace -f -p "$daemon" -o /dev/null -e trace=open_by_handle_at -e inject=open_by_handle_at:delay_enter=600000000 2> traced &
tracer=$!
trap 'kill -9 "$tracer" 2> /dev/null || true' EXIT
is_traced() { grep -q attached traced; }
soon 'the daemon is traced' is_traced

for name in one other; do
    expect_code 1 stat "$MNT/$name" # which the kernel keeps, until it is told
    # A file that is made is open, and not opened for this.
    python3 -c 'import os, sys; fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR, 0o600); os.fchmod(fd, 0o640)' "$MNT/made-$name"
    echo "$name" > "$SOURCE/$name"
    is_there() { [[ -e $MNT/$name ]]; }
    soon 'what is made beside the mount' is_there
done
kill -9 "$tracer"
stop
