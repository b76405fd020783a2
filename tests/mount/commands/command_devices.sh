#!/usr/bin/env bash
# Commands that read documents which are named to them open no device and no FIFO, wherever a link leads.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root makes a device'
needs python3
opened=$LIB/callers/opened.py
mkdir -p "$SOURCE" elsewhere
words 1 100 > "$SOURCE/doc"
words 1 100 > elsewhere/other
mknod elsewhere/device c 1 3 2> /dev/null || skip 'no device can be made here'
mkfifo elsewhere/fifo
ln -s "$PWD/elsewhere/device" "$SOURCE/to-device"
ln -s "$PWD/elsewhere/fifo" "$SOURCE/to-fifo"
ln -s "$PWD/elsewhere/other" "$SOURCE/to-other"

"$KINFS" scan "$SOURCE" > /dev/null
expect_equal 'a document is asked about' other "$("$opened" elsewhere "$KINFS" similar --tree="$SOURCE" "$SOURCE/to-other")"
expect_equal 'a document is' other "$("$opened" elsewhere "$KINFS" compare -e --shingle=5 "$SOURCE/doc" "$SOURCE/to-other")"
for name in to-device to-fifo; do
    expect_equal "compared with $name" '' "$("$opened" elsewhere "$KINFS" compare -e --shingle=5 "$SOURCE/$name" "$SOURCE/doc")"
    expect_equal "compared freshly with $name" '' \
        "$("$opened" elsewhere "$KINFS" compare --sketch=broder1997 "$SOURCE/doc" "$SOURCE/$name")"
    expect_code 3 "$KINFS" compare -e --shingle=5 "$SOURCE/$name" "$SOURCE/doc"
    expect_match "refused: $name" 'not a regular file' "$OUT"
    expect_equal "asked about $name" '' "$(timeout 60 "$opened" elsewhere "$KINFS" similar --tree="$SOURCE" "$SOURCE/$name")"
    expect_code 3 timeout 60 "$KINFS" similar --tree="$SOURCE" "$SOURCE/$name"
    expect_match "not asked about: $name" 'not a regular file; a pipe is asked about as -' "$OUT"
    for command in copies basis; do
        expect_equal "$command of $name" '' "$(timeout 60 "$opened" elsewhere "$KINFS" $command --tree="$SOURCE" "$SOURCE/$name")"
        expect_code 3 timeout 60 "$KINFS" $command --tree="$SOURCE" "$SOURCE/$name"
    done
    expect_equal "clustered with $name" '' \
        "$(printf '%s\0' "$SOURCE/doc" "$SOURCE/$name" > list; "$opened" elsewhere bash -c "'$KINFS' cluster - < list")"
done
