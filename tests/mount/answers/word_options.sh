#!/usr/bin/env bash
# Stop words, stems and tags, chosen when a store is made: F5, F6, A2.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

mkdir -p "$SOURCE" "$MNT"
# The same text twice, in other forms of its words and with other stop words between them.
python3 - "$SOURCE" <<'PYTHON'
import random, sys
random.seed(3)
stems = [a + b for a in ('walk', 'jump', 'count', 'paint', 'help', 'start', 'kick', 'plant', 'burn', 'mark')
         for b in ('ob', 'ar', 'it', 'un', 'ol')]
text = [random.choice(stems) for _ in range(400)]
with open(sys.argv[1] + '/a', 'w') as file:
    file.write(' '.join('the %sing' % stem for stem in text))
with open(sys.argv[1] + '/b', 'w') as file:
    file.write(' '.join('of a %ss' % stem for stem in text))
PYTHON
resemblance() { # ARGUMENT...: of a and b
    "$KINFS" compare --json "$@" | python3 -c 'import json, sys; print(json.load(sys.stdin)["resemblance"])'
}

# By default words are what they are.
"$KINFS" mount -o "store=$SCRATCH/plain" "$SOURCE" "$MNT"
"$KINFS" settle "$MNT" > settled
expect_match 'no word of it' '\(w=5 s=128 m=25\)' "$("$KINFS" status "$MNT")"
expect_match 'none' '"tokens":"words","stopwords":"none","stemmer":"none"' "$("$KINFS" status --json "$MNT")"
expect_equal 'nothing in common' '0.0000' "$("$KINFS" compare "$MNT/a" "$MNT/b" | awk '/^resemblance/ { print $2 }')"
expect_equal 'exactly' 0.0 "$(resemblance --exact "$MNT/a" "$MNT/b")"
expect_equal 'exactly, as if both' 1.0 "$(resemblance --exact --stopwords=english --stemmer=english "$MNT/a" "$MNT/b")"
expect_equal 'exactly, stems alone' 0.0 "$(resemblance --exact --stemmer=english "$MNT/a" "$MNT/b")"
expect_equal 'anew' 1.0 "$(resemblance --resample --shingle=3 --stopwords=english --stemmer=english "$MNT/a" "$MNT/b")"
"$KINFS" umount "$MNT"

# With both on they are the same text.
"$KINFS" mount -o "store=$SCRATCH/stems,stopwords=english,stemmer=english" "$SOURCE" "$MNT"
"$KINFS" settle "$MNT" > settled
expect_match 'both' '\(w=5 s=128 m=25 stopwords=english stemmer=english\)' "$("$KINFS" status "$MNT")"
expect_equal 'the same text' '1.0000' "$("$KINFS" compare "$MNT/a" "$MNT/b" | awk '/^resemblance/ { print $2 }')"
expect_match 'similar' "b\$" "$("$KINFS" similar "$MNT/a")"
# What is compared anew is as the store has it, unless --shingle or something else is said.
expect_equal 'as the store' 1.0 "$(resemblance --exact "$MNT/a" "$MNT/b")"
expect_match 'says so' '"w":5,"stopwords":"english","stemmer":"english"' "$("$KINFS" compare --json --exact "$MNT/a" "$MNT/b")"
expect_equal 'resampled' 1.0 "$(resemblance --resample "$MNT/a" "$MNT/b")"
expect_equal 'not as the store' 0.0 "$(resemblance --exact --stemmer=none "$MNT/a" "$MNT/b")"
expect_equal 'another w' 0.0 "$(resemblance --exact --shingle=5 "$MNT/a" "$MNT/b")"
expect_match 'within' '^at most 2 shingles' "$("$KINFS" compare --sketch=hamming --within=2 "$MNT/a" "$MNT/b")"
"$KINFS" umount "$MNT"

# The store keeps them, named or not, through a rebuild; others are refused.
expect_code 0 "$KINFS" rebuild --store="$SCRATCH/stems" "$SOURCE"
expect_match 'kept' 'stopwords=english stemmer=english' "$("$KINFS" status --store="$SCRATCH/stems")"
expect_code 3 "$KINFS" mount -o "store=$SCRATCH/stems,stemmer=german" "$SOURCE" "$MNT"
expect_match 'another' "^kinfs: [^"$'\n'"]*made with stemmer=english, not german; leave out stemmer, or name another store[^"$'\n'"]*$" "$OUT"
expect_code 3 "$KINFS" scan --store="$SCRATCH/stems" --stopwords=none "$SOURCE"
expect_code 0 "$KINFS" scan --store="$SCRATCH/stems" --stopwords=english "$SOURCE"
expect_code 0 "$KINFS" scan --store="$SCRATCH/german" --stemmer=german "$SOURCE"
expect_match 'scanned' '\(w=5 s=128 m=25 stemmer=german\)' "$("$KINFS" status --store="$SCRATCH/german")"

