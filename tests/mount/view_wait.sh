#!/usr/bin/env bash
# A question waits for the index no longer than settle_ms, however many things it waits for.
. "$(dirname "$0")/../lib/mount.sh"

start -o settle_ms=3000
truncate -s 60G "$MNT/long" 2> /dev/null || skip 'no room for a long sparse file here'
begin=$(date +%s%N)
expect_equal 'not read yet' '' "$(ls "$MNT/similar/long")"
took_ms=$((($(date +%s%N) - begin) / 1000000))
((took_ms >= 2900)) || fail "waited for $took_ms ms only: was the file read so soon?"
# A second wait would be as long as the first; less than that a loaded machine may take.
((took_ms < 5900)) || fail "waited for $took_ms ms"
stop
