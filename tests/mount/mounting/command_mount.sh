#!/usr/bin/env bash
# Mounting and unmounting: over the source itself, in front, by signal, after kill -9, while in use.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

holder_pid() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$1"/holder; }
store_of() { getfattr --only-values --absolute-names -n user.kinfs.store "$1"; }
needs getfattr

mkdir -p "$SOURCE" "$MNT"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/b"

# A mount is over as soon as umount returns: the next one finds the store free.
for _ in 1 2 3 4 5; do
    start
    stop
done

# Over the source itself; in there the tree is seen, and the views.
"$KINFS" mount "$SOURCE"
"$KINFS" settle "$SOURCE"
expect_equal 'over itself' '081-b' "$(ls "$SOURCE/similar/a")"
echo more > "$SOURCE/c"
"$KINFS" umount "$SOURCE"
expect_equal 'passed through' more "$(cat "$SOURCE/c")"
rm "$SOURCE/c"

# In use: who is named, the mount stays.
start
store=$(store_of "$MNT")
exec 5< "$MNT/a"
expect_code 3 "$KINFS" umount "$MNT"
expect_match 'who' "in use by .*\(process $$\)" "$OUT"
exec 5<&-
(cd "$MNT" && expect_code 3 "$KINFS" umount .)
expect_equal 'still there' '081-b' "$(ls "$MNT/similar/a")"

# A signal ends it in order.
pid=$(holder_pid "$store")
kill -TERM "$pid"
await_end "$pid"
expect_equal 'unmounted' '' "$(ls "$MNT")"
expect_code 0 "$KINFS" similar "$SOURCE/a"

# kill -9 leaves a dead mount point; the next mount cleans it up.
start
words 21 100 > "$MNT/c"
pid=$(holder_pid "$store")
kill -KILL "$pid"
await_end "$pid"
expect_code 3 "$KINFS" status "$MNT"
expect_match 'dead' 'has died' "$OUT"
start
"$KINFS" settle "$MNT" > /dev/null
# Of 96 windows each, 86 and 76 are shared: 86/106, 76/116.
expect_equal 'what was closed before is known' $'0.8113\ta' "$("$KINFS" similar -n 1 "$MNT/b" | sort -k2 | head -n 1)"
expect_equal 'all' "$(printf '%s\n' a b c clusters similar)" "$(ls "$MNT")"
pid=$(holder_pid "$store")
kill -KILL "$pid"
await_end "$pid"
expect_code 0 "$KINFS" umount "$MNT"
expect_equal 'a dead mount can be unmounted' '' "$(ls "$MNT")"

# In front, with messages on standard error.
"$KINFS" mount -f "$SOURCE" "$MNT" > front.log 2>&1 &
front=$!
until grep -q " $MNT .*fuse.kinfs" /proc/self/mountinfo; do
    kill -0 "$front" || fail "ended: $(cat front.log)"
done
expect_equal 'serves' "$(cat "$SOURCE/a")" "$(cat "$MNT/a")"
"$KINFS" settle "$MNT" > /dev/null
kill -INT "$front"
wait "$front" || fail "exit code $? of the daemon in front: $(cat front.log)"
# A small tree may be read before it is said that it is mounted.
expect_equal 'a life in the log' "mounted $SOURCE on $MNT
scan of $SOURCE done in S s: $(find "$SOURCE" -type f | wc -l) documents
stopped: $SOURCE is no longer mounted on $MNT" "$(sed -E 's/^kinfs\[[0-9]+\]: //; s/ in [0-9.]+ s/ in S s/; /^mounted without root:/d' front.log | LC_ALL=C sort)"
[[ $(tail -n 1 front.log) == *stopped:* ]] || fail 'it is stopped before it ends'

# Lazily, while it is in use.
start
exec 5< "$MNT/a"
"$KINFS" umount --lazy "$MNT"
expect_equal 'gone at once' '' "$(ls "$MNT")"
expect_equal 'and still read' "$(cat "$SOURCE/a")" "$(cat <&5)"
pid=$(holder_pid "$store")
expect_code 3 "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'the store is not free yet' "was mounted on $MNT.*\(process $pid\); end them first, or all of it with kill $pid" "$OUT"
exec 5<&-
await_end "$pid"