# The same words, in other markup: the same text, unless tags count.
words 1 200 | sed 's/.*/<p>&<\/p>/' > "$SOURCE/p.html"
words 1 200 | sed 's/.*/<div>&<\/div>/' > "$SOURCE/div.html"
words 1 200 | sed 's/.*/<P class=x>&<\/P>/' > "$SOURCE/capital.html"
"$KINFS" mount -o "store=$SCRATCH/tags,tokens=words+tags" "$SOURCE" "$MNT"
"$KINFS" settle "$MNT" > settled
expect_match 'tags' '\(w=5 s=128 m=25 tokens=words\+tags\)' "$("$KINFS" status "$MNT")"
expect_equal 'tags alone' 0.0 "$(resemblance --exact "$MNT/p.html" "$MNT/div.html")"
expect_equal 'the same tags' 1.0 "$(resemblance --exact "$MNT/p.html" "$MNT/capital.html")"
expect_match 'said' '"w":5,"tokens":"words\+tags"' "$("$KINFS" compare --json --exact "$MNT/p.html" "$MNT/div.html")"
expect_equal 'words alone' 1.0 "$(resemblance --exact --tokens=words "$MNT/p.html" "$MNT/div.html")"
expect_equal 'of the store' '0.0000' "$("$KINFS" compare "$MNT/p.html" "$MNT/div.html" | awk '/^resemblance/ { print $2 }')"
expect_match 'similar' 'capital.html$' "$("$KINFS" similar "$MNT/p.html")"
"$KINFS" umount "$MNT"
expect_equal 'by default' 1.0 "$(resemblance --exact --shingle=5 "$SOURCE/p.html" "$SOURCE/div.html")"
expect_code 3 "$KINFS" mount -o "store=$SCRATCH/tags,tokens=words" "$SOURCE" "$MNT"
expect_match 'made with tags' 'made with tokens=words\+tags, not words; leave out tokens' "$OUT"
expect_code 0 "$KINFS" scan --store="$SCRATCH/scanned" --tokens=words+tags "$SOURCE"
expect_match 'scanned with tags' 'tokens=words\+tags' "$("$KINFS" status --store="$SCRATCH/scanned")"

# What is not alphabetic, and stop words of other languages.
python3 - "$SOURCE" <<'PYTHON'
import sys
words = [a + b + c for a in ('hund', 'pferd', 'katz', 'maus') for b in ('en', 'chen', 'lein') for c in 'abcdefghijklm']
with open(sys.argv[1] + '/de1', 'w') as file:
    file.write(' '.join('der %s' % word for word in words))
with open(sys.argv[1] + '/de2', 'w') as file:
    file.write(' '.join('von einem %s 1997_%d' % (word, n) for n, word in enumerate(words)))
PYTHON
expect_code 0 "$KINFS" scan --store="$SCRATCH/letters" --tokens=letters --stopwords=german "$SOURCE"
expect_match 'letters' '\(w=5 s=128 m=25 tokens=letters stopwords=german\)' "$("$KINFS" status --store="$SCRATCH/letters")"
expect_equal 'the same letters' 1.0 "$(resemblance --exact --shingle=5 --tokens=letters --stopwords=german "$SOURCE/de1" "$SOURCE/de2")"
expect_equal 'other words' 0.0 "$(resemblance --exact --shingle=5 --tokens=words --stopwords=german "$SOURCE/de1" "$SOURCE/de2")"

# Names that are none, with those that are.
unknown() { # PATTERN ARGUMENT...
    expect_code 2 "$KINFS" "${@:2}"
    expect_match "${*:2}" "$1" "$OUT"
}
unknown '-o stemmer=klingon: no such stemmer; there are: none, arabic, .*english.*yiddish' mount -o stemmer=klingon "$SOURCE" "$MNT"
unknown '-o stopwords=x: no such list of stop words; there are: none, english' mount -o stopwords=x "$SOURCE" "$MNT"
unknown '--stemmer=klingon: no such stemmer; there are: none' scan --stemmer=klingon "$SOURCE"
unknown '--stopwords=x: no such list' scan --stopwords=x "$SOURCE"
unknown '--stemmer=klingon: no such stemmer; there are: none' compare -e --stemmer=klingon "$SOURCE/a" "$SOURCE/b"
unknown '--stopwords=x: no such list' compare -e --stopwords=x "$SOURCE/a" "$SOURCE/b"
unknown '-o tokens=x: no such tokens; there are: words, words\+tags, letters' mount -o tokens=x "$SOURCE" "$MNT"
unknown '--tokens=x: no such tokens' scan --tokens=x "$SOURCE"
unknown '--tokens=x: no such tokens' compare -e --tokens=x "$SOURCE/a" "$SOURCE/b"
unknown 'are for --exact and --sketch' compare --stemmer=english "$SOURCE/a" "$SOURCE/b"

# Tags have any bytes, and what controls a terminal or is no character (the name is cut) stays in them.
mkdir tagged
python3 - <<'EOF'
begin = b'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>'
for i in range(2):
    with open("tagged/%d.html" % i, "wb") as file:
        file.write(begin + b"".join(b"<x\xc2\x9b1m\x07y>w%d</p>\n<xy%s>\n" % (n, "é".encode() * 300) for n in range(400)))
        file.write(b"<p>%d" % i)
EOF
"$KINFS" scan --store="$SCRATCH/odd" --tokens=words+tags tagged > /dev/null
"$KINFS" shingles --store="$SCRATCH/odd" --top=1000 tagged > printed
"$KINFS" shingles --store="$SCRATCH/odd" --top=1000 --json tagged > rows
python3 - <<'EOF'
import base64, json
printed = open("printed", "rb").read().decode()
assert "<x\\302\\2331m\\ay> w" in printed, printed[:1000]
assert not [c for c in printed if c not in "\t\n" and (c < " " or "\x7f" <= c < "\xa0")]
rows = [json.loads(line) for line in open("rows", "rb").read().decode().splitlines()]
texts = [base64.b64decode(row["text_bytes"]) if "text_bytes" in row else row["text"].encode() for row in rows]
odd = [text for text in texts if b"\xc3>" in text and b"<x\xc2\x9b1m\x07y>" in text]
# All but the first shingles, with the tags around, where the key has them sampled.
assert odd and len(odd) >= len(texts) - 9, texts
EOF
