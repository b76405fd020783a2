#!/usr/bin/env bash
# Nobody is led into what a user has mounted inside the tree, though it is for all to see, neither root nor that user: the kernel
# holds locks for who asks, a thread of the daemon waits, and its server need not answer.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3 getfattr
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/his/nested" "$SOURCE/own" "$SCRATCH/copy"
chown -R 54321:54321 "$SOURCE/his"
words 1 100 > "$SOURCE/one"
words 1 101 > "$SOURCE/two"
servers=()
trap '((${#servers[@]} == 0)) || kill "${servers[@]}" 2> /dev/null || true; umount -l "$SCRATCH"/{tree,layers} 2> /dev/null || true' EXIT
serve() { # DIRECTORY USER
    "$LIB/file_systems/hanging_fs.py" "$1" "$2" allow_other > "said-$2" &
    servers+=($!)
    soon 'the nested file system' grep -q ready "said-$2"
}
as() { # USER COMMAND...
    local user=$1
    shift
    if [[ $user = 0 ]]; then
        "$@"
    else
        setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
    fi
}

serve "$SOURCE/his/nested" 54321
serve "$SOURCE/own" 0
for how in passthrough nopassthrough; do
    start -o "allow_other,$how"
    for user in 0 54321 54322; do
        for path in his/nested his/nested/f his/nested/d/none; do
            expect_code 1 as $user stat "$MNT/$path"
            expect_match "user $user, $path" 'Permission denied' "$OUT"
        done
        expect_equal "the names beside it, user $user" nested "$(as $user ls "$MNT/his")"
    done
    expect_equal "root's own" 1048576 "$(stat -c %s "$MNT/own/f")"
    stop
done

kill -USR1 "${servers[0]}"
start -o allow_other
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
n=0
while read -r code command; do
    n=$((n + 1))
    (
        set +e
        eval "$command" > "out-$n" 2>&1 < /dev/null
        echo $? > "code-$n"
    ) &
    # Who waits for what does not answer cannot be ended but with that.
    await_end $! || fail "$command: waits for another user's mount"
    expect_equal "$command: $(< "out-$n")" "$code" "$(< "code-$n")"
done << EOF
1 stat "$MNT/his/nested/f"
1 ls -l "$MNT/his"
1 cat "$MNT/his/nested/f"
1 find "$MNT" -newer "$SOURCE/one"
2 tar -cf "$SCRATCH/copy/tar" -C "$MNT" his one
1 cp -r "$MNT/his" "$SCRATCH/copy/his"
1 mv "$MNT/his/nested/f" "$SCRATCH/copy/f"
1 ln "$MNT/one" "$MNT/his/nested/g"
1 mkdir "$MNT/his/nested/new"
1 getfattr -n user.kinfs.state "$MNT/his/nested/f"
3 "$KINFS" similar "$MNT/his/nested/f"
3 "$KINFS" similar --tree="$MNT" "$MNT/his/nested/f"
3 "$KINFS" compare "$MNT/one" "$MNT/his/nested/f"
3 "$KINFS" shingles "$MNT/his/nested/f"
3 "$KINFS" status "$MNT/his/nested"
3 "$KINFS" cluster "$MNT/his"
0 "$KINFS" check "$MNT"
1 as 54321 stat "$MNT/his/nested/f"
1 as 54322 stat "$MNT/his/nested/f"
EOF
expect_equal 'what another user was asked' ready "$(< said-54321)"

