#!/usr/bin/env bash
# kinfs check: with a mount and without, what it counts, and what it finds in a damaged store.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/answers.sh"
needs_fuse

mkdir -p "$SOURCE/sub"
for i in 1 2 3; do
    words $((i * 1000)) 100 > "$SOURCE/$i-a"
    words $((i * 1000 + 10)) 100 > "$SOURCE/sub/$i-b"
done
cp "$SOURCE/1-a" "$SOURCE/copy"
"$KINFS" scan "$SOURCE" > /dev/null

# -- nothing is wrong --

expect_code 0 "$KINFS" check "$SOURCE"
expect_match 'names' 'names +8' "$OUT"
expect_match 'documents' 'documents +7' "$OUT"
expect_match 'clusters' 'clusters +3, with 7 documents' "$OUT"
expect_match 'wrong' 'wrong +0' "$OUT"
expect_code 0 "$KINFS" check --deep --json "$SOURCE"
expect_match 'json' '"documents":7,.*"wrong":0,"findings":\[\]' "$OUT"

start
expect_code 0 "$KINFS" check --deep "$MNT"
expect_match 'beside the daemon' 'documents +7' "$OUT"
# It goes on meanwhile, and each check is of its moment.
for i in $(seq 40); do
    words "$i" 60 > "$MNT/new$i"
    [[ $i = 1 ]] || rm "$MNT/new$((i - 1))"
done &
for i in 1 2 3 4 5; do
    expect_code 0 "$KINFS" check "$MNT"
done
wait
expect_code 0 "$KINFS" settle "$MNT"
expect_code 0 "$KINFS" check --deep "$SOURCE"
expect_match 'afterwards' 'documents +8' "$OUT"
stop

# -- a crash leaves nothing that is wrong --

