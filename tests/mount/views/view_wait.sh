#!/usr/bin/env bash
# A question waits for the index no longer than settle_ms, however many things it waits for.
. "${0%/mount/*}/lib/shell/mount.sh"

[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
printf '[extractor "image/png"]\ncommand = /bin/sleep 1000\nseconds = 1000\n' > kinfs.conf
start -o "settle_ms=8000,config=$PWD/kinfs.conf"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/long"
begin=$(date +%s%N)
expect_equal 'not read yet' '' "$(ls "$MNT/similar/long")"
took_ms=$((($(date +%s%N) - begin) / 1000000))
((took_ms >= 7900)) || fail "waited for $took_ms ms only: was the file read so soon?"
# A second wait would be as long as the first; less than that a loaded machine may take.
((took_ms < 15900)) || fail "waited for $took_ms ms"
stop
