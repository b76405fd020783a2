#!/usr/bin/env bash
# kinfs cluster --mode=haveliwala2000: of planted pages and links the clusters are those of the paper computed to the letter: bags of anchor windows and titles,
# of content, or of both, weighed, normalised, their exact similarity, CENTER; of pages and of what they link to that is not there; in any memory, with any
# threads.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

cat > model.py << 'E2'
import collections, itertools, json, math, os, random, subprocess, sys
from urllib.parse import quote
kinfs = sys.argv[1]
rng = random.Random(9)
def run(*arguments, **more):
    done = subprocess.run([kinfs, "cluster", "--mode=haveliwala2000", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    assert done.returncode in (0, 1) and not done.stderr and (done.returncode == 1) == (not done.stdout), done
    return done.stdout
# No stop words, and their stems are themselves.
LETTERS = "bdfghjkmnpqvwxz"
def word():
    return "".join(rng.choice(LETTERS) for _ in range(8))
vocabularies = [[word() for _ in range(5)] for _ in range(7)]
def text(topics, n):
    return [rng.choice(vocabularies[rng.choice(topics)]) for _ in range(n)]

# The similarity of all pairs, and CENTER on those that are near: order has the nodes.
def bags_of(fragments):
    bags = {target: collections.Counter(words) for target, words in fragments.items() if words}
    df = collections.Counter(itertools.chain.from_iterable(bags.values()))
    weighed = {}
    for target, bag in bags.items():
        weights = {word: n * math.log(len(bags) / df[word]) for word, n in bag.items() if df[word] < len(bags)}
        total = sum(weights.values())
        exact = sorted(((100 * weight / total, word) for word, weight in weights.items()), key=lambda x: (x[0] % 1, x[1]), reverse=True)
        left = 100 - sum(int(weight) for weight, _ in exact)
        weighed[target] = {word: int(weight) + (i < left) for i, (weight, word) in enumerate(exact)}
    return {target: bag for target, bag in weighed.items() if bag}
def similarity(a, b):
    least = sum(min(n, b.get(word, 0)) for word, n in a.items())
    return least / (sum(a.values()) + sum(b.values()) - least)
def center(order, near):
    centre = {}
    for node in order:
        if node in centre or not near[node]:
            continue
        centre[node] = node
        for other in near[node]:
            centre.setdefault(other, node)
    clusters = collections.defaultdict(list)
    for node in order:
        if node in centre:
            clusters[centre[node]].append(node)
    # A centre may be left alone: all that is near to it is near to lesser centres.
    return {first: members for first, members in clusters.items() if len(members) > 1}

LOW, HIGH = .07, .4 # between them the signatures of a pair may say either
shapes = collections.Counter()
for trial in range(5):
    top = f"tree{trial}"
    names = sorted({f"{rng.choice(('', 'a/', 'b c/', 'b c/d/'))}page {n:02}.html" for n in range(24)})
    missing = [f"b c/gone{n}.html" for n in range(5)] + [f"https://example.org/{n}?q" for n in range(5)]
    # Some targets are about two topics, so that what is near is no equivalence.
    topics = {name: [rng.randrange(7)] if trial > 2 or rng.random() < .6 else rng.sample(range(3), 2) for name in names}
    topics.update({name: [rng.randrange(7)] for name in missing})
    width = (8, 0, 3, 0, 1)[trial]
    n_own = 40 if trial < 3 else 2000 # with much of their own, documents are near each other or not at all
    fragments = {kind: collections.defaultdict(list) for kind in ("anchor", "content", "both")}
    for name in names:
        os.makedirs(os.path.dirname(f"{top}/{name}"), exist_ok=True)
        title = text(topics[name], 30) if rng.random() < .5 or trial > 2 else []
        own = text(topics[name], n_own)
        page, words, near = [" ".join(own)], title + own, collections.defaultdict(set)
        for _ in range(rng.randrange(5)):
            for part in (text(topics[name], n_own), [word() for _ in range(20)]):
                page.append(" ".join(part))
                words += part
            target = rng.choice(names + missing)
            where = quote(os.path.relpath(target, os.path.dirname(name) or "."))
            url = target if ":" in target else rng.choice((where, where + "#part", where + "?q", "/" + quote(target)))
            linked = text(topics[target], 120)
            page.append(f'<a href="{url}{rng.choice(("", "#x")) if ":" in url else ""}">{" ".join(linked)}</a>')
            if target != name:
                near[target].update(range(max(len(words) - width, 0), len(words) + len(linked) + width))
            words += linked
        last = [word() for _ in range(20)]
        page.append(" ".join(last))
        words += last
        with open(f"{top}/{name}", "w") as file:
            file.write(f"<!DOCTYPE html><title>{' '.join(title)}</title>" + "\n".join(page))
        for kind in ("content", "both"):
            fragments[kind][name] += words
        for kind in ("anchor", "both"):
            fragments[kind][name] += title
            for target, places in near.items():
                fragments[kind][target] += [words[i] for i in sorted(places) if i < len(words)]
    for kind in ("anchor", "content", "both"):
        bags = bags_of(fragments[kind])
        pairs = {(a, b): similarity(bags[a], bags[b]) for a, b in itertools.combinations(bags, 2)}
        rows = [json.loads(line) for line in run("--json", f"--bags={kind}", f"--window={width}", top).splitlines()]
        said, at = collections.defaultdict(list), {}
        for row in rows:
            name = row["path"] if "path" in row else row["target"]
            name = name[len(top) + 1:] if name.startswith(top + "/") else name
            assert ("path" in row) == (name in names), row
            said[row["cluster"]].append(name)
            at[name] = said[row["cluster"]][0]
        assert list(said) == list(range(1, len(said) + 1))
        assert len(at) == len(rows)
        # Each is near its centre, no two centres are near each other, and of two that are near one is in a cluster.
        def value(a, b):
            return pairs.get((a, b), pairs.get((b, a)))
        for name, centre in at.items():
            assert name == centre or value(name, centre) > LOW, (kind, name, centre, value(name, centre))
        for a, b in itertools.combinations({*at.values()}, 2):
            assert value(a, b) < HIGH, (kind, a, b, value(a, b))
        for (a, b), near in pairs.items():
            if near > HIGH:
                assert a in at or b in at, (kind, a, b, near)
        if all(not .1 < near < HIGH for near in pairs.values()):
            near = {name: [other for other in bags if other != name and value(name, other) > .2] for name in bags}
            first = [name for name in names if name in bags]
            first.sort(key=lambda name: [part.encode() for part in name.split("/")])
            expected = center(first + [name for name in missing if name in bags], near)
            normal = lambda clusters: sorted((members[0] if members[0] in names else "", sorted(members)) for members in clusters)
            assert normal(said.values()) == normal(expected.values()), (kind, trial, normal(said.values()), normal(expected.values()))
            shapes[kind] += 1
        other = [["--memory=40M", "--threads=1"], ["--threads=3"]][trial % 2]
        again = run("--json", f"--bags={kind}", f"--window={width}", *other, top)
        assert [json.loads(line) for line in again.splitlines()] == rows, other
assert all(shapes[kind] for kind in ("anchor", "content", "both")), shapes
E2
python3 model.py "$KINFS" || fail 'other clusters'

# Of a chain whose ends are not near each other the order decides: each node that no lesser centre is near to is a centre.
python3 - << 'E2'
A, B = [[letter * 3 + other * 3 for other in "bdfghjkmnp"] for letter in "vw"]
import os
for top, names in (("ends", "123"), ("middle", "213")):
    os.mkdir(top)
    for name, words in zip(names, (A * 10, (A + B) * 5, B * 10)):
        open(f"{top}/{name}", "w").write(" ".join(words))
E2
of_content() { "$KINFS" cluster --mode=haveliwala2000 --bags=content "$@"; }
expect_equal 'an end first' '1	ends/1
1	ends/2' "$(of_content ends)"
expect_equal 'the middle first' '1	middle/1
1	middle/2
1	middle/3' "$(of_content middle)"
expect_code 1 of_content -t .5 ends

# Links of other formats say what they link by; the names of targets are shown as the tree is named, and those outside as they are.
mkdir -p other/sub
echo '[bread flour oven](gone.md) and [bread flour oven](https://example.org/a#b) and [wolf](x.md)' > other/sub/a.md
echo '[bread flour oven](sub/gone.md) and [bread flour oven](https://example.org/a) and [deer](y.md)' | gzip > other/b.md
printf '<!DOCTYPE html><a href="/sub/here.html">bread flour oven</a> <a href="../above">deer</a> <a href="odd%%0a%%1b">wolf</a>' > other/c.html
printf '<!DOCTYPE html><title>bread flour oven</title>' > other/sub/here.html
of_anchors() { "$KINFS" cluster --mode=haveliwala2000 --window=0 "$@"; }
about_bread() { grep '^1	' | LC_ALL=C sort | xargs; }
expect_equal 'names' '1 https://example.org/a 1 other/sub/gone.md 1 other/sub/here.html' "$(of_anchors other | about_bread)"
expect_equal 'the document is the centre' '1	other/sub/here.html' "$(of_anchors other | head -1)"
of_anchors --json other > json
python3 - << 'E2'
import json
rows = [json.loads(line) for line in open("json")]
assert {"cluster": 1, "path": "other/sub/here.html"} == rows[0], rows
assert {"cluster": 1, "target": "other/sub/gone.md"} in rows and {"cluster": 1, "target": "https://example.org/a"} in rows, rows
assert any(row.get("target") == "other/odd\n\x1b" for row in rows), rows
E2
of_anchors other > out
! grep -q $'\033' out || fail 'it reaches the terminal'
of_anchors -0 other | tr '\0\n' '\n.' | head -1 | grep -qx other/sub/here.html || fail 'with NUL'
# Of several paths the tree is all of the file system.
expect_equal 'several paths' "1 $PWD/other/sub/gone.md 1 https://example.org/a 1 other/sub/here.html" "$(of_anchors other/sub other/b.md | about_bread)"
find other -type f -print0 | sort -z | "$KINFS" cluster --mode=haveliwala2000 --window=0 - | grep -q 'other/sub/here.html' || fail 'a list'

# What it took, beside the paper; the names of phases.
of_anchors --costs other 2> costs > out
expect_match 'phases' 'in 2000.*bags .*sort bags .*signatures .*pairs .*filter .*sort .*center ' "$(tr '\n' ' ' < costs)"
expect_match 'bags' '4 documents, [0-9]+ links; [0-9]+ bags, of which' "$(< costs)"

# What is kept is begun with, by another threshold as well, and whatever has become of the documents since.
of_content -t 0.1 --keep=ends_kept ends > ends_loose
cp -r ends_kept ends_kept_too
expect_code 1 of_content --keep=ends_kept --phase=pairs -t 0.5
expect_equal 'the threshold of the first' "$(< ends_loose)" "$(of_content --keep=ends_kept_too --phase=pairs -t 0.1)"
of_anchors --json --keep=kept other > from_documents
of_anchors --json other | cmp - from_documents
of_anchors other > as_lines
mv other away
of_anchors --json --keep=kept --phase=pairs | cmp - from_documents
for phase in filter sort center; do
    of_anchors --keep=kept --phase=$phase 2> said > out
    cmp out as_lines
    expect_equal "$phase" "kinfs: --phase=$phase: what it takes is not kept; beginning with pairs, before it" "$(< said)"
done
of_anchors --costs --keep=kept --phase=pairs 2> costs > out
expect_match 'bags that are kept' ' bags, of which' "$(< costs)"
mv away other
damage='damaged, or of another machine or version; make it anew without --phase'
for file in signatures targets places documents topics.head; do
    cp -r kept damaged
    printf '\x55' | dd of=damaged/$file bs=1 seek=9 conv=notrunc 2> /dev/null
    expect_code 3 of_anchors --keep=damaged --phase=pairs
    expect_equal "$file" "kinfs: damaged: $damage" "$OUT"
    cp kept/$file damaged/
    : > damaged/$file
    expect_code 3 of_anchors --keep=damaged --phase=pairs
    expect_equal "$file, empty" "kinfs: damaged: $damage" "$OUT"
    rm -r damaged
done
rm kept/topics.head # as a run leaves it that did not come to its end
expect_code 3 of_anchors --keep=kept --phase=pairs
expect_equal 'nothing there' 'kinfs: kept: no sketches there; make them without --phase' "$OUT"
of_anchors --json --keep=kept other | cmp - from_documents
"$KINFS" cluster --keep=of_resemblance other > /dev/null || [[ $? = 1 ]]
expect_code 3 of_anchors --keep=of_resemblance other
expect_match 'of another mode' 'not empty, and not what --keep has made' "$OUT"

# Nothing, or nothing alike.
mkdir nothing && : > nothing/empty && head -c 3000 /dev/zero > nothing/binary
expect_code 1 of_anchors nothing
expect_code 1 of_content nothing
mkdir none && expect_code 1 of_anchors none

# What is asked wrongly.
expect_code 3 of_anchors --memory=20M other
expect_match 'the least' '--memory=[0-9]+M is the least for 4 documents' "$OUT"
expect_code 3 of_anchors gone
expect_match 'names it' 'gone: no such file' "$OUT"
expect_code 3 of_anchors --scratch=gone other
expect_code 2 "$KINFS" cluster --bags=both other
expect_match 'goes with' 'go with --mode=haveliwala2000' "$OUT"
expect_code 2 of_anchors --bags=title other
expect_code 2 of_anchors --keep=kept --phase=pairs other
expect_code 2 of_anchors --phase=pairs
for phase in bags sketch duplicates; do
    expect_code 2 of_anchors --keep=kept --phase=$phase
    expect_match 'phases' "--phase=$phase: pairs, filter, sort or center with --mode=haveliwala2000" "$OUT"
done
for option in --jsonl --stored --policy=default; do expect_code 2 of_anchors $option other; done

# A document that cannot be read is said, and the others are clustered.
mkfifo other/pipe
cp other/sub/here.html other/sub/same.html
of_anchors other | grep -q same || fail 'with a pipe'

# Nor one whose targets are all alike, each of which is paired with all in each of 125 draws: in no more than the first.
mkdir alike
python3 -c 'print("".join(f"<a href=\"h://{i}\">bread flour oven {chr(97 + i % 7) * 5}</a>" for i in range(5000)))' > alike/a.html
of_anchors --json --costs alike 2> costs > out
python3 - << 'E2'
import json
(totals,) = [row for row in map(json.loads, open("costs")) if "candidate_pairs" in row]
assert 5000 < totals["candidate_pairs"] < 3 * 32 * 5000, totals
E2

# Nobody makes a document of which all links are looked for until the end of days.
mkdir many
python3 -c 'print("".join(f"[bread flour oven](gone{i % 20}.md)\n\n" for i in range(70000)))' > many/a.md
echo '[bread flour oven](other.md) [wolf](x.md)' > many/b.md
of_anchors --costs many 2> said > out
expect_match 'that is said' 'many/a.md: of more than 65536 links the others do not count' "$(< said)"
expect_equal 'those before count' 21 "$(wc -l < out)"
