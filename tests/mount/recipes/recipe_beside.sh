#!/usr/bin/env bash
# What is changed in the tree itself is in the next answer of the views beside.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir srv/docs
{ words 1 500; echo it is free; words 600 500; } > srv/docs/licence
follow beside.md
expect_match 'the view, and the answer after the move' $'\n0[0-9]{2}-draft\n0\\.[0-9]+\tlicence\n' "$(cat beside.md.out)"
expect_match 'by what it is watched' $'\nwatch +(fanotify|inotify)' "$(cat beside.md.out)"
