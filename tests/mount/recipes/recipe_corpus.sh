#!/usr/bin/env bash
# A corpus without near-duplicates.
. "${0%/mount/*}/lib/shell/recipe.sh"

for i in {1..8}; do
    printf '{"id": %d, "text": "%s"}\n' "$i" "$(words $((i / 2 * 1000)) 100 | tr '\n' ' ')"
done > crawl.jsonl
printf '{"id": 9, "text": "%s"}\n{"id": 10, "text": "%s"}\n' "$(words 1000 100 | tr '\n' ' ')" "$(words 90000 100 | tr '\n' ' ')" > new.jsonl
mkdir srv/docs
{ echo '<html><body><p>'; words 90000 98; echo '</p></body></html>'; } > srv/docs/page
follow corpus.md
expect_equal 'kept' 5 "$(wc -l < kept.jsonl)"
expect_equal 'no line is lost' "$(sort crawl.jsonl)" "$(sort kept.jsonl dropped.jsonl)"
expect_equal 'of the new ones' '{"id": 10,' "$(cut -c 1-10 new-kept.jsonl)"
expect_equal 'of the new ones, those that are not in the tree' '{"id": 9, ' "$(cut -c 1-10 not-there.jsonl)"
expect_match 'which document it is' '"id":10,"representative":"[^"]*/srv/docs/page",.*"match":"[^"]*/srv/docs/page"' "$(< there.jsonl)"
