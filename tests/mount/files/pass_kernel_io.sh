#!/usr/bin/env bash
# With kernel passthrough the daemon neither reads nor writes for the callers.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "passthrough needs root"
needs pgrep
IFS=. read -r major minor _ < <(uname -r)
((major > 6 || (major == 6 && ${minor%%[^0-9]*} >= 9))) || skip "passthrough needs Linux 6.9"

bytes_of() { # PID: all it ever read and wrote by system calls
    awk '/^[rw]char/ { n += $2 } END { print n }' "/proc/$1/io"
}

mkdir -p "$SOURCE"
for option in passthrough nopassthrough; do
    truncate -s 32M "$SOURCE/file"
    start -o "$option,nosketch" # a document that is written while it is sketched is read again
    pid=$(pgrep -n -f "mount.*$MNT") || fail "no daemon"
    before=$(bytes_of "$pid")
    dd if=/dev/zero of="$MNT/file" bs=1M count=32 conv=notrunc status=none
    written=$(($(bytes_of "$pid") - before))
    before=$(bytes_of "$pid")
    for _ in 1 2 3; do
        cat "$MNT/file" > /dev/null
    done
    read=$(($(bytes_of "$pid") - before))
    stop
    if [[ $option = passthrough ]]; then
        ((read < 4 << 20)) || fail "the daemon read $read bytes of 96 MiB"
        ((written < 4 << 20)) || fail "the daemon moved $written bytes for 32 MiB"
    fi
    echo "$option: $written bytes moved at writing, $read at reading"
done
