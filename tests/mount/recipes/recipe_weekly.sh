#!/usr/bin/env bash
# The mail of a week has the documents that came, and what they are versions of.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir srv/docs
words 1 500 > srv/docs/old.txt
touch -d '30 days ago' srv/docs/old.txt
{ words 1 500; echo and more; } > srv/docs/new.txt
words 9000 300 > srv/docs/alone.txt
follow weekly.md
expect_equal 'born, all days together' 3 "$(awk '/^20[0-9-]+ / { n += $2 } END { print n }' weekly.md.out)"
expect_match 'a new one with its relative' $'\n\\./new.txt\n    0\\.[0-9]+\told.txt\n' "$(cat weekly.md.out)"$'\n'
expect_match 'one that resembles nothing' $'\n\\./alone.txt\n(\\./|$)' "$(cat weekly.md.out)"$'\n'
! grep -q '^\./old.txt' weekly.md.out || fail 'what is older is named'
