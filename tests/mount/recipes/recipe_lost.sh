#!/usr/bin/env bash
# A file that was rewritten elsewhere, and one whose directory was moved, are found by the paths that they had.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir -p srv/docs/{plans,meetings}
{ words 1 500; echo provisional; } > srv/docs/plans/budget.txt
words 5000 300 > srv/docs/meetings/march.txt
words 9000 300 > srv/docs/plans/other.txt
follow lost.md
expect_match 'what is like the lost one, and the moved one' $'\n0\\.[0-9]+\tarchive/figures.txt\n100-march.txt\n' "$(cat lost.md.out)"
expect_equal 'how it ended' 1 "$(grep -c $'\tdied\t.*plans/budget.txt$' lost.md.out)"
! grep -q other lost.md.out || fail 'another document is named'
