#!/usr/bin/env bash
# What a small compressed file that nobody has named holds takes no more memory of kinfs pairs --exact than is told.
# Begins early: it reads 34 million lines.
. "${0%/mount/*}/lib/shell/mount.sh"
mkdir -p "$SOURCE"
seq 17000000 | gzip -1 > "$SOURCE/one.gz"
{ echo more; seq 17000000; } | gzip -1 > "$SOURCE/other.gz"
words 1 300 > "$SOURCE/small"
cp "$SOURCE/small" "$SOURCE/same"
"$KINFS" scan "$SOURCE" > /dev/null
expect_equal 'resembling ones' 2 "$("$KINFS" pairs "$SOURCE" | wc -l)"
expect_code 0 "$KINFS" pairs --exact "$SOURCE"
expect_match 'one that is too large' 'one.gz: more than 16 million different shingles; kinfs compare --exact takes more; left out' "$OUT"
expect_match 'the others' $'(small\tsame|same\tsmall)\t1' "$OUT"
