#!/usr/bin/env bash
# Of very many passages, of documents cut to pieces, kinfs passages prints the longest, as it does when all are printed.
# Begins early: it compares hundreds of thousands of words.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir -p "$SOURCE"
python3 - "$SOURCE" << 'E2'
import random, sys
random.seed(1)
words = [f"w{random.randrange(10**6)}" for _ in range(240000)]
open(f"{sys.argv[1]}/whole", "w").write("\n".join(words))
for n in range(4):
    with open(f"{sys.argv[1]}/cut{n}", "w") as out:
        for i, word in enumerate(words):
            print(word, file=out)
            if (i + n) % 9 == 8 and i % (20000 + 1000 * n) > 50: # the longest are in each of them
                print(f"cut{n}by{i}", file=out)
E2
"$KINFS" scan --passages=8 "$SOURCE" > /dev/null
"$KINFS" passages --words=8 --limit=0 "$SOURCE/whole" > all
test "$(wc -l < all)" -gt 90000 || fail "only $(wc -l < all)"
for limit in 3 30 30000; do
    "$KINFS" passages --words=8 --limit="$limit" "$SOURCE/whole" | cmp - <(head -n "$limit" all) || fail "the first $limit"
done
