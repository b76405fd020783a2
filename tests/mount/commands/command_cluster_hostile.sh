#!/usr/bin/env bash
# What another user has mounted below a directory is not asked by kinfs cluster, which says that it is left out and reads the rest.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3 setpriv
chmod 755 "$SCRATCH"
mkdir -p tree/a tree/nested tree/z
words 1 100 > tree/a/one
words 1 100 > tree/z/two
server=
trap '[[ ! $server ]] || kill "$server" 2> /dev/null || true' EXIT

mount_hanging() { # USER OPTION...
    : > said
    "$LIB/file_systems/hanging_fs.py" tree/nested "$@" > said &
    server=$!
    soon 'the nested file system' grep -q ready said
    kill -USR1 "$server" # from now on it answers nothing
}
unmount_hanging() {
    kill "$server"
    wait "$server" || true
    server=
    umount -l tree/nested
}
expect_left_out() { # WHO COMMAND...
    local who=$1 asking
    shift
    "$@" cluster tree > out 2>&1 &
    asking=$!
    # Who waits for what does not answer cannot be ended but with that.
    await_end $asking || fail "$who: waits for another user's mount"
    expect_code 3 wait $asking
    expect_match "$who: the line" "^kinfs: tree/nested: another user's mount, .*; left out" "$(cat out)"
    expect_match "$who: the rest" $'\n1\ttree/a/one\n1\ttree/z/two' "$(cat out)"
    expect_equal "$who: what the mount was asked" ready "$(cat said)"
}

mount_hanging 54321 allow_other
expect_left_out root "$KINFS"
expect_left_out 'an ordinary user' setpriv --reuid=54322 --regid=54322 --clear-groups "$KINFS"
mount --bind tree/a tree/a
expect_left_out 'root, with a mount of its own' "$KINFS"
umount tree/a
unmount_hanging

# Closed to others, too.
mount_hanging 54321
expect_left_out 'root, where it may not enter' "$KINFS"
unmount_hanging

# Mounts of root's are walked, by everybody.
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/three"
"$KINFS" mount -o nosketch,allow_other "$SOURCE" tree/nested
for user in 0 54322; do
    expect_code 0 setpriv --reuid=$user --regid=$user --clear-groups "$KINFS" cluster tree
    expect_equal "user $user" $'1\ttree/a/one\n1\ttree/nested/three\n1\ttree/z/two' "$OUT"
done
"$KINFS" umount tree/nested

# -- what another user has replaced since it was kept, of a tree of that user's --

mkdir -p home/his/a home/his/b secret/his/a
words 1 100 > home/his/a/one
words 1 100 > home/his/b/two
words 1 100 > secret/his/a/one
chmod 700 secret
expect_code 0 "$KINFS" cluster --keep=kept home/his
again() { # WHAT CODE OUTPUT: a new run with what is kept, which reads nothing in place of what was replaced
    local asking
    "$KINFS" cluster --keep=kept --phase=sketch > out 2>&1 &
    asking=$!
    await_end $asking || fail "$1: waits for another user's mount"
    expect_code "$2" wait $asking
    expect_match "$1" "$3" "$(cat out)"
}
replaced() { # WHAT WITH: by a link of his, with what it leads to
    mv "$1" away
    ln -s "$2" "$1"
    chown -h 54321 "$1"
    again "a link for $1" 3 "$3"
    rm "$1"
    mv away "$1"
}
chown -R 54321 home
both=$'^1\thome/his/a/one\n1\thome/his/b/two$'
again 'nothing replaced' 0 "$both"
one='kinfs: home/his/a/one: replaced since it was found; left out'
replaced home/his/a/one "$SCRATCH/secret/his/a/one" "^$one"
replaced home/his/a "$SCRATCH/secret/his/a" "^$one"
replaced home/his "$SCRATCH/secret/his" "^$one"
replaced home "$SCRATCH/secret" "^$one"
for place in home/his/a home/his home; do
    : > said
    "$LIB/file_systems/hanging_fs.py" $place 54321 allow_other > said &
    server=$!
    soon "a mount on $place" grep -q ready said
    kill -USR1 "$server"
    again "a mount on $place" 3 "^kinfs: home/his/a/one: another user's mount, which can show anything; left out"
    expect_equal "what the mount on $place was asked" ready "$(cat said)"
    kill "$server"
    wait "$server" || true
    server=
    umount -l $place
done
again 'nothing replaced any more' 0 "$both"
