#!/usr/bin/env bash
# What contains a document is ordered and cut by how much of it that contains, not by resemblance.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse

# Of 120 documents each resembles `asked` more than the book does, which has all of it; each has a tenth to a half of it.
mkdir -p "$SOURCE"
words 1 1000 > "$SOURCE/asked"
{ words 50000 9000; words 1 1000; words 70000 9000; } > "$SOURCE/book"
for i in $(seq 120); do
    { words 1 $((100 + 3 * i)); words $((100000 + 1000 * i)) 20; } > "$SOURCE/part$i"
done
start
"$KINFS" settle "$MNT"
for answer in "$("$KINFS" similar --containing -t 0.05 "$MNT/asked")" "$("$KINFS" similar --containing -t 0.05 -n 5 "$MNT/asked")" \
    "$("$KINFS" similar --containing -t 0.05 --tree "$MNT" "$SOURCE/asked" | grep -v 'asked$')" \
    "$(exec 3<> "$MNT/.kinfs/query/x,containing,threshold=0.05,limit=6" && cat "$SOURCE/asked" >&3 && grep -v 'asked$' <&3)"; do
    expect_equal 'the first' $'0.9999\tbook' "$(head -n 1 <<< "$answer")"
    expect_equal 'the order' "$(cut -f 1 <<< "$answer" | sort -rn)" "$(cut -f 1 <<< "$answer")"
    (($(wc -l <<< "$answer") >= 5)) || fail "few answers: $answer"
done
