#!/usr/bin/env bash
# kinfs explain: the passages two documents share are those of comparing all places of both, with the lines they stand in; of PDF and office documents, too.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"

cat > model.py << 'E2'
import json, random, re, subprocess, sys
kinfs = sys.argv[1]
def run(*arguments):
    done = subprocess.run([kinfs, "explain", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in (0, 1) and not done.stderr, done
    return done.returncode, done.stdout
def words_of(text):
    return [(m.group().lower(), text.count("\n", 0, m.start()) + 1) for m in re.finditer(r"\w+", text)]
def passages(a, b, k):
    found, i = [], 0
    while i < len(a):
        best = (0, 0)
        for j in range(len(b)):
            n = 0
            while i + n < len(a) and j + n < len(b) and a[i + n] == b[j + n]:
                n += 1
            if n >= k and n > best[0]:
                best = (n, j)
        if best[0]:
            found.append((i, best[1], best[0]))
        i += best[0] or 1
    return sorted(found, key=lambda run: (-run[2], run[0]))
def shared(a, b, k):
    there = {tuple(b[j:j + k]) for j in range(len(b) - k + 1)}
    marked = set()
    for i in range(len(a) - k + 1):
        if tuple(a[i:i + k]) in there:
            marked.update(range(i, i + k))
    return len(marked)
rng = random.Random(5)
n_passages = 0
for trial in range(40):
    vocabulary = [f"w{n}" for n in range(rng.choice((4, 40, 400)))]
    texts = [rng.choices(vocabulary, k=rng.randrange(150)) for _ in range(2)]
    for _ in range(3):
        piece = texts[0][rng.randrange(1 + len(texts[0])):][:rng.randrange(40)]
        at = rng.randrange(1 + len(texts[1]))
        texts[1][at:at] = piece
    documents = []
    for name, text in zip("ab", texts):
        documents.append("".join(rng.choice((word, word.upper(), word.title())) + rng.choice((" ", "\n", ", ", ".\n\n", " - ", "\t")) for word in text))
        open(name, "w").write(documents[-1])
    k = rng.choice((1, 3, 8))
    placed = [words_of(document) for document in documents]
    a, b = ([word for word, _ in words] for words in placed)
    expected = passages(a, b, k)
    code, out = run("--json", f"--words={k}", "a", "b")
    answer = json.loads(out)
    assert code == (not expected), (code, expected)
    assert [(p["a"]["word"], p["b"]["word"], p["words"]) for p in answer["passages"]] == expected, (answer, expected)
    assert (answer["words_a"], answer["words_b"]) == (len(a), len(b))
    assert (answer["shared_words_a"], answer["shared_words_b"]) == (shared(a, b, k), shared(b, a, k)), answer
    for p in answer["passages"]:
        for side, words in zip("ab", placed):
            at = p[side]["word"]
            of_text = [word for word, _ in words_of(p[side]["text"])]
            assert of_text == [word for word, _ in words[at:at + p["words"]]], p
            assert (p[side]["line"], p[side]["last_line"]) == (words[at][1], words[at + p["words"] - 1][1]), p
    # As text each word of all passages is there twice, in the order of the passages; and as a page.
    lines = run(f"--words={k}", "a", "b")[1].decode().splitlines()[2:]
    left, right = [], []
    for line in lines:
        if " |" in line:
            first, second = line.split(" |")
            left += [word for word, _ in words_of(first[9:])]
            right += [word for word, _ in words_of(second[9:])]
    assert left == right == [word for i, _, n in expected for word in a[i:i + n]], lines
    page = run("--html", f"--words={k}", "a", "b")[1].decode()
    assert [word for i, _, n in expected for side in range(2) for word in a[i:i + n]] == \
        [word for cell in re.findall("<pre>(.*?)</pre>", page, re.S) for word, _ in words_of(cell)], page
    assert len(json.loads(run("--json", f"--words={k}", "-n", "1", "a", "b")[1])["passages"]) == min(1, len(expected))
    n_passages += len(expected)
assert n_passages > 100, n_passages
E2
python3 model.py "$KINFS" || fail 'other passages'

# Other forms of one text: each shares all of it, with its lines.
words 1 400 | paste -sd '   \n' > text
for kind in pdf odt docx epub; do make $kind same.$kind < text; done
gzip -k text
iconv -t UTF-16 text > wide
{ echo '<!DOCTYPE html><title></title><p>'; sed 's,$,<br>,' text; echo '<script>none of this</script>'; } > page
for form in same.pdf same.odt same.docx same.epub text.gz wide page; do
    "$KINFS" explain --json text $form > json || fail "$form: no passage"
    grep -q '"shared_a":1.0' json || fail "$form: not all of the text is shared: $(cut -c 1-300 json)"
    grep -q '"passages":\[{"words":400,"a":{"line":1,"last_line":100,' json || fail "$form: not in one piece"
done
"$KINFS" explain --json text page | grep -q '"b":{"line":2,"last_line":101,' || fail 'the lines of a page are those of its source'

# What a document says is no markup, and nothing a terminal obeys.
printf 'one <script>alert("two")</script> & three\033[31m four five six seven eight\n' > hostile
cp hostile $'odd<b>\033name'
"$KINFS" explain --html hostile $'odd<b>\033name' > out
if grep -q $'\033' out || grep -q '<script\|<b>.*name' out; then fail 'it is in the page'; fi
grep -q '&lt;script&gt;alert(&quot;two&quot;)&lt;/script&gt; &amp; three' out || fail 'the text is not in the page'
"$KINFS" explain hostile $'odd<b>\033name' > out
! grep -q $'\033' out || fail 'it reaches the terminal'

expect_code 1 "$KINFS" explain text model.py
seq 1 2000 | awk '{ print $1 "," $1 * 7 "," $1 % 5 }' > table
expect_code 1 "$KINFS" explain text table
expect_match 'a table' 'table: a table or no text' "$OUT"
head -c 5000 /dev/zero > binary
expect_code 1 "$KINFS" explain binary text
expect_code 3 "$KINFS" explain text none
expect_code 3 "$KINFS" explain text .
expect_code 2 "$KINFS" explain text
expect_code 2 "$KINFS" explain --words=0 text page
expect_code 2 "$KINFS" explain --json --html text page
