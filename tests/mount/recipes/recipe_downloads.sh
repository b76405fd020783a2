#!/usr/bin/env bash
# A download folder, tidied: what is filed, or there twice, goes to the trash and comes back; all else stays.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir -p home/Downloads home/Documents
words 1 300 > home/Downloads/report.txt
cp home/Downloads/report.txt 'home/Downloads/report (1).txt'
words 10000 300 | tee home/Documents/filed.txt > home/Downloads/scan.txt
words 20000 300 | tee home/Documents/one.txt > home/Documents/two.txt
{ words 1 300; echo '<b>of the page</b>'; } > home/Downloads/page.html
find home -type f -name '*.*' -exec sha256sum {} + | sort > before
follow downloads.md
expect_equal 'what went and came back' $'restored\tDownloads/report\\ (1).txt\nrestored\tDownloads/scan.txt' "$(grep ^restored downloads.md.out | cut -f 1-2 | sort)"
expect_match 'the pair of a page and a text' $'page.html\t[^\n]*report' "$(cat downloads.md.out)"
find home -type f -name '*.*' ! -name 'tidy.*' ! -path '*/.local/*' -exec sha256sum {} + | sort > after
cmp before after
