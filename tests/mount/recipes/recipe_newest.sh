#!/usr/bin/env bash
# The newest version of a report is found from an old one.
. "${0%/mount/*}/lib/shell/recipe.sh"

mkdir -p srv/docs/{sent,drafts}
words 1 1000 > srv/docs/sent/report.txt
{ words 1 1000; echo more; } > srv/docs/drafts/report-2.txt
{ words 1 1000; echo more, and the end; } > srv/docs/drafts/report-final.txt
words 5000 300 > srv/docs/drafts/other.txt
touch -d '3 days ago' srv/docs/sent/report.txt
touch -d '2 days ago' srv/docs/drafts/report-2.txt
touch -d '1 day ago' srv/docs/drafts/report-final.txt
follow newest.md
expect_match 'by time' $'^[^\n]*\n[0-9]+-report-final.txt\n[0-9]+-report-2.txt\n' "$(cat newest.md.out)"
expect_equal 'the newest' 1 "$(grep -c "^$SCRATCH/mnt/docs/drafts/report-final.txt$" newest.md.out)"
expect_equal 'the newest of everything' $'other.txt\nreport-final.txt' "$(sed -n 's:.*/unique/.*/::p' newest.md.out | sort)"
