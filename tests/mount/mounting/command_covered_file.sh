#!/usr/bin/env bash
# What another user has mounted on a file, and says to be root's, is written to and asked by no command: neither for a log, nor for what is
# kept of a corpus, nor for a name in a copy.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE" "$MNT" copy
mkdir -m 1777 sticky
echo '{"text": "one two three four"}' > lines
words 1 100 > copy/a
printf 'dup\ta\t1.0000\t%s\tequal\t0644\t0\t0\t1000000000.000000000\t%s\t7\n' "$(stat -c %s copy/a)" "$(sha256sum copy/a | cut -c 1-64)" > list
setpriv --reuid=54321 --regid=54321 --clear-groups touch sticky/file
touch copy/dup
servers=()
trap 'kill -9 "${servers[@]}" 2> /dev/null; umount -l sticky/file copy/dup 2> /dev/null || true' EXIT
for file in sticky/file copy/dup; do
    "$LIB/file_systems/covering_fs.py" $file 54321 > "said.${file%/*}" &
    servers+=($!)
    soon 'the file system' grep -q ready "said.${file%/*}"
done

refuses() { # ARGUMENT...
    local asking
    "$KINFS" "$@" > out 2>&1 < /dev/null &
    asking=$!
    await_end $asking || fail "kinfs $1 hangs"
    expect_code 3 wait $asking
    expect_match "kinfs $*" 'something is mounted on' "$(< out)"
}
for round in answering silent; do
    [[ $round = answering ]] || kill -USR1 "${servers[@]}"
    refuses mount -o log=sticky/file "$SOURCE" "$MNT"
    refuses cluster --jsonl --kept=sticky/file lines
    refuses cluster --jsonl --dropped=sticky/file lines
    for apply in '' --apply; do
        "$KINFS" restore-list $apply list copy > out 2>&1 &
        asking=$!
        await_end $asking || fail 'kinfs restore-list hangs'
        expect_code 0 wait $asking
        expect_equal 'a name that is covered' $'there\tdup\ta' "$(< out)"
    done
done
expect_equal 'what the servers were asked' 'ready ready' "$(< said.sticky) $(< said.copy)"
