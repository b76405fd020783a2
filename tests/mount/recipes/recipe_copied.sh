#!/usr/bin/env bash
# Who copied from whom in a class.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir -p srv/class/2025 srv/class/2026
words 1 400 > srv/class/2025/bob.txt
{ words 60000 80; words 1 320; } > srv/class/2026/ada.txt
words 70000 400 > srv/class/2026/eve.txt
words 80000 50 > srv/class/task.txt
follow copied.md
expect_equal 'pairs: in all, and between the years' 2 "$(grep -c $'ada.txt\t.*bob.txt\|bob.txt\t.*ada.txt' copied.md.out)"
grep -q $'\t2026/ada.txt$' copied.md.out || fail 'who holds a part of a document'
! grep -q eve copied.md.out || fail 'who copied nothing is named'
grep -q '<html' pair.html || fail 'no page of the pair'
