#!/usr/bin/env bash
# What another user has mounted inside the tree for all to see is that user's: nobody else is led into it, root neither, so that no
# program that walks the mount, nor a command, waits for a server that answers nothing any more, or believes it.
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
trap '((${#servers[@]} == 0)) || kill "${servers[@]}" 2> /dev/null || true' EXIT
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
    # What the kernel keeps of names was asked for by who may.
    for i in 1 2; do
        expect_equal "his own, $i" 1048576 "$(as 54321 stat -c %s "$MNT/his/nested/f")"
        for user in 0 54322; do
            for path in his/nested his/nested/f his/nested/d/none; do
                expect_code 1 as $user stat "$MNT/$path"
                expect_match "user $user, $path" 'Permission denied' "$OUT"
            done
            expect_equal "the names beside it, user $user" nested "$(as $user ls "$MNT/his")"
        done
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
    timeout 100 tail --pid=$! -f /dev/null || fail "$command: waits for another user's mount"
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
1 as 54322 stat "$MNT/his/nested/f"
EOF
expect_equal 'what another user was asked' ready "$(< said-54321)"
stop
