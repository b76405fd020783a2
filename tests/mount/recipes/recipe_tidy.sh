#!/usr/bin/env bash
# A tree rid of its copies: planned, done, and undone.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir srv/docs
words 30000 300 | tee srv/docs/alone.txt > 'srv/docs/copy of alone.txt'
{ words 30000 300; echo more; } > srv/docs/near.txt
touch -d @1000000000 srv/docs/alone.txt
touch -d @1000000001.5 'srv/docs/copy of alone.txt'
follow tidy.md
expect_match 'what is planned, done and undone' $'keep\talone.txt\ntrash\tcopy[^\n]*\tequal\t.*\ntrashed\tcopy[^\n]*\nrestored\tcopy' "$(cat tidy.md.out)"
cmp srv/docs/alone.txt 'srv/docs/copy of alone.txt'
expect_equal 'its time' 1000000001.5 "$(stat -c %.1Y 'srv/docs/copy of alone.txt')"