# The way to what somebody holds, in a mount of root's, leads through another user's by now, or to one in its place.
mkdir -p "$SOURCE/top/his/usb"
for how in over same; do
    mount -t tmpfs none "$SOURCE/top/his/usb"
    mkdir "$SOURCE/top/his/usb/d"
    echo text > "$SOURCE/top/his/usb/d/g"
    (
        until cd "$MNT/top/his/usb/d" && cat g; do sleep 0.01; done 2> /dev/null # the mount is new
        touch "$SCRATCH/stands-$how"
        until [[ -e $SCRATCH/over-$how ]]; do sleep 0.01; done
        stat g
        cat g
        touch "$SCRATCH/done-$how"
    ) > "told-$how" 2>&1 &
    stands=$!
    soon 'somebody stands there' test -e "stands-$how"
    place=$SOURCE/top/his/usb
    case $how in
        over) place=$SOURCE/top/his ;;
        same) umount -l "$place" ;;
        moved) mv "$SOURCE/top/his" "$SOURCE/top/moved" && mkdir -p "$place" ;;
    esac
    "$LIB/file_systems/hanging_fs.py" "$place" 54321 allow_other > "said-$how" &
    servers+=($!)
    soon 'a mount there' grep -q ready "said-$how"
    kill -USR1 "${servers[-1]}"
    touch "over-$how"
    await_end "$stands" || fail "$how: waits for another user's mount"
    [[ $how != moved ]] || expect_equal 'what has moved' text "$(cat "$MNT/top/moved/usb/d/g")"
    expect_equal "what the mount was asked: $how" ready "$(< "said-$how")"
    kill "${servers[-1]}"
    wait "${servers[-1]}" || true
    unset 'servers[-1]'
    umount -l "$place"
    [[ $how != over ]] || umount "$SOURCE/top/his/usb"
    [[ $how != moved ]] || umount "$SOURCE/top/moved/usb"
done
stop

# The index leads nobody into one either, where files are reached by name: from a directory that a user has moved.
mkdir "$SCRATCH/layers" "$SCRATCH/tree"
mount -t tmpfs none "$SCRATCH/layers"
mkdir "$SCRATCH"/layers/{lower,upper,work}
mount -t overlay -o "lowerdir=$SCRATCH/layers/lower,upperdir=$SCRATCH/layers/upper,workdir=$SCRATCH/layers/work" overlay "$SCRATCH/tree" || skip 'no overlayfs here'
SOURCE=$SCRATCH/tree
mkdir -p "$SOURCE"/{many,his/d/sub,his/m/x}
words 1 100 > "$SOURCE/his/d/sub/f"
for i in $(seq 900); do echo "$i" > "$SOURCE/many/$i"; done
(ulimit -n 700 && start -o allow_other,watch=none)
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
(
    cd "$MNT/his/d/sub"
    touch "$SCRATCH/stands-told"
    until [[ -e $SCRATCH/over-told ]]; do sleep 0.01; done
    stat f
) > told 2>&1 &
stands=$!
soon 'somebody stands there' test -e stands-told
mv "$SOURCE/his/d/sub" "$SOURCE/his/m/x/sub"
expect_code 0 "$KINFS" scan "$MNT"
cat "$MNT"/many/* > /dev/null # of other names than these none is kept open
"$LIB/file_systems/hanging_fs.py" "$SOURCE/his/m" 54321 allow_other > said-told &
servers+=($!)
soon 'a mount there' grep -q ready said-told
kill -USR1 "${servers[-1]}"
touch over-told
await_end "$stands" || fail "what the index knows leads into another user's mount"
expect_equal 'what the mount was asked' ready "$(< said-told)"
kill "${servers[-1]}"
wait "${servers[-1]}" || true
umount -l "$SOURCE/his/m"
stop
umount "$SCRATCH/tree" "$SCRATCH/layers"

# A daemon ends, though what leads to its mount is covered by another user's.
mkdir -p "$SCRATCH/his/mnt"
MNT=$SCRATCH/his/mnt
start -o allow_other
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder | tail -n 1)
"$LIB/file_systems/hanging_fs.py" "$SCRATCH/his" 54321 allow_other > said-end &
servers+=($!)
soon 'a mount there' grep -q ready said-end
kill -USR1 "${servers[-1]}"
kill "$daemon"
await_end "$daemon" || fail "the daemon waits for another user's mount"
expect_equal 'what the mount was asked' ready "$(< said-end)"
umount -l "$SCRATCH/his"
umount -l "$MNT" 2> /dev/null || true
