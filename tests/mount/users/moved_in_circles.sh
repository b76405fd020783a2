#!/usr/bin/env bash
# A user moves directories out of the tree while it is not mounted, each into what was in it: of these nothing is left in the index, also
# where they are moved to a place in the tree that an ignore file leaves out. What comes to be in them afterwards is not indexed, others are
# answered as before, and the store is right.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs setpriv
USER=54321 ASKER=54322 CIRCLES=20
as() { setpriv --reuid="$1" --regid="$1" --clear-groups "${@:2}"; }
n_documents() { "$KINFS" status --json "$MNT" | sed -n 's/.*"documents": *\([0-9]*\).*/\1/p' | head -n 1; }
similar() { "$KINFS" similar "$MNT/a" | sed 's/.*\t//' | sort; }
shown() { as $ASKER ls "$MNT/.kinfs/similar/a" | sort; }

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/u/ignored" "$SCRATCH/out"
echo ignored > "$SOURCE/u/.kinfsignore"
chown -R $USER "$SOURCE/u"
words 1 200 | tee "$SOURCE/a" > "$SOURCE/b"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null
BEFORE=$(similar) SHOWN=$(shown) DOCUMENTS=$(n_documents)
expect_match 'what resembles it' 'b' "$BEFORE"
for place in "$SCRATCH/out" "$SOURCE/u/ignored"; do
    for ((i = 0; i < CIRCLES; i++)); do
        mkdir -p "$SOURCE/u/d$i/p"
        cp "$SOURCE/a" "$SOURCE/u/d$i/p/copy"
    done
    chown -R $USER "$SOURCE/u" "$SCRATCH/out"
    "$KINFS" scan "$MNT" > /dev/null
    expect_equal 'documents with copies' $((DOCUMENTS + CIRCLES)) "$(n_documents)"
    stop

    as $USER bash -c 'for ((i = 0; i < $3; i++)); do mv "$1/d$i/p" "$2/p$i"; mv "$1/d$i" "$2/p$i/d"; done' - "$SOURCE/u" "$place" $CIRCLES
    start -o allow_other
    "$KINFS" settle "$MNT" > /dev/null
    expect_equal 'documents' "$DOCUMENTS" "$(n_documents)"
    as $USER bash -c 'for ((i = 0; i < $3; i++)); do cp "$1/a" "$2/p$i/d/new"; done' - "$SOURCE" "$place" $CIRCLES
    "$KINFS" settle "$MNT" > /dev/null
    "$KINFS" scan "$MNT" > /dev/null
    expect_equal 'documents after a scan' "$DOCUMENTS" "$(n_documents)"
    expect_equal 'what resembles it' "$BEFORE" "$(similar)"
    expect_equal 'what another user is shown' "$SHOWN" "$(shown)"
    expect_code 0 "$KINFS" check --deep "$MNT"
done
stop
