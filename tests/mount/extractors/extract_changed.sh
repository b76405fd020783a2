#!/usr/bin/env bash
# A12: extractors that come, change or go with the configuration apply to files that are there, as a scan finds them; no
# other file is read again.
. "${0%/mount/*}/lib/shell/mount.sh"
# Not one of a user's own, which nobody else may reach.
python=/usr/bin/python3
[[ -x $python ]] || skip "$python is not installed"
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
needs_fuse

# The least that libmagic takes for the type; behind it the notes, a number a byte.
midi() { printf 'MThd\0\0\0\6\0\1\0\2\1\340MTrk'; printf '%b' "$(printf '\\x%02x' "$@")"; }
cat > notes << EOF
#!$python
import sys
notes = sys.stdin.buffer.read()[18:]
for pair in zip(notes, notes[1:]):
    print(sys.argv[1], *pair)
EOF
chmod 755 notes
configure() { # FILE [ARGUMENT]: of the notes
    : > "$1"
    [[ $# = 1 ]] || printf '[extractor "audio/midi"]\ncommand = %s/notes %s\nseconds = 20\n' "$PWD" "$2" > "$1"
}
mkdir -p "$SOURCE"
midi $(seq 1 60) > "$SOURCE/a.mid"
midi $(seq 11 70) > "$SOURCE/b.mid"
for i in $(seq 20); do words "$i" 100 > "$SOURCE/$i.txt"; done
printf 'PK\3\4 and no archive' > "$SOURCE/not.zip"

# Mounted under a configuration and scanned: what is read, and what becomes of the notes.
under() { # NAME
    start -o "config=$PWD/$1"
    "$KINFS" settle "$MNT" > /dev/null
    n_read=$("$KINFS" status --json "$MNT" | sed -n 's/.*"sketched_documents": *\([0-9]*\).*/\1/p')
    type=$("$KINFS" status "$MNT/a.mid" | awk '$1 == "state" { sub(",", "", $3); print $3 }')
    like=$("$KINFS" similar -t 0.01 "$MNT/a.mid" | awk '$2 == "b.mid" { print $1 }' || true)
    stop
}
configure none.conf
configure notes.conf 'notes'
configure others.conf 'others'
under none.conf
expect_equal 'all are read' 23 "$n_read"
expect_equal 'notes are bytes' binary "$type"
under none.conf
expect_equal 'none is read again' 0 "$n_read"
under notes.conf
expect_equal 'one that comes: its documents are read' 2 "$n_read"
# Of 59 pairs each 49 are shared: 49 of 69.
expect_equal 'and compared by it' 'extracted 0.7101' "$type $like"
under notes.conf
expect_equal 'once' 0 "$n_read"
under others.conf
expect_equal 'one that changes' '2 extracted 0.7101' "$n_read $type $like"
# One that is changed as no extractor was there is not like one that was read before.
configure others.conf 'more'
midi $(seq 11 70) 7 > "$SOURCE/b.mid"
under others.conf
expect_equal 'all by the one there is' '2 extracted 0.7000' "$n_read $type $like"
under none.conf
expect_equal 'one that goes' '2 binary' "$n_read $type"
KINFS_EXTRACT=/nonexistent under none.conf
expect_equal 'the built-in ones: they had read none of these' 0 "$n_read"
under none.conf
expect_equal 'and back' 0 "$n_read"
