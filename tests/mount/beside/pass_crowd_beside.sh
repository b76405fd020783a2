#!/usr/bin/env bash
# Many processes change the same files and directories, half of them through the mount and half beside it.
# Then the mount shows what the tree holds, name by name; and after `kinfs settle` the index counts and
# answers as one made anew. CROWD_SEED repeats a failure, CROWD_OPERATIONS makes it longer.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/answers.sh"
needs python3
crowd=$LIB/work/crowd.py
seed=${CROWD_SEED:-$((RANDOM * 32768 + RANDOM))}

documents() {
    "$KINFS" status --json "$MNT" | sed -n 's/.*"documents": *\([0-9]*\).*/\1/p'
}

is_the_same() {
    python3 "$crowd" --same --but-access-times "$MNT" "$SOURCE" > same 2>&1
}

for option in watch=fanotify watch=fanotify,nopassthrough watch=inotify watch=none; do
    OUT=$(start -o "views=none,$option" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    python3 "$crowd" "$MNT" --beside "$SOURCE" --operations "${CROWD_OPERATIONS:-500}" --seed "$seed"
    # Without a watch nobody has seen what happened beside the mount.
    if [[ $option = watch=none ]]; then "$KINFS" scan "$MNT"; else "$KINFS" settle "$MNT"; fi > settled
    expect_equal "documents, $option, seed $seed" "$(find "$SOURCE" -type f -printf '%i\n' | sort -u | wc -l)" "$(documents)"
    (soon "the tree in the mount, $option, seed $seed" is_the_same) || fail "$(cat same)"
    stop
    { clusters_of "$SOURCE"; kin_in_source; } > "followed_$option"
    "$KINFS" rebuild "$SOURCE" > rebuilt
    { clusters_of "$SOURCE"; kin_in_source; } > "rebuilt_$option"
    [[ $(wc -l < "rebuilt_$option") -gt 200 ]] || fail "hardly anything to compare"
    diff "followed_$option" "rebuilt_$option" || fail "the index is not that of a rebuild: $option, seed $seed"
    find "$SOURCE" -mindepth 1 -delete
done
