#!/usr/bin/env bash
# One of each of what grep found.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir srv/docs
for i in {1..5}; do
    { words 1 500; echo "deadline $i"; } > "srv/docs/version$i"
done
{ echo deadline; words 40000 300; } > srv/docs/other
words 50000 300 > srv/docs/without
follow grouping.md
expect_equal 'one of each' 2 "$(grep -c '^\./' grouping.md.out)"
expect_match 'the single one' other "$(cat grouping.md.out)"
