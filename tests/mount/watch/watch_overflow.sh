#!/usr/bin/env bash
# More changes beside the mount, while the daemon stands still, than are told one by one: all is asked anew.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
if ! OUT=$(start -o watch=fanotify 2>&1); then
    [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
    skip "$OUT"
fi
mkdir -p "$SOURCE/d/e" "$SOURCE/many"
words 1 100 > "$SOURCE/report"
echo first > "$SOURCE/d/e/file"
echo old > "$SOURCE/d/old"
soon 'the first document' test -d "$MNT/similar/report"
soon 'the others' is old cat "$MNT/d/old"
warm d/new new

pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
kill -STOP "$pid"
# Above WATCH_BATCH_MAX; what is looked at below comes first and last.
chmod 600 "$SOURCE/d/e/file"
echo and more >> "$SOURCE/d/e/file"
mv "$SOURCE/d/old" "$SOURCE/d/new"
(cd "$SOURCE/many" && seq 70000 | xargs -n 2000 touch)
mkdir "$SOURCE/late"
words 1 100 > "$SOURCE/late/copy"
kill -CONT "$pid"
soon 'attributes' is '600 15' stat -c '%a %s' "$MNT/d/e/file"
if all_names_can_be_told; then # else each has its minute
    soon 'a name that came' is old cat "$MNT/d/new"
    soon 'a name that went' gone "$MNT/d/old"
fi
soon 'a name nobody asked for' test -e "$MNT/late/copy"
soon 'what the scan finds' is 100-copy links report
stop
