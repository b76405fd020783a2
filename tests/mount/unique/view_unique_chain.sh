#!/usr/bin/env bash
# A chain of versions, each of which resembles those that came just before it, is listed in unique/ like any other files.
. "${0%/mount/*}/lib/shell/mount.sh"
UNIQUE=$MNT/unique
N=600 # far more than could be gone through by way of each other
mkdir -p "$SOURCE/log"
for ((i = N - 1; i >= 0; i--)); do
    printf -v name 'd%05d' "$i"
    words "$i" 300 > "$SOURCE/log/$name"
    touch -d "@$((1000000000 + i))" "$SOURCE/log/$name"
done
start
"$KINFS" settle "$MNT" > /dev/null

# The newest one first, which depends on all others.
newest=0
[[ ! -e $UNIQUE/log/d00599 ]] || newest=1
cat "$UNIQUE/.kinfs-skipped.tsv" > list
(cd "$UNIQUE" && find log -type f | LC_ALL=C sort) > shown
expect_equal 'files that are shown or listed' "$N" "$(cut -f 1 list | sort -u - shown | wc -l)"
expect_equal 'files that are shown and listed' '' "$(cut -f 1 list | LC_ALL=C sort | comm -12 - shown)"
expect_equal 'files that stand in and are not shown' '' "$(cut -f 2 list | LC_ALL=C sort -u | comm -23 - shown)"
expect_equal 'the newest one' "$newest" "$(grep -c d00599 shown || true)"
# Of eight that follow each other one stays, or two, since it takes an estimate to be looked at.
[[ $(wc -l < shown) -lt $((N / 3)) ]] || fail "$(wc -l < shown) of $N are shown"
stop
