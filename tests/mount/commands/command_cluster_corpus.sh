#!/usr/bin/env bash
# kinfs cluster --jsonl: documents that are lines of JSON.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 zstd gzip xz

# The objects of a run, and of kinds of them the lines they are of, by what is said of them.
corpus() { "$KINFS" cluster --jsonl "$@"; }

# -- two routes: the same texts as lines and as files --

# Versions of some texts, most shorter than a sketch, of which all is therefore known exactly.
python3 - <<'PYTHON'
import json, os, random
r = random.Random(7)
vocabulary = ['w%d' % i for i in range(3000)] + ['größe', 'naïve', '漢字', 'Ωμέγα', '"quoted"', 'back\\slash', 'tab\there', '😀x']
texts = []
for family in range(60):
    words = [r.choice(vocabulary) for _ in range(r.randrange(30, 110))]
    for version in range(r.choice([1, 1, 2, 4])):
        texts.append(' '.join(words))
        words = list(words)
        for _ in range(r.randrange(0, 6)):
            words[r.randrange(len(words))] = r.choice(vocabulary)
texts += ['', '', '<html><body><p>' + texts[0] + '</p></body></html>', '\ufeff' + texts[1], 'a\u0000b' + texts[2]]
order = list(range(len(texts)))
r.shuffle(order)
os.mkdir('files')
with open('corpus.jsonl', 'w') as lines:
    for i, which in enumerate(order):
        line = {'id': '%05d' % i, 'text': texts[which], 'meta': {'n': i, 'deep': [{'text': 'no'}]}}
        lines.write(json.dumps(line, ensure_ascii=bool(i % 2)) + '\n')
        with open('files/%05d' % i, 'w', newline='') as file:
            file.write(texts[which])
