# Sourced by tests/mount/locks/locked_files_*.sh: users who keep documents locked for ever hold up nothing, neither of others nor of the
# documents, which are read as they are meanwhile.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/mount.sh"

# ends WHAT COMMAND...: with code 0; no signal would end one that waits for a lock.
ends() {
    local what=$1 pid
    shift
    "$@" > ends.out 2>&1 &
    pid=$!
    soon "$what ends" has_ended "$pid"
    wait "$pid" || fail "$what: $(cat ends.out)"
}

is_current() { [[ $("$KINFS" status "$MNT/$1") == *current* ]]; }

# on FILE_SYSTEM [OPTION]...: of mount, of a file system that mkfs has made.
on() {
    [[ $EUID = 0 ]] || skip 'only root can become another user'
    needs_fuse
    needs python3 "mkfs.$1"
    truncate -s 400M image
    "mkfs.$1" -q image
    mkdir disk
    mount -o loop image disk 2> /dev/null || skip "cannot mount $1 here"
    SOURCE=$SCRATCH/disk/tree
    chmod 755 "$SCRATCH"
    mkdir -p "$SOURCE/own" "$SOURCE/open" "$SCRATCH/hanging"
}

# One user locks what others let everybody write: more files than there are workers, of as many owners as take turns.
run_locked() {
    local i lockers path locked=()
    printf '[extractor "audio/midi"]\ncommand = /bin/cat\noutput = features\n' > kinfs.conf
    words 1 100 > document
    for i in 1 2 3 4 5 6 7 8; do
        words "$((i * 1000))" 100 > "$SOURCE/own/short$i"
        words "$((i * 1000000))" 200000 > "$SOURCE/own/long$i"
        words "$((i * 1000))" 100 | gzip > "$SOURCE/own/packed$i"
        { printf 'MThd\0\0\0\6\0\1\0\2\1\340MTrk'; words "$i" 100; } > "$SOURCE/own/notes$i.mid"
        for path in "$SOURCE/own/"{short,long,packed}"$i" "$SOURCE/own/notes$i.mid"; do
            chown "$((54330 + i))" "$path"
            chmod 666 "$path"
            locked+=("$path")
        done
    done
    chown 54322 "$SOURCE/open"
    "$LIB/file_systems/hanging_fs.py" "$SCRATCH/hanging" 54321 > said &
    server=$!
    trap 'kill -9 "$server" 2> /dev/null || true; umount -l "$SCRATCH/hanging" 2> /dev/null || true' EXIT
    soon 'a file system that does not answer' grep -q ready said
    start -o "allow_other,config=$PWD/kinfs.conf"
    "$KINFS" settle "$MNT" > /dev/null
    "$LIB/greed/keep_locked.py" 54321 "$SCRATCH/hanging/f" "${locked[@]}" > locked &
    lockers=$!
    soon 'the files are locked' grep -q locked locked

    cp document "$MNT/open/short"
    words 1 200000 > "$MNT/open/long"
    gzip < document > "$MNT/open/packed"
    ends 'settling' "$KINFS" settle "$MNT"
    for path in short long packed; do
        soon "another's document is known: $path" is_current "open/$path"
    done
    for path in "${locked[@]}"; do
        soon "what is locked is read: $path" is_current "own/${path##*/}"
    done
    expect_match 'and compared' 'own/packed1' "$("$KINFS" similar "$MNT/own/short1")"

    ends 'comparing' "$KINFS" compare "$SOURCE/own/short1" "$SOURCE/own/packed1"
    ends 'comparing exactly' "$KINFS" compare --exact "$SOURCE/own/long1" "$SOURCE/own/packed1"
    ends 'asking' "$KINFS" similar --tree "$MNT" "$SOURCE/own/short2"
    ends 'clustering' "$KINFS" cluster "$SOURCE"

    # All are looked at anew, by the scan.
    ends 'the mount' stop
    rm -r "$KINFS_STATE_DIR"
    start -o "allow_other,config=$PWD/kinfs.conf"
    ends 'settling the scan' "$KINFS" settle "$MNT"
    for path in "${locked[@]}"; do
        is_current "own/${path##*/}" || fail "the scan has not read $path"
    done

    kill -9 "$server"
    wait "$server" || true
    wait "$lockers"
    words 7000000 100 > "$SOURCE/own/short3"
    words 7000000 100 > "$SOURCE/open/twin"
    "$KINFS" settle "$MNT" > /dev/null
    expect_match 'once it is free it is known as it is' 'own/short3' "$("$KINFS" similar "$MNT/open/twin")"
    stop
}
