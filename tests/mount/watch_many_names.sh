#!/usr/bin/env bash
# A directory of very many names is moved into the tree beside the mount: the next answer has all of them, or says that it has not.
. "$(dirname "$0")/../lib/mount.sh"
N=3000 # above what is noted of a directory at once

move_in() {
    mkdir "$SCRATCH/many"
    words 1 100 > "$SCRATCH/many/1"
    # shellcheck disable=SC2046 # numbers
    (cd "$SCRATCH/many" && tee $(seq 2 "$N") < 1 > 1.tmp && rm 1.tmp)
    mv "$SCRATCH/many" "$SOURCE/"
}

for watch in fanotify inotify; do
    OUT=$(start -o "watch=$watch,settle_ms=600000,limit=0" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    words 1 100 > "$SOURCE/report"
    "$KINFS" settle "$MNT" > settled
    move_in
    expect_equal "$watch: a view" "$N" "$(find "$MNT/similar/report/" -type l | wc -l)"
    rm -r "$SOURCE/many"
    expect_equal "$watch: a view, when they are gone" 0 "$(find "$MNT/similar/report/" -type l | wc -l)"
    move_in
    # A command waits for two seconds.
    "$KINFS" similar -n 0 -0 "$MNT/report" > found 2> said || [[ $? = 4 ]]
    n=$(tr -cd '\0' < found | wc -c)
    [[ $n = "$N" ]] || expect_match "$watch: a command that has $n" 'report: not complete: ' "$(< said)"
    "$KINFS" settle "$MNT" > settled
    "$KINFS" similar -n 0 -0 "$MNT/report" > found 2> said
    expect_equal "$watch: settled" "$N " "$(tr -cd '\0' < found | wc -c) $(< said)"
    stop
    rm -r "$SOURCE"
done