PYTHON
"$KINFS" cluster files | sed 's,files/,,' > by_files
by_lines() { python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [row["cluster"] for row in rows if row["representative"] == row["id"] and row["cluster"]] == list(range(1, 1 + len({row["cluster"] for row in rows} - {None})))
for row in sorted((row for row in rows if row["cluster"]), key=lambda row: (row["cluster"], row["id"])):
    print(row["cluster"], row["id"], sep="\t")'; }
corpus --id-field=id corpus.jsonl > rows
by_lines < rows | cmp - by_files
[[ $(wc -l < by_files) -gt 60 ]] || fail "too few clusters to tell anything"
for option in --mode=exact --mode=center --mode=broder1997 --mode=supershingle --threshold=0.9 --threshold=1 --policy=broder1997; do
    "$KINFS" cluster "$option" files | sed 's,files/,,' > by_files
    corpus "$option" --id-field=id corpus.jsonl | by_lines | cmp - by_files || fail "$option"
done

# The resemblance is that of compare --exact where all shingles are known; 1.0000 is equality.
python3 - <<'PYTHON' > pairs
import json
for line in open('rows'):
    row = json.loads(line)
    assert set(row) == {'cluster', 'id', 'representative', 'resemblance', 'keep'}, row
    assert row['keep'] == (row['id'] == row['representative']), row
    if row['keep']:
        assert row['resemblance'] == 1, row
    else:
        print('files/' + row['representative'], 'files/' + row['id'], '%.4f' % row['resemblance'])
PYTHON
while read -r a b resemblance; do
    [[ -s $a ]] || continue # empty ones are equal, and resemble nothing
    expect_match "$a $b" "resemblance +$resemblance" "$("$KINFS" compare --exact "$a" "$b")"
done < pairs
[[ $(wc -l < pairs) -gt 40 ]] || fail "too few pairs to tell anything"

# Threads, memory and packing make no difference.
for option in --threads=1 --threads=3 --memory=17M; do
    corpus --id-field=id "$option" corpus.jsonl | cmp - rows
done
zstd -q corpus.jsonl && gzip -k corpus.jsonl && xz -k corpus.jsonl && zstd -q --long=27 corpus.jsonl -o long.zst
for file in corpus.jsonl.zst corpus.jsonl.gz corpus.jsonl.xz long.zst; do
    corpus --id-field=id "$file" | cmp - rows
    corpus --id-field=id - < "$file" | cmp - rows
done
cat corpus.jsonl | corpus --id-field=id - | cmp - rows
corpus --id-field=id --zst corpus.jsonl.zst | cmp - rows

# Nor does it where sketches do not fit into memory, of documents longer than a sketch.
python3 - <<'PYTHON' | zstd -q -1 > many.zst
import random
r = random.Random(3)
for i in range(4000):
    words = ['%x' % r.getrandbits(20) for _ in range(300)]
    for version in range(4):
        print('{"id":%d,"text":"%s"}' % (4 * i + version, ' '.join(words)))
        for _ in range(6 * version):
            words[r.randrange(300)] = 'changed'
PYTHON
corpus --id-field=id many.zst > many_rows
corpus --id-field=id --memory=17M --costs many.zst 2> costs | cmp - many_rows
expect_match 'scratch files are read' 'clusters +[0-9.]+ +[0-9.]+ +[1-9]' "$(< costs)"

# -- what is written --

# Every line is in one of the two, as it was, in its order.
python3 - <<'PYTHON'
import json
keep = [json.loads(line)['keep'] for line in open('rows')]
lines = open('corpus.jsonl', 'rb').readlines()
open('expected_kept', 'wb').writelines(line for line, k in zip(lines, keep) if k)
open('expected_dropped', 'wb').writelines(line for line, k in zip(lines, keep) if not k)
PYTHON
for file in corpus.jsonl corpus.jsonl.zst; do
    echo old > kept
    corpus --id-field=id --kept=kept --dropped=dropped "$file" | cmp - rows
    cmp kept expected_kept && cmp dropped expected_dropped
done
corpus --id-field=id --kept=kept - < corpus.jsonl.gz > /dev/null && cmp kept expected_kept
corpus --id-field=id --dropped=>(cat > through_a_pipe) corpus.jsonl > /dev/null
soon 'all of the pipe' cmp through_a_pipe expected_dropped
# What is kept resembles nothing that is kept, where all clusters hang together.
expect_code 1 corpus kept

# The form of a file is nobody's business: CRLF, a mark, blank lines, no newline at the end, nothing at all.
printf '\xef\xbb\xbf{"text":"a b c d e f g"}\r\n\r\n  \n{"text":"a b c d e f g"}' > odd
: > empty
corpus --kept=kept --dropped=dropped odd empty odd > odd_rows
expect_equal 'odd form' '{"cluster":1,"id":"odd:1","representative":"odd:1","resemblance":1.0000,"keep":true}
{"cluster":1,"id":"odd:4","representative":"odd:1","resemblance":1.0000,"keep":false}
{"cluster":1,"id":"odd:1","representative":"odd:1","resemblance":1.0000,"keep":false}
{"cluster":1,"id":"odd:4","representative":"odd:1","resemblance":1.0000,"keep":false}' "$(< odd_rows)"
cmp kept <(printf '\xef\xbb\xbf{"text":"a b c d e f g"}\r\n\r\n  \n\r\n  \n')
cmp dropped <(printf '{"text":"a b c d e f g"}\n\xef\xbb\xbf{"text":"a b c d e f g"}\r\n{"text":"a b c d e f g"}')
expect_code 1 corpus empty
expect_equal 'nothing at all' '' "$OUT"
expect_code 1 corpus empty empty --kept=kept && [[ ! -s kept ]]

# -- ids and fields --

cat > ids <<'JSON'
{"id":12345678901234567890123,"text":"a b c d e f g","m":{"t":"q r s t u v w","k":[1]}}
{"id" : 1.50 , "text":"a b c d e f g","m":{"t":"q r s t u v w","k":"\u0041\u007f"}}
{"id":"\u00e9\/x","text":"a b c d e f g","m":{"t":"q r s t u v w","k":null}}
{"id":true,"text":"a b c d e f g","m.t":"x","m":{"t":"q r s t u v w"}}
{"id":{"x":1},"text":"1 2 3 4","text":"a b c d e f g","m":{"t":"q r s t u v w","k":false}}
JSON
expect_equal 'ids as they are' '12345678901234567890123 1.50 "\u00e9\/x" true "ids:5"' \
    "$(echo $(corpus --id-field=id ids | sed 's/.*"id":\(.*\),"representative":12345678901234567890123,.*/\1/'))"
expect_equal 'fields within' '"ids:1" "\u0041\u007f" "ids:3" "ids:4" false' \
    "$(echo $(corpus --text-field=m.t --id-field=m.k ids | sed 's/.*"id":\(.*\),"representative":"ids:1",.*/\1/'))"
printf '{"text":"a b c d","id":"\x7f\xc2\x9b"}\n' > control
expect_match 'control characters' '"id":"\\u007f\\u009b"' "$(corpus --id-field=id control || true)"
cp ids $'odd\n\xff"name'
corpus $'odd\n\xff"name' | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["id"])' > name
expect_equal 'name of a file' 'odd\n\377"name:1' "$(< name)"

# -- lines that are no documents --

# One of each kind between two that are equal.
python3 - <<'PYTHON'
bad = [b'nonsense', b'[1]', b'"text"', b'{}', b'{"text":null}', b'{"text":["a b c d"]}', b'{"text":"a b c d', b'{"text":"a b c d"}}',
       b'{"text":"a b c d\xff"}', b'{"text":"a b c d","x":"\xed\xa0\x80"}', b'{"text":"\\ud800 b c d"}', b'{"text":"\\x61 b c d"}',
       b'{"text":"a b c d","n":01}', b'{"text":"a b c d","n":nan}', b'{"text":"a\x00b c d"}', b"{'text':'a b c d'}", b'{"text":"a b c d",}',
       b'{"text":"a b c d"} {"text":"a b c d"}', b'{"text":"a b c d","x":' + b'[' * 5000 + b']' * 5000 + b'}', b'\x00\x00\x00']
