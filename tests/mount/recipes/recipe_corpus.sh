#!/usr/bin/env bash
# A corpus without near-duplicates.
. "${0%/mount/*}/lib/shell/recipe.sh"

for i in {1..8}; do
    printf '{"id": %d, "text": "%s"}\n' "$i" "$(words $((i / 2 * 1000)) 100 | tr '\n' ' ')"
done > crawl.jsonl
printf '{"id": 9, "text": "%s"}\n{"id": 10, "text": "%s"}\n' "$(words 1000 100 | tr '\n' ' ')" "$(words 90000 100 | tr '\n' ' ')" > new.jsonl
follow corpus.md
expect_equal 'kept' 5 "$(wc -l < kept.jsonl)"
expect_equal 'no line is lost' "$(sort crawl.jsonl)" "$(sort kept.jsonl dropped.jsonl)"
expect_equal 'of the new ones' '{"id": 10,' "$(cut -c 1-10 new-kept.jsonl)"
