#!/usr/bin/env bash
# Where documents are found by their names alone, nothing is opened that a link leads to which came into a path meanwhile.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'an ordinary user opens but what is his'
needs_fuse
needs python3 setpriv
outside=$SCRATCH/outside
mkdir -p "$SOURCE/d" "$outside" "$MNT"
words 1 100 | tee "$SOURCE/d/doc" > "$outside/doc"

# Without the right to read what it is not told the name of, root opens no file handles.
setpriv --bounding-set=-dac_read_search "$KINFS" mount -o watch=none "$SOURCE" "$MNT"
"$KINFS" settle "$MNT" > /dev/null
expect_match 'no handles' '"handles": *false' "$("$KINFS" status --json "$MNT")"

lead_away() {
    exec 3>> "$MNT/d/doc"
    words 200 10 >&3
    mv "$SOURCE/d" "$SOURCE/e"
    ln -s "$outside" "$SOURCE/d"
    exec 3>&-
    "$KINFS" settle "$MNT" > /dev/null
}
export -f lead_away words
export KINFS MNT SOURCE outside
expect_equal 'what is opened where the link leads' '' "$("$LIB/callers/opened.py" "$outside" bash -c lead_away)"
rm "$SOURCE/d"
mv "$SOURCE/e" "$SOURCE/d"
"$KINFS" scan "$MNT" > /dev/null
expect_match 'the document is read where it is' current "$("$KINFS" status "$MNT/d/doc")"
stop