good = b'{"text":"a b c d"}'
open('bad', 'wb').write(b'\n'.join([good, *bad, good]) + b'\n')
PYTHON
corpus --kept=kept --dropped=dropped bad > bad_rows 2> said
head -n 21 bad | cmp - kept
tail -n 1 bad | cmp - dropped
expect_equal 'one object a line' 22 "$(wc -l < bad_rows)"
expect_equal 'which are told of' 20 "$(grep -c '"cluster":null,.*"keep":true,"error":"' bad_rows)"
expect_match 'the first ones, and how many' 'bad:2: no JSON object.*bad:5: no such field.*bad:6: the field is no string.*20 lines' "$(tr '\n' ' ' < said)"
expect_equal 'a few' 6 "$(wc -l < said)"
expect_match 'bytes' '"bad:10".*bytes that are not UTF-8' "$(sed -n 10p bad_rows)"
expect_match 'escapes' '"bad:12".*an escape in a string that is no character' "$(sed -n 12p bad_rows)"
expect_code 3 corpus --strict --kept=strict_kept bad
expect_match 'strict' 'bad:2: no JSON object' "$OUT"
[[ ! -s strict_kept ]]

# -- against another corpus --

printf '{"id":"old1","text":"a b c d e f g"}\n{"id":"old2","text":"a b c d e f g"}\n{"id":"old3","text":"p q r s t u v"}\n' > old
printf '{"id":"new1","text":"1 2 3 4 5 6 7"}\n{"id":"new2","text":"a b c d e f g"}\n{"id":"new3","text":"1 2 3 4 5 6 7"}\n' > new
corpus --id-field=id --against=old --kept=kept --dropped=dropped new > new_rows
expect_equal 'matches' '{"cluster":1,"id":"new1","representative":"new1","resemblance":1.0000,"keep":true}
{"cluster":2,"id":"new2","representative":"old1","resemblance":1.0000,"keep":false,"match":"old1"}
{"cluster":1,"id":"new3","representative":"new1","resemblance":1.0000,"keep":false}' "$(< new_rows)"
expect_equal 'kept' "$(sed -n 1p new)" "$(< kept)"
expect_equal 'dropped' "$(sed 1d new)" "$(< dropped)"
# The same as one corpus behind the other, without what is said of the first.
corpus --id-field=id old new | tail -n 3 | sed 's/"cluster":[0-9]*,//' | cmp - <(sed 's/,"match":"old1"//; s/"cluster":[0-9]*,//' new_rows)
gzip -k old
corpus --id-field=id --against=old.gz --against=empty new | cmp - new_rows

# -- against a store --

# The documents of a store come before those of a corpus, and lines are found in them by the store's own key and words.
mkdir tree
printf 'Walking walks a b c d e f g' > $'tree/\xff"name'
printf '<html><body><p>h i j k l m n</p></body></html>' > $'tree/page\xc2\x9b31m' # which a terminal obeys
printf 'u v w x y z' > tree/alone
"$KINFS" scan -s store --stemmer=english tree > /dev/null
printf '{"id":"new1","text":"1 2 3 4 5 6 7"}\n{"id":"new2","text":"h i j k l m n"}\n{"id":"new3","text":"walk walked a b c d e f g"}\n{"id":"new4","text":"p q r s t u v"}\n' > asked
for threads in 1 3; do
    corpus --id-field=id --threads="$threads" --against=old --against=store --kept=kept --dropped=dropped asked > new_rows
    expect_equal 'matches in a store' 'new1 null None
new2 1 tree/page'$'\xc2\x9b''31m
new3 2 tree/\377"name
new4 3 old3' "$(python3 -c '
import json, os, sys
for row in map(json.loads, open("new_rows")):
    match = row.get("match")
    print(row["id"], row["cluster"] or "null", os.path.relpath(match) if match and "/" in match else match)
    assert row["keep"] == (match is None) and row["resemblance"] == 1 and row["representative"] == (match or row["id"])')"
    ! LC_ALL=C grep -q $'\xc2\x9b' new_rows || fail 'a control character of a name in the store is printed'
    expect_equal 'not in the store' "$(sed -n 1p asked)" "$(< kept)"
    expect_equal 'in the store' "$(sed 1d asked)" "$(< dropped)"
