#!/usr/bin/env bash
# With inotify changes beside the mount are sketched as they are made; the kernel asks again every second.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
start -o watch=inotify
expect_match 'what is kept' '"kept_seconds": *1[^0-9]' "$("$KINFS" status --json "$MNT")"
expect_match 'in words' $'\nwatch +inotify' "$("$KINFS" status "$MNT")"
changes_are_seen
changes_are_sketched

# Mounts that come and go elsewhere are no work here and nothing is kept of them, however many.
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
rests() { grep -q '^7 0x[0-9a-f]* 0x3 0xffffffff' "/proc/$pid/task/"*/syscall; } # poll(2) of three, without end
if [[ $UID = 0 && $(uname -m) = x86_64 ]]; then
    soon 'rests' rests
    mkdir mounts
    for ((n = 0; n < 150; n++)); do
        mount -t tmpfs none mounts
        umount mounts
    done
    soon 'rests after mounts elsewhere' rests
fi
stop
mkdir -p "$SOURCE/before/deep"
start -o watch=inotify
"$KINFS" settle "$MNT"
words 1 100 > "$SOURCE/before/deep/copy"
soon 'below directories that were there' is 100-copy links report
rm -r "$SOURCE/before"
mkdir -p "$SOURCE/a/b/c/d"
words 1 100 > "$SOURCE/a/b/c/d/copy"
soon 'below directories made at once' is 100-copy links report
mv "$SOURCE/a/b" "$SOURCE/b"
words 1 110 > "$SOURCE/b/c/d/other"
soon 'in a directory that moved' is '100-copy 090-other' links report

# More at once than the kernel's queue holds.
needs_small_queue
rm -r "$SOURCE/b"
soon 'removed' is '' links report
overflow_queue "$SOURCE/a"
stop
