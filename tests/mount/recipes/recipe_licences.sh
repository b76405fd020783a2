#!/usr/bin/env bash
# Licence texts that were altered are told from those that were only broken into other lines.
. "${0%/mount/*}/lib/shell/recipe.sh"
needs jq
licence=/usr/share/common-licenses/GPL-2
[[ -e $licence ]] || skip "$licence is not there"

mkdir -p srv/code/{a,b,c,d}
cp "$licence" srv/code/a/COPYING
fmt -w 60 "$licence" > srv/code/b/LICENSE
sed 's/Free Software/Nice Software/; s/NO WARRANTY/EVERY WARRANTY/' "$licence" > 'srv/code/c/COPYING (ours)'
{ cat "$licence"; words 1 20000; } > srv/code/d/all.txt
words 90000 3000 > srv/code/d/other.txt
follow licences.md
expect_equal 'what was altered' "$SCRATCH/srv/code/c/COPYING (ours)" "$(cat altered)"
expect_match 'how much' $'\nresemblance +0\\.9[0-9]{3}\ncontainment' "$(cat licences.md.out)"
expect_equal 'what has it among other text' 1 "$(grep -c $'\td/all.txt$' licences.md.out)"
! grep -q 'other\.txt' licences.md.out || fail 'a text that is no licence is named'