done
"$KINFS" check -s store > /dev/null
expect_code 3 corpus --against=tree asked
expect_match 'no store' 'tree: no store of a tree; .*kinfs stores' "$OUT"
expect_code 3 corpus --against=store --against=store asked
expect_match 'two stores' 'store: .*two stores' "$OUT"
expect_code 3 corpus --policy=default --against=store asked
expect_match 'another policy' 'store: .*policy' "$OUT"
expect_code 3 corpus --memory=1M --against=store asked
expect_match 'memory of all' '--memory=17M is the least for 7 documents' "$OUT"
printf '{"text":"7 8 9 10 11"}\n' > other
expect_code 1 corpus --against=store other

# -- what is refused --

head -c 300 corpus.jsonl.zst > half.zst
expect_code 3 corpus --kept=not_made half.zst
expect_match 'damage' 'half.zst: damaged' "$OUT"
[[ ! -e not_made ]]
{ cat corpus.jsonl.gz; tail -n 1 corpus.jsonl; } > glued.gz
expect_code 3 corpus glued.gz
{ cat corpus.jsonl.gz; head -c 100 /dev/zero; } > padded.gz
corpus --id-field=id padded.gz | cmp - rows
expect_code 3 corpus --zst corpus.jsonl
cp corpus.jsonl mine
expect_code 3 corpus --kept=mine mine
cmp mine corpus.jsonl
expect_code 3 corpus --kept=both --dropped=both mine
# A file that was there is none that others had ready to read, by their owner or by another name.
echo mine > linked
ln linked 'of another name'
expect_code 3 corpus --kept=linked mine
expect_match 'a hard link' 'linked: is there, and others may have it' "$OUT"
expect_equal 'a hard link' mine "$(cat linked)"
if [[ $EUID = 0 ]]; then
    install -m 666 -o 54321 /dev/null his
    expect_code 3 corpus --dropped=his mine
    expect_match "another user's" 'his: is there, and others may have it' "$OUT"
    [[ ! -s his ]] || fail "another user's file is written"
    mkfifo -m 600 his_pipe
    chown 54321 his_pipe
    cat his_pipe > stolen &
    reader=$!
    expect_code 3 corpus --kept=his_pipe mine
    expect_match "another user's pipe" 'his_pipe: is there, and others may have it|his_pipe: No such device' "$OUT"
    kill "$reader" 2> /dev/null || true
    [[ ! -s stolen ]] || fail "another user's pipe is written"
    chmod 711 .
    install -m 666 /dev/null of_root
    setpriv --reuid=54321 --regid=54321 --clear-groups "$KINFS" cluster --jsonl --kept=of_root - < mine > /dev/null
    [[ -s of_root ]] || fail "root's is not written"
fi
expect_code 3 corpus .
expect_code 3 corpus none
expect_match 'which is missing' 'none: ' "$OUT"
mkfifo pipe
expect_code 3 corpus pipe
expect_match 'a pipe' "pipe: not a regular file.*'-'" "$OUT"
expect_code 2 corpus --stored
expect_code 2 corpus -0 mine
expect_code 2 corpus --keep=keep mine
expect_code 2 corpus - mine
expect_code 2 "$KINFS" cluster --kept=kept mine
expect_code 3 corpus --memory=1M mine
expect_match 'memory' '--memory=17M is the least for' "$OUT"
if [[ -c /dev/full ]]; then
    expect_code 3 corpus --dropped=/dev/full mine
    expect_match 'no room' '/dev/full: ' "$OUT"
fi

# -- long lines, and files of more than a gibibyte unpacked --

python3 - <<'PYTHON'
with open('long_lines', 'w') as file:
    for n in (40 << 20, 100):
        file.write('{"more":"%s","text":"%s"}\n' % ('x' * n, 'a b c d e f g '))
    file.write('{"text":"%s"}' % ('a b c d ' * (5 << 20)))
PYTHON
corpus --kept=kept --dropped=dropped long_lines > long_rows
expect_equal 'long lines' '1 1 null' "$(echo $(sed 's/{"cluster":\([^,]*\),.*/\1/' long_rows))"
cmp <(sed 2d long_lines) kept && cmp <(sed -n 2p long_lines) dropped
{ printf '{"id":"endless","text":"%*s"}\n' $((64 << 20)) ''; cat new; } | zstd -q -1 > endless.zst
corpus --kept=kept --id-field=id endless.zst new > rows || fail 'with a line that is too long' 1
expect_match 'one that is too long' '"error": ?"longer than 64 MiB"' "$(< rows)"
cmp <(zstdcat endless.zst | sed -n 1p) <(sed -n 1p kept)
{ python3 -c 'for _ in range(69): print(" " * (16 << 20))'; cat new new; } | zstd -q -1 > large.zst
expect_equal 'behind a gibibyte' '"new1" "new2" "new3" "new1" "new2" "new3"' \
    "$(echo $(corpus --id-field=id large.zst | sed 's/.*"id":\([^,]*\),.*/\1/'))"
