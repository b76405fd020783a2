#!/usr/bin/env bash
# kinfs stopwords: in how many documents each word stands, as counted here by sets.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
cat > model.py << 'E2'
import collections, json, os, random, subprocess, sys
kinfs = sys.argv[1]
rng = random.Random(4)
def word(n):
    return "".join("abdekmoqxz"[n // 10 ** i % 10] for i in range(4))
df = collections.Counter()
for i in range(120):
    words = [word(int(rng.paretovariate(.35)) % 3000) for _ in range(rng.randrange(1, 300))]
    os.makedirs(f"tree/{i % 7}", exist_ok=True)
    with open(f"tree/{i % 7}/{i}", "w") as file:
        file.write(" ".join(w.upper() if rng.random() < .3 else w + "," for w in words) + " 17 4")
    df.update(set(words))
def lines(*options):
    done = subprocess.run([kinfs, "stopwords", *options, "tree"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()
expected = sorted(df, key=lambda w: (-df[w], w))
assert len(expected) > 600
rows = [json.loads(line) for line in lines("--json", "--top=0")]
assert [(row["word"], row["documents"], row["missed"]) for row in rows] == [(w, df[w], 0) for w in expected]
assert all(abs(row["share"] - df[row["word"]] / 120) < 1e-4 for row in rows)
assert [line.split("\t")[::2] for line in lines()] == [[str(df[w]), w] for w in expected[:500]]
assert lines("--plain", "--top=9") == expected[:9]
E2
python3 model.py "$KINFS" || fail 'others are counted'

mkdir few
printf '<title>Unseen</title><p>Foxes and foxes</p><script>code</script>' > few/page.html
printf 'foxes17 hunt' > few/text
expect_equal 'of two formats' $'2\t1.0000\tfoxes\n1\t0.5000\tand\n1\t0.5000\thunt' "$("$KINFS" stopwords few | grep -v unseen)"
expect_equal 'with digits' 'and,foxes,foxes17,hunt' "$("$KINFS" stopwords --plain --tokens=words few | grep -v unseen | paste -sd ,)"
expect_equal 'as stems' 'fox' "$("$KINFS" stopwords --plain --top=1 --stemmer=porter few)"
expect_equal 'one document' '1' "$("$KINFS" stopwords few/text | cut -f 1 | sort -u)"

# What a few bytes unpack to, or a hole is, counts as far as so few can be of: no reader is kept by a gigabyte of nothing.
mkdir bomb
python3 - << 'E2'
import gzip, os
with open("bomb/packed.gz", "wb") as file:
    file.write(gzip.compress(b"early " + b"fox " * (64 << 18) + b"late", 9)) # 64 MiB of 65 KB
os.truncate(os.open("bomb/hole", os.O_CREAT | os.O_WRONLY), 1 << 35)
E2
expect_code 0 timeout 60 "$KINFS" stopwords --plain bomb
expect_match 'the beginning counts' '(^|'$'\n'')early('$'\n''|$)' "$OUT"
expect_match 'that is said' 'bomb/packed.gz: too long for what it takes on the disk; the rest does not count' "$OUT"
! grep -qx late <<< "$OUT" || fail 'the end counts'
rm -r bomb

mkdir empty
expect_code 1 "$KINFS" stopwords empty
expect_equal 'nothing' '' "$OUT"
expect_code 3 "$KINFS" stopwords nowhere
expect_code 2 "$KINFS" stopwords
expect_code 2 "$KINFS" stopwords --json --plain few
expect_code 2 "$KINFS" stopwords --tokens=tags few
mkfifo pipe
expect_code 3 "$KINFS" stopwords pipe
expect_match 'a pipe' 'pipe: neither a file nor a directory' "$OUT"
