#!/usr/bin/env bash
# kinfs related: what is about the same, as by weighing all words of all documents, and those by which they are linked to, by hand; by the words of now; for root and the owner alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

cat > model.py << 'E2'
import collections, json, math, os, posixpath, random, subprocess, sys
kinfs, source, mount, what = sys.argv[1:5]
kind = sys.argv[5] if len(sys.argv) > 5 else "content"
rng = random.Random(11)
# Of consonants, so that stems are the words themselves.
def word(n):
    return "".join("bdkmqxz"[n // 7 ** i % 7] for i in range(6))
def document(subject, n):
    return [word(1000 * (subject + 1) + rng.randrange(60) * rng.randrange(60) // 60 if rng.random() < .6 else
                 rng.randrange(300) * rng.randrange(300) // 300) for _ in range(n)]
if what == "make-linked" or kind != "content":
    # Pages of subjects that link to pages of their subject and to some others, from three directories. All tokens of a page in their order;
    # of each link where its text begins, and the address.
    names = [f"{('', 'a/', 'a/b/')[i % 3]}p{i:02}.html" for i in range(60)]
    def page(i):
        title = document(i % 6, 3)
        tokens, links = list(title), []
        for k in range(rng.randrange(1, 7)):
            tokens += document(i % 6, rng.randrange(4, 40))
            to = rng.choice([n for n in names[i % 6::6] if n != names[i]]) if rng.random() < .7 else rng.choice(names)
            at = posixpath.dirname(names[i])
            href = rng.choice([posixpath.relpath(to, at or "."), posixpath.relpath(to, at or ".") + "#part", "/" + to, "./" + posixpath.relpath(to, at or "."),
                               "missing.html", "http://example.com/" + to])
            links.append((len(tokens), len(tokens) + 2, href))
            tokens += document(i % 6, 2)
        return title, tokens + document(i % 6, 30), links
    pages = {name: page(i) for i, name in enumerate(names)}
    documents = {name: tokens for name, (_, tokens, _) in pages.items()}
    said = collections.defaultdict(collections.Counter)
    for name, (title, tokens, links) in pages.items():
        said[name].update(title)
        targets, seen, ends = collections.defaultdict(dict), set(), {}
        for first, end, href in links:
            href = href.split("#")[0]
            begin = max(first - 8, ends.get(href, 0))
            ends[href] = end + 8
            window = tuple(tokens[max(begin, 0):end + 8])
            if (href, window) in seen:
                continue
            seen.add((href, window))
            for w in window:
                if w in targets[href] or len(targets[href]) < 32:
                    targets[href][w] = targets[href].get(w, 0) + 1
        for href, words in targets.items():
            to = posixpath.normpath(href[1:] if href.startswith("/") else posixpath.join(posixpath.dirname(name), href))
            if not href.startswith("http") and to in pages and to != name:
                said[to].update(words)
else:
    documents = {f"d{i:02}": document(i % 8, rng.randrange(20, 400)) for i in range(80)}
if what == "make":
    for name, words in documents.items():
        with open(f"{source}/{name}", "w") as file:
            # The stop words and numbers between them do not count, nor do case and layout.
            file.write("".join((w.upper() if i % 3 else w) + (" 17 the " if i % 5 == 4 else "\n" if i % 7 == 6 else " ") for i, w in enumerate(words)))
    sys.exit()
if what == "make-linked":
    for name, (title, tokens, links) in pages.items():
        os.makedirs(os.path.dirname(f"{source}/{name}"), exist_ok=True)
        begins, ends = {first: href for first, _, href in links}, {end for _, end, _ in links}
        with open(f"{source}/{name}", "w") as file:
            file.write("<!DOCTYPE html><title>" + " ".join(title) + "</title>")
            for i, w in enumerate(tokens[len(title):], len(title)):
                file.write((f'<a href="{begins[i]}">' if i in begins else " ") + w + ("</a>\n" if i + 1 in ends else " "))
    sys.exit()
def words_of(name):
    own = collections.Counter(documents[name])
    return {"content": own, "anchor": said[name], "both": own + said[name]}[kind] if kind != "content" else own
counts = {name: words_of(name) for name in documents}
df = collections.Counter(w for words in counts.values() for w in words)
n = len(documents)
bags = {}
for name, words in counts.items():
    bag = {w: f * math.log(n / df[w]) for w, f in words.items() if 2 <= df[w] <= 64}
    bags[name] = {w: weight * 100 / sum(bag.values()) for w, weight in bag.items() if weight}
def sim(a, b):
    least = sum(min(weight, b.get(w, 0)) for w, weight in a.items())
    return least / (200 - least)
n_near = n_right = n_all = 0
for name in documents:
    done = subprocess.run([kinfs, "related", "--json", "-n", "0", f"{mount}/{name}"], stdout=subprocess.PIPE)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == (0 if rows else 1), done
    assert all(set(row) == {"path", "resemblance", "complete"} and row["complete"] for row in rows), rows
    found = {row["path"]: row["resemblance"] for row in rows}
    assert list(found.values()) == sorted(found.values(), reverse=True) and name not in found
    for other in documents:
        expected = sim(bags[name], bags[other])
        # Weights are whole numbers there: of many light words some are left out.
        assert other not in found or abs(found[other] - expected) < .15, (name, other, found[other], expected)
        assert other == name or expected < .25 or other in found, (name, other, expected)
        n_near += other in found
    if kind == "content":
        n_all += len(rows[:5])
        n_right += sum(int(row["path"][1:]) % 8 == int(name[1:]) % 8 for row in rows[:5])
assert n_near > 100 and (kind != "content" or n_right > .9 * n_all), (n_near, n_right, n_all)
E2
mkdir -p "$SOURCE"
python3 model.py "$KINFS" "$SOURCE" "$MNT" make
start
expect_code 3 "$KINFS" related "$MNT/d00"
expect_match 'no words are kept' 'mount it with -o topics=content, anchor or both, or kinfs scan --topics=content' "$OUT"
stop
expect_code 2 "$KINFS" mount -o topics=anchors "$SOURCE" "$MNT"
expect_match 'what there is' 'takes off, content, anchor or both' "$OUT"

# A tree that was indexed without is read again.
start -o topics=content
"$KINFS" settle "$MNT"
expect_match 'what is counted' $'\ntopics      words of 80 documents\n' "$("$KINFS" status "$MNT")"
python3 model.py "$KINFS" "$SOURCE" "$MNT" test || fail 'others are related'
"$KINFS" check "$MNT" > /dev/null || fail 'it is not whole'
expect_equal 'the first' 1 "$("$KINFS" related -n 1 "$MNT/d00" | wc -l)"
expect_match 'a number, a tab and a path' $'^0\\.[0-9]{4}\td' "$("$KINFS" related -n 1 "$MNT/d00")"
expect_match 'paths alone' "^$MNT/d[0-9]*$" "$("$KINFS" related -0 -a -n 1 "$MNT/d00" | tr -d '\0')"
expect_equal 'above a threshold' '' "$("$KINFS" related -t 0.99 "$MNT/d00" || true)"
near() { "$KINFS" related -n 5 "$@" | cut -f 2 | tr '\n' ' '; }

# In no tree, a copy is asked about like the document itself, which is a copy to it.
expect_equal 'a document in no tree' "$(near "$MNT/d00")" "$(cp "$SOURCE/d00" apart; near --tree="$MNT" apart)"
expect_equal 'by a question' "$("$KINFS" related -n 0 "$MNT/d00" | cut -f 2)" \
    "$(exec 3<> "$MNT/.kinfs/query/x,related,limit=0"; cat apart >&3; cat <&3 | cut -f 2)"

# A changed document is asked about by its new words at once; in the end others find it, too.
cat "$SOURCE/d08" "$SOURCE/d16" > "$MNT/d01"
expect_match 'by the words of now' 'd08|d16' "$(near "$MNT/d01" 2> /dev/null)"
"$KINFS" settle "$MNT"
expect_match 'found by others' 'd01' "$("$KINFS" related "$MNT/d08")"
mv "$MNT/d01" "$MNT/elsewhere"
expect_match 'by its new name' 'elsewhere' "$("$KINFS" related "$MNT/d08")"
rm "$MNT/elsewhere"
expect_equal 'nobody finds it' '' "$("$KINFS" related -n 0 "$MNT/d08" | grep elsewhere || true)"
cp "$SOURCE/d08" "$MNT/copy"
"$KINFS" settle "$MNT"
expect_equal 'a copy is left out' '' "$("$KINFS" related -n 0 "$MNT/d08" | grep copy || true)"

# Others are refused, whatever they may read: what words weigh depends on all documents.
if ((EUID == 0)); then
    chmod 755 "$SCRATCH"
    expect_equal 'another user asks' 'refused' "$(setpriv --reuid=65534 --regid=65534 --clear-groups bash -c \
        'exec 3<> "$1/.kinfs/query/x,related" && cat "$1/d00" >&3 && ! cat <&3 2> /dev/null' - "$MNT" && echo refused)"
    expect_equal 'and is told of what resembles it' 'd00' "$(setpriv --reuid=65534 --regid=65534 --clear-groups bash -c \
        'exec 3<> "$1/.kinfs/query/x" && cat "$1/d00" >&3 && cat <&3' - "$MNT" | cut -f 2)"
fi
stop

# The store keeps them until it is told otherwise; a scan keeps them, too.
expect_match 'without a mount' 'd' "$(near "$SOURCE/d08")"
start
expect_code 3 "$KINFS" related "$MNT/d00"
stop
"$KINFS" scan --topics=content "$SOURCE" > /dev/null
expect_match 'of a scan' 'd' "$(near "$SOURCE/d08")"
"$KINFS" scan --topics=off "$SOURCE" > /dev/null
expect_code 3 "$KINFS" related "$SOURCE/d08"
printf '[topics]\nwords = content\n' > topics.conf
"$KINFS" scan --config=topics.conf "$SOURCE" > /dev/null
expect_match 'of a configuration' 'd' "$(near "$SOURCE/d08")"
printf '[topics]\nwords = all\n' > topics.conf
expect_code 2 "$KINFS" scan --config=topics.conf "$SOURCE"
"$KINFS" rebuild "$SOURCE" > /dev/null
expect_match 'of a store that was made anew' 'd' "$(near "$SOURCE/d08")"

# The words by which others link to a document, and all of them.
rm -r "${SOURCE:?}"/*
python3 model.py "$KINFS" "$SOURCE" "$MNT" make-linked
for kind in anchor both; do
    start -o "topics=$kind"
    "$KINFS" settle "$MNT"
    expect_match 'which words' "$kind" "$("$KINFS" status --json "$MNT" | python3 -c 'import json, sys; print(json.load(sys.stdin)["topics"]["words"])')"
    python3 model.py "$KINFS" "$SOURCE" "$MNT" test "$kind" || fail "others are related by $kind"
    "$KINFS" check "$MNT" > /dev/null || fail 'it is not whole'
    stop
done

# A name where nothing is has what others say of it: that is how a dead link finds where its target went.
start -o topics=anchor
python3 - "$SOURCE" << 'E2'
import sys
for i in range(9):
    with open(f"{sys.argv[1]}/from{i}.html", "w") as file:
        file.write(f"<!DOCTYPE html>number <a href=old.html>heron egret bittern</a> and <a href=new.html>heron egret bittern</a> of {i}")
for name in "new.html", "fishes.html":
    with open(f"{sys.argv[1]}/{name}", "w") as file:
        file.write("<!DOCTYPE html><title>what herons and egrets eat</title>")
E2
"$KINFS" settle "$MNT"
expect_equal 'where it went' 'new.html' "$("$KINFS" related -n 1 "$MNT/old.html" | cut -f 2)"
expect_code 3 "$KINFS" related "$MNT/older.html"
expect_match 'nobody says anything' 'older.html: nothing is there, and no document links to it' "$OUT"
expect_code 3 "$KINFS" related "$MNT/nowhere/old.html"
stop
expect_match 'a directory that is not there' 'nowhere: no such file' "$OUT"
rm "$SOURCE"/from* "$SOURCE/new.html" "$SOURCE/fishes.html"
start -o topics=content
"$KINFS" settle "$MNT"
expect_code 3 "$KINFS" related "$MNT/old.html"
expect_match 'what others say is not kept' 'old.html: nothing is there; .* topics=anchor or both' "$OUT"
stop
"$KINFS" scan --topics=both "$SOURCE" > /dev/null

# A store keeps its kind, and so does one that is made anew.
"$KINFS" scan "$SOURCE" > /dev/null
expect_match 'as it was' $'\ntopics      words, and those others link by, of 60 documents\n' "$("$KINFS" status "$SOURCE")"
"$KINFS" rebuild "$SOURCE" > /dev/null
expect_match 'as it was' $'\ntopics      words, and those others link by, of 60 documents\n' "$("$KINFS" status "$SOURCE")"