"$KINFS" mount -f "$SOURCE" "$MNT" 2> /dev/null &
pid=$!
soon 'mounted' test -d "$MNT/similar"
words 5000 100 > "$MNT/before-the-crash"
expect_code 0 "$KINFS" settle "$MNT"
kill -KILL "$pid"
wait "$pid" 2> /dev/null || true
umount -l "$MNT"
# Nor is anything lost with the manifest, which has a second name.
db=$(echo "$KINFS_STATE_DIR"/*/db)
rm "$db"/MANIFEST-*
expect_code 3 "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'mount after a crash' 'damaged.*kinfs check --repair' "$OUT"
expect_code 0 "$KINFS" check --repair "$SOURCE"
expect_match 'put back' ' 9 documents in .* 0 of them read again' "$OUT"
expect_code 0 "$KINFS" check --deep "$SOURCE"
expect_match 'after a crash' 'documents +9' "$OUT"
# A log that is lost then is told, and what it said is found again.
"$KINFS" mount -f "$SOURCE" "$MNT" 2> /dev/null &
pid=$!
soon 'mounted' test -d "$MNT/similar"
words 6000 100 > "$MNT/lost-with-the-log"
expect_code 0 "$KINFS" settle "$MNT"
kill -KILL "$pid"
wait "$pid" 2> /dev/null || true
umount -l "$MNT"
rm "$db"/*.log
start
expect_code 0 "$KINFS" settle "$MNT"
expect_match 'a lost log' 'last error +store [^'$'\n'']*: its log was lost or cut by a crash or since: of what was written last [1-9][0-9]* rows are missing' \
    "$("$KINFS" status "$MNT")"
expect_code 0 "$KINFS" check --deep "$MNT"
expect_match 'after a lost log' 'documents +10' "$OUT"
rm "$MNT/lost-with-the-log"
stop
expect_code 0 "$KINFS" check --deep "$SOURCE"

# -- files of the database, lost and damaged --

answers() {
    clusters_of "$SOURCE"
    for file in "$SOURCE"/[1-3]-a; do # one of each pair, which finds the other by what both are listed under
        echo "$file"
        "$KINFS" similar -t 0 -n 0 "$file"
    done
}
"$KINFS" rebuild "$SOURCE" > /dev/null
answers > expected
cp -r "$db" whole
key=$(sha256sum < "$db/../policy")

# flip FILE: one bit in eight places.
flip() {
    local size at byte
    size=$(stat -c %s "$1")
    for i in 1 3 5 7 9 11 13 15; do
        at=$((size * i / 16))
        byte=$(od -An -tu1 -j "$at" -N 1 "$1")
        printf "\\x$(printf %x $((byte ^ 64)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
    done
}
largest() { ls -S "$db"/$1 | head -n 1; }
damages=(
    'rm "$db/CURRENT"' 'echo garbage > "$db/CURRENT"'
    'rm "$db"/MANIFEST-*' 'flip "$(largest "MANIFEST-*")"' 'truncate -s 100 "$(largest "MANIFEST-*")"'
    'rm "$db"/OPTIONS-*'
    'rm "$db/TABLES"' 'echo garbage > "$db/TABLES"'
    'rm "$(largest "*.log")"' 'flip "$(largest "*.log")"' 'truncate -s 1000 "$(largest "*.log")"'
    'rm "$(largest "*.sst")"' 'flip "$(largest "*.sst")"' 'truncate -s 500 "$(largest "*.sst")"'
    'rm -r "$db"'
    # As the same after a crash, when nobody knows how long the files were.
    'rm "$db/SEAL" "$(largest "*.sst")"' 'rm "$db/SEAL"; flip "$(largest "*.sst")"'
    'rm "$db/SEAL"; flip "$(largest "*.log")"' 'rm "$db/SEAL"; truncate -s 1000 "$(largest "*.log")"'
    'rm "$db/SEAL"; flip "$(largest "MANIFEST-*")"'
)
for damage in "${damages[@]}"; do
    rm -rf "$db"
    cp -r whole "$db"
    eval "$damage"
    code=0
    OUT=$("$KINFS" check "$SOURCE" 2>&1) || code=$?
    case $damage:$code in
        *OPTIONS*:0) ;; # nothing needs it
        *'SEAL"; '*log*:0) ;; # what a crash may have cut off
        *:1)
            expect_match "$damage" 'damaged|lost|cannot be read|no store' "$OUT"
            expect_match "$damage" 'kinfs check --repair' "$OUT" ;;
        *) fail "$damage: exit code $code: $OUT" ;;
    esac
    # A crash is followed by a start, which finds in the tree what is missing.
    [[ $damage != *SEAL* ]] || "$KINFS" scan "$SOURCE" > /dev/null 2>&1 || true
    "$KINFS" check --repair "$SOURCE" > repaired 2>&1 || fail "$damage: $(cat repaired)"
    case $damage in # what only says where data are is put back
        *SEAL*) ;;
        *CURRENT* | *MANIFEST* | *TABLES*) expect_match "$damage" ' 0 of them read again' "$(cat repaired)" ;;
    esac
    answers > after
    diff expected after || fail "$damage: other answers: $(cat repaired)"
    expect_code 0 "$KINFS" check --deep "$SOURCE"
    expect_equal "$damage: the key" "$key" "$(sha256sum < "$db/../policy")"
done

# The mount refuses what is damaged, and says what to do; damage met while it serves is said, too.
rm "$db/CURRENT"
expect_code 3 "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'mount' 'damaged.*kinfs check --repair' "$OUT"
expect_code 0 "$KINFS" check --repair "$SOURCE"
start
expect_code 0 "$KINFS" check --repair "$MNT" # there is nothing to mend
# What is damaged beneath a mount cannot be mended there, and who has the store is named.
for file in "$db"/*.sst; do
    size=$(stat -c %s "$file" 2> /dev/null) || continue # merged meanwhile
    head -c "$size" /dev/zero | dd of="$file" conv=notrunc,nocreat status=none || true
done
expect_code 3 "$KINFS" check --repair "$MNT"
expect_match 'beneath a mount' 'mounted on .*unmount it first' "$OUT"
stop || true
expect_code 0 "$KINFS" check --repair "$SOURCE"

# -- there is nothing to check --

expect_code 3 "$KINFS" check "$SCRATCH"
start -o nosketch
expect_code 3 "$KINFS" check "$MNT"
expect_match 'no sketches' 'nosketch' "$OUT"
stop
