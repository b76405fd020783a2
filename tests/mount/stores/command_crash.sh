#!/usr/bin/env bash
# kill -9 of the daemon while documents are written, renamed and removed: after the next mount every
# answer is that of an index made anew.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse

mkdir -p "$SOURCE"
for i in $(seq 16); do
    words $((i / 4 * 1000 + i % 4 * 10)) 100 > "$SOURCE/$i"
done

answers() {
    local file
    "$KINFS" clusters "$MNT"
    "$KINFS" clusters --members "$MNT"
    for file in "$SOURCE"/*; do
        echo "${file##*/}"
        "$KINFS" similar -t 0 -n 0 "$MNT/${file##*/}" || true
    done
}

# Works until the mount is gone from under it; tells of every round done, so that the kill comes amid.
change() {
    local n=0
    while :; do
        n=$((n + 1))
        words $((n % 10 * 1000)) $((50 + n % 50)) > "$MNT/new$((n % 10))"
        words $((n % 7 * 1000)) 80 >> "$MNT/$((n % 16 + 1))"
        mv "$MNT/new$((n % 10))" "$MNT/moved$((n % 7))"
        [[ $((n % 5)) != 0 ]] || rm "$MNT/moved$((n % 7))"
        echo "$n"
    done
}

for rounds in 3 17; do
    start
    pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    mkfifo rounds
    (change > rounds) 2> /dev/null &
    while read -r n; do
        [[ $n -lt $rounds ]] || break
    done < rounds
    kill -KILL "$pid"
    wait $! || true
    rm rounds
    start
    "$KINFS" settle "$MNT" > /dev/null
    answers > "after_crash_$rounds"
    stop
    "$KINFS" rebuild "$SOURCE" > /dev/null
    start
    "$KINFS" settle "$MNT" > /dev/null
    answers > "rebuilt_$rounds"
    stop
    diff "after_crash_$rounds" "rebuilt_$rounds"
done
