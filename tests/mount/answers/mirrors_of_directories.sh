#!/usr/bin/env bash
# kinfs mirrors has, of the pairs of directories that kinfs pairs makes, those of the definition, in random trees; the same without a daemon.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{pub/gnu/doc,backup/pub/gnu/doc,backup/own,one/tree,two/deep/tree,odd}
for ((n = 0; n < 12; n++)); do
    words $((1000 * n)) 200 > "$SOURCE/pub/gnu/$n"
    words $((1000 * n + 500)) 200 > "$SOURCE/pub/gnu/doc/$n"
done
cp "$SOURCE"/pub/gnu/doc/* "$SOURCE/backup/pub/gnu/doc/"
for ((n = 0; n < 12; n++)); do # a word of 400 less: 5 of 396 shingles
    { words $((1000 * n)) 199; echo another; } > "$SOURCE/backup/pub/gnu/$n"
    words $((50000 + 1000 * n)) 200 > "$SOURCE/backup/own/$n"
done
for ((n = 0; n < 4; n++)); do
    words $((80000 + 1000 * n)) 100 | tee "$SOURCE/one/tree/$n" > "$SOURCE/two/deep/tree/renamed-$n"
done
odd=$'odd/na\nme \xff'
mkdir "$SOURCE/$odd"
for ((n = 0; n < 3; n++)); do words $((90000 + 1000 * n)) 100 | tee "$SOURCE/$odd/$n" > "$SOURCE/one/$n"; done
if ((EUID == 0)); then start -o allow_other; else start; fi
"$KINFS" settle "$MNT" > /dev/null

# What is said of these.
"$KINFS" mirrors --near=0.9 "$MNT" > lines 2> said
expect_equal 'nothing is said beside' '' "$(< said)"
expect_equal 'of copies in another place the two that say it all' $'backup/pub/gnu\tpub/gnu\t1.0000\t1.0000\t1.0000\t24' "$(head -n 1 lines | cut -f 1-6)"
expect_equal 'bytes' "$(cat "$SOURCE"/backup/pub/gnu/{[0-9]*,doc/*} | wc -c)" "$(head -n 1 lines | cut -f 7)"
expect_equal 'directories with nothing else in them are not named for that' $'one/tree\ttwo/deep/tree\t1.0000\t1.0000\t1.0000\t4' "$(sed -n 2p lines | cut -f 1-6)"
expect_equal 'a mirror in part, of an odd name' $'odd/na\\nme\\ \\377\tone\t0.6000\t1.0000\t0.4286\t3' "$(sed -n 3p lines | sed 's/^\(one\)\t\([^\t]*\)/\2\t\1/' | cut -f 1-6)"
expect_equal 'no more' 3 "$(wc -l < lines)"
expect_equal 'absolute paths' "$(head -n 1 lines | sed "s,^backup,$MNT/backup,; s,\tpub,\t$MNT/pub,")" "$("$KINFS" mirrors --near=0.9 -a "$MNT" | head -n 1)"
expect_equal 'below a directory' 0 "$("$KINFS" mirrors "$MNT/backup" | wc -l)"
expect_code 1 "$KINFS" mirrors "$MNT/backup"
expect_equal 'only what has much in common' 1 "$("$KINFS" mirrors --near=0.9 --documents=5 "$MNT" | wc -l)"
expect_code 3 "$KINFS" mirrors "$MNT/one/0"
expect_match 'a document' 'a document; name a directory' "$OUT"
for wrong in --min=0 --min=2 --near=0.01 --documents=0 --most=1 --most=257; do expect_code 2 "$KINFS" mirrors "$wrong" "$MNT"; done
expect_code 2 "$KINFS" mirrors "$MNT" "$MNT"

# Of all documents the owner of the mount alone is told.
if ((EUID == 0)) && command -v setpriv > /dev/null; then
    expect_code 3 setpriv --reuid=54321 --regid=54321 --clear-groups "$KINFS" mirrors "$MNT"
    ! grep -q -e pub -e tree <<< "$OUT" || fail "another user is told: $OUT"
fi

# A licence in each directory counts for none, and that is said.
mkdir "$SOURCE/many"
for ((n = 0; n < 80; n++)); do
    mkdir "$SOURCE/many/$n"
    words 200000 100 > "$SOURCE/many/$n/licence"
    words $((300000 + 1000 * (n / 2))) 100 > "$SOURCE/many/$n/own"
done
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" mirrors --documents=1 "$MNT/many" > lines 2> said
expect_match 'what counts for none' '^kinfs: 80 documents in more than 64 directories counted for none' "$(< said)"
expect_equal 'those of one text' 40 "$(wc -l < lines)"
expect_equal 'with that alone' $'1.0000\t1' "$(cut -f 3,6 lines | sort -u)"

# Random trees, of few texts and variants of them, against the definition.
cat > model.py << 'E2'
import base64, itertools, json, os, random, subprocess, sys
kinfs, top, seed = sys.argv[1], os.fsencode(sys.argv[2]), int(sys.argv[3])
def run(*arguments):
    done = subprocess.run([kinfs, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert done.returncode in (0, 1), (arguments, done)
    return [json.loads(line) for line in done.stdout.splitlines()]
def path(row, name):
    return base64.b64decode(row[name + "_bytes"]) if name + "_bytes" in row else row[name].encode()
documents = {}
for where, below, names in os.walk(top):
    if where == top:
        below[:] = [name for name in below if name not in (b"similar", b"clusters")] # thousands of links
    for name in names:
        at = os.path.relpath(os.path.join(where, name), top)
        size = os.path.getsize(os.path.join(where, name))
        if size > 0:
            documents[at] = size
def above(directory):
    while directory:
        yield directory
        directory = os.path.dirname(directory)
directories = sorted({up for document in documents for up in above(os.path.dirname(document))}, key=lambda d: d.split(b"/"))
def within(inner, outer):
    return inner == outer or inner.startswith(outer + b"/")
def related(a, b):
    return within(a, b) or within(b, a)
found = 0
for near, share, least, most in ((0.95, 0.5, 2, 64), (0.5, 0.3, 1, 64), (1, 0.8, 1, 5), (0.7, 0.5, 1, 8)):
    like = {document: {document} for document in documents}
    for row in run("pairs", "--all", "--json", f"--min={near}", top):
        a, b = path(row, "a"), path(row, "b")
        if a in like: # else both are empty
            like[a].add(b)
            like[b].add(a)
    counts = {d for d in documents if len({os.path.dirname(e) for e in like[d]}) <= most}
    below = {a: [d for d in counts if within(os.path.dirname(d), a)] for a in directories}
    has_like = {d: {up for e in like[d] for up in above(os.path.dirname(e))} for d in counts}
    def side(a, b):
        common = [d for d in below[a] if b in has_like[d]]
        return len(below[a]), len(common), sum(documents[d] for d in common)
    pairs = []
    units = round(share * 10000)
    for a, b in itertools.combinations(directories, 2):
        if related(a, b):
            continue
        x, y = side(a, b), side(b, a)
        n, common = x[0] + y[0], x[1] + y[1]
        worth = 10000 * common - units * n
        if worth >= 0 and min(x[1], y[1]) >= least:
            pairs.append(((-worth, n, -a.count(b"/") - b.count(b"/"), directories.index(a), directories.index(b)), a, b, x, y, common, n))
    taken = []
    for pair in sorted(pairs):
        _, a, b, *_ = pair
        if not any((related(a, c) and related(b, d)) or (related(a, d) and related(b, c)) for _, c, d, *_ in taken):
            taken.append(pair)
    taken.sort(key=lambda pair: (-pair[5], pair[6], directories.index(pair[1]), directories.index(pair[2])))
    expected = [(a, b, *x, *y) for _, a, b, x, y, _, _ in taken]
    got = [(path(row, "a"), path(row, "b"), *(row[of][name] for of in ("of_a", "of_b") for name in ("documents", "common", "common_bytes")))
           for row in run("mirrors", "--json", f"--near={near}", f"--min={share}", f"--documents={least}", f"--most={most}", top)]
    assert got == expected, (near, share, set(got) ^ set(expected), got, expected)
    for row in run("mirrors", "--json", f"--near={near}", top):
        of_a, of_b = row["of_a"], row["of_b"]
        assert abs(row["a_in_b"] - of_a["common"] / of_a["documents"]) < 1e-4, row
        assert abs(row["share"] - (of_a["common"] + of_b["common"]) / (of_a["documents"] + of_b["documents"])) < 1e-4, row
    found += len(got)
assert found > 20, found
E2
cat > plant.py << 'E2'
import os, random, sys
top, draw = sys.argv[1], random.Random(int(sys.argv[2]))
def text(n, kind):
    words = [f"w{n}x{i}" for i in range(120)]
    for i in range(kind):
        words[10 * i + 7] = f"other{n}x{i}x{kind}"
    return " ".join(words) + "\n"
places = [os.path.join(top, *(draw.choice("abc") for _ in range(draw.randint(1, 4)))) for _ in range(25)]
for n in range(70):
    os.makedirs(place := draw.choice(places), exist_ok=True)
    with open(os.path.join(place, f"document-{n}"), "w") as file:
        file.write(text(draw.randint(0, 25), draw.choice((0, 0, 0, 1, 3, 8))) if draw.random() < 0.9 else "")
E2
python3 model.py "$KINFS" "$MNT" 0 || fail 'other mirrors than those of the definition'
for seed in 1 2 3; do
    mkdir "$SOURCE/random-$seed"
    python3 plant.py "$SOURCE/random-$seed" "$seed"
    "$KINFS" settle "$MNT" > /dev/null
done
rm -r "$SOURCE"/{many,pub,backup}
"$KINFS" settle "$MNT" > /dev/null
python3 model.py "$KINFS" "$MNT" 1 || fail 'other mirrors in random trees'
"$KINFS" mirrors --json --near=0.7 --min=0.2 --documents=1 "$MNT" > by_daemon
[[ -s by_daemon ]] || fail 'no mirrors'
stop
"$KINFS" mirrors --json --near=0.7 --min=0.2 --documents=1 "$SOURCE" | cmp - by_daemon || fail 'without a daemon other mirrors'
