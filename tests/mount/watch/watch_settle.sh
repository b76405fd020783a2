#!/usr/bin/env bash
# What was changed beside the mount is in the answers when `kinfs settle` has returned: it is not there a
# moment later, it is there. Asked of another document, which has nothing looked at again.
. "${0%/mount/*}/lib/shell/mount.sh"

answers() { # PATH...
    "$KINFS" similar -n 0 "$MNT/report" 2>&1 | cut -f 2 | LC_ALL=C sort | xargs
}

for watch in fanotify inotify; do
    OUT=$(start -o "watch=$watch" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    words 1 100 > "$MNT/report"
    for i in $(seq 5); do
        words 1 100 > "$SOURCE/copy$i"
        "$KINFS" settle "$MNT" > settled
        expect_equal "a new document, $watch, round $i" "copy$i" "$(answers)"
        exec 9> "$SOURCE/copy$i"
        words 9000 100 >&9
        "$KINFS" settle "$MNT" > settled
        expect_equal "one who writes and goes on, $watch, round $i" '' "$(answers)"
        exec 9>&-
        mkdir -p "$SOURCE/d$i/e"
        words 1 99 > "$SOURCE/d$i/e/f"
        "$KINFS" settle "$MNT" > settled
        expect_equal "in new directories, $watch, round $i" "d$i/e/f" "$(answers)"
        mv "$SOURCE/d$i" "$SOURCE/g$i"
        "$KINFS" settle "$MNT" > settled
        expect_equal "a directory renamed, $watch, round $i" "g$i/e/f" "$(answers)"
        truncate -s 20 "$SOURCE/g$i/e/f"
        "$KINFS" settle "$MNT" > settled
        expect_equal "cut short, $watch, round $i" '' "$(answers)"
        words 1 101 > "$SOURCE/.tmp"
        mv "$SOURCE/.tmp" "$SOURCE/g$i/e/f"
        "$KINFS" settle --timeout=300 "$MNT" > settled
        expect_equal "saved as editors do, $watch, round $i" "g$i/e/f" "$(answers)"
        rm -r "$SOURCE/g$i" "$SOURCE/copy$i"
        "$KINFS" settle "$MNT" > settled
        expect_equal "all removed, $watch, round $i" '' "$(answers)"
    done
    stop
    find "$SOURCE" -mindepth 1 -delete
done
