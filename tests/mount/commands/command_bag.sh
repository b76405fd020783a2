#!/usr/bin/env bash
# kinfs bag: the words of a document are those that counting them gives, and the words around links those of a list of its words and
# links; of other forms of the text, too. (Stems, stop words and bounds: unit tests of engine/topic/bags.)
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"

cat > model.py << 'E2'
import collections, json, random, subprocess, sys
kinfs = sys.argv[1]
def run(*arguments):
    done = subprocess.run([kinfs, "bag", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in (0, 1) and not done.stderr, done
    return done.stdout.decode()
def counts(rows):
    assert rows == sorted(rows, key=lambda row: (-row["count"], row["word"])), rows
    return {row["word"]: row["count"] for row in rows}
rng = random.Random(7)
n_windows = 0
for trial in range(30):
    width = rng.randrange(10)
    words = [f"w{rng.randrange(30)}" for _ in range(rng.randrange(1, 200))]
    page, links, at = [], [], 0
    while at < len(words):
        n = rng.choice((0, 0, 1, 2, 5))
        if rng.random() < .3:
            target = rng.choice(("a.html", "b/c?d", "", "#e", "e f.txt"))
            links.append((target, at, min(at + n, len(words))))
            page.append(f"<a href='{target}{rng.choice(('', '#g')) if target else ''}'>{' '.join(words[at:at + n])}</a>")
        else:
            n = max(n, 1)
            page.append(" ".join(words[at:at + n]))
        at += n
    title = rng.choice((["t1", "t2", "t1"], []))
    open("page", "w").write(f"<!DOCTYPE html><title>{' '.join(title)}</title>" + "\n".join(page))
    plain = ["--tokens=words", "--stopwords=none", "--stemmer=none", f"--window={width}"]
    told = json.loads(run("--json", *plain, "page"))
    assert counts(told["content"]) == collections.Counter(title + words)
    assert counts(told["title"]) == collections.Counter(title)
    assert told["tokens"] == told["words"] == len(title + words) and told["links"] == len(links)
    assert told["links_to_itself"] == sum(target in ("", "#e") for target, _, _ in links)
    near, said = collections.defaultdict(set), collections.defaultdict(collections.Counter)
    for target, first, end in links:
        if target not in ("", "#e"):
            first, end = first + len(title), end + len(title)
            near[target].update(range(max(first - width, 0), min(end + width, len(title + words))))
    for window in told["windows"]:
        said[window["target"]].update(counts(window["content"]))
    assert said == {target: collections.Counter((title + words)[i] for i in places) for target, places in near.items() if places}, (said, near)
    n_windows += len(told["windows"])
    # As people are shown it.
    lines = run(*plain, "page").splitlines()
    assert lines[0] == f"{len(title + words)} word{'s' if len(title + words) != 1 else ''}, {len(set(title + words))} different", lines[0]
    assert [line.split() for line in lines[1:len(told["content"]) + 1]] == [[str(row["count"]), row["word"]] for row in told["content"]]
    assert sum(line.startswith("to ") for line in lines) == len(told["windows"])
    limited = json.loads(run("--json", "-n", "2", *plain, "page"))
    assert limited["content"] == told["content"][:2] and len(limited["windows"]) == len(told["windows"])
assert n_windows > 100, n_windows
E2
python3 model.py "$KINFS" || fail 'other words'

# The usual words: stems of letters, without stop words.
printf 'The foxes and a fox; 12 hens, utf8 hen.' > text
"$KINFS" bag text > out
expect_equal 'stems' '5 words, 3 different 2 fox 2 hen 1 utf' "$(tr -s '\n ' ' ' < out | sed 's/ $//')"

# Other forms of one text have its words.
words 1 400 | paste -sd '   \n' > text
"$KINFS" bag --json text | sed 's/.*"content"/content/' > of_text
for kind in pdf odt docx epub; do make $kind same.$kind < text; done
gzip -k text
iconv -t UTF-16 text > wide
for form in same.pdf same.odt same.docx same.epub text.gz wide; do
    "$KINFS" bag --json $form | sed 's/.*"content"/content/' | cmp - of_text || fail "$form: other words"
done

# What a document says is nothing a terminal obeys.
printf '<a href="x\033[31m">fox</a>' > hostile
"$KINFS" bag hostile > out
! grep -q $'\033' out || fail 'it reaches the terminal'
grep -q '^to x' out || fail 'no link'

: > empty
expect_code 1 "$KINFS" bag empty
head -c 5000 /dev/zero > binary
expect_code 1 "$KINFS" bag binary
expect_code 3 "$KINFS" bag none
expect_code 3 "$KINFS" bag .
expect_code 2 "$KINFS" bag
expect_code 2 "$KINFS" bag text text
expect_code 2 "$KINFS" bag --window=1001 text
expect_code 2 "$KINFS" bag --tokens=words+tags text
expect_match 'tags' 'tags are no words' "$OUT"
expect_code 2 "$KINFS" bag --stemmer=none-such text
