#!/usr/bin/env bash
# A user who locks a directory of the tree for ever, and looks hundreds of names up in it, as itself or by set-uid programs,
# takes no more threads than are left for others, and so does root; what is more is refused after a while, with the locks that
# the kernel holds for it and others wait for, or is given up by who is killed, takes memory as far as there is some for one user,
# and is not begun any more when the mount has ended.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own" "$SOURCE/open" "$SCRATCH/hanging"
chown 54321:54321 "$SOURCE/own"
# Without rights for a group there is no access control list to ask for before the kernel locks the directory.
chmod 705 "$SOURCE"
chmod 707 "$SOURCE/open"
printf page > "$SOURCE/page"
server=
trap '[[ ! $server ]] || kill "$server" 2> /dev/null || true; umount -l "$SCRATCH/hanging" "$SOURCE/hanging" 2> /dev/null || true' EXIT

# stand HOW OPTIONS: the crowd, CROWD, until it is held.
stand() {
    rm -f said crowd
    hanging=$SCRATCH/hanging
    [[ $1 != close ]] || hanging=$SOURCE/hanging
    mkdir -p "$hanging"
    "$LIB/file_systems/hanging_fs.py" "$hanging" 0 allow_other > said &
    server=$!
    soon 'a file system that does not answer' grep -q ready said
    start -o "allow_other,nosketch,$2"
    daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    SERVER=$server "$LIB/greed/stuck_crowd.py" "$MNT" "$SOURCE" "$hanging/f" 54321 54322 "$daemon" "$1" > crowd &
    CROWD=$!
    await held "$1"
}

await() { # WORD HOW
    until grep -qs "$1" crowd; do
        kill -0 "$CROWD" 2> /dev/null || fail "$2: $(cat crowd)"
        sleep 0.1
    done
}

release() {
    kill "$server"
    wait "$server" || true
    umount -l "$hanging"
}

for how in serve setuid root page kill write close mapped; do
    # A sanitizer ends a program that gets no memory.
    [[ $how != kill ]] || ! grep -q __asan_init "$KINFS" || continue
    stand "$how" "$([[ $how =~ ^(serve|setuid|root|kill)$ ]] && echo passthrough || echo nopassthrough)"
    release
    wait "$CROWD" || fail "$how: $(cat crowd)"
    stop
    rm -rf "$SOURCE/own/new" "$SOURCE/open"/*
done

stand abort nopassthrough
umount -f "$MNT" 2> /dev/null || true
await ended abort
release
wait "$CROWD" || fail "abort: $(cat crowd)"
await_end "$daemon"
expect_equal 'what was written after the end' '' "$(find "$SOURCE/open" -type f -size +1c)"
