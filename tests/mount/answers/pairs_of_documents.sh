#!/usr/bin/env bash
# kinfs pairs has the pairs that kinfs similar has of each document; between two trees those of one in each; exactly, those of kinfs compare --exact.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"/{a/deep,b,other}
for tree in a a/deep b other; do
    for ((n = 0; n < 4; n++)); do
        { words 1000 300; words $((9000 + 100 * ${#tree} + 10 * n)) $((45 * n)); } > "$SOURCE/$tree/one-$n"
        { words 5000 200; words $((7000 + 1000 * ${#tree} + 100 * n)) $((60 * n)); } > "$SOURCE/$tree/two-$n"
    done
done
words 20000 300 > "$SOURCE/alone"
: > "$SOURCE/a/empty"
: > "$SOURCE/b/empty"
cp "$SOURCE/a/one-1" "$SOURCE/b/"$'odd\nname \xff'
start
"$KINFS" settle "$MNT" > /dev/null

cat > model.py << 'E2'
import base64, itertools, json, os, subprocess, sys
kinfs, top = sys.argv[1:]
def run(*arguments):
    done = subprocess.run([kinfs, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert done.returncode in (0, 1), (arguments, done)
    return done.stdout
def path(row, name):
    return base64.b64decode(row[name + "_bytes"]) if name + "_bytes" in row else row[name].encode()
documents = sorted(os.path.relpath(os.path.join(where, name), os.fsencode(top)) for where, _, names in os.walk(os.fsencode(top)) for name in names
                   if not where.startswith((os.fsencode(top) + b"/similar", os.fsencode(top) + b"/clusters")) and name != b"CACHEDIR.TAG")
def similar(least):
    pairs = {}
    for document in documents:
        for line in run("similar", "-n", "0", "-t", str(least), "--json", os.path.join(os.fsencode(top), document)).splitlines():
            row = json.loads(line)
            if "path" in row:
                pairs[tuple(sorted((document, path(row, "path"))))] = round(row["resemblance"], 4)
    return pairs
def asked(*arguments):
    rows = [json.loads(line) for line in run("pairs", "--json", *arguments).splitlines()]
    values = [row["resemblance"] for row in rows]
    assert values == sorted(values, reverse=True), values
    pairs = {tuple(sorted((path(row, "a"), path(row, "b")))): round(row["resemblance"], 4) for row in rows}
    assert len(pairs) == len(rows), rows
    return pairs
def below(document, tree):
    return document == tree or document.startswith(tree + b"/")
for least in (0.3, 0.8, 1):
    every = similar(least)
    assert len(every) > (3 if least == 1 else 40), (least, len(every))
    got = asked("--all", f"--min={least}", top)
    assert got == every, (least, set(got.items()) ^ set(every.items()))
    # Without --all of equal ones one is with the others, and all that was left out is that of equal ones.
    some = asked(f"--min={least}", top)
    assert some.items() <= every.items()
    same = {pair for pair, value in every.items() if value == 1}
    classes = {}
    for document in documents:
        classes[document] = min([document] + [a if b == document else b for a, b in same if document in (a, b)])
    def kinds(pairs):
        return {(*sorted((classes[a], classes[b])), value) for (a, b), value in pairs.items()}
    assert kinds(some) == kinds(every), least
    n_classes = len(set(classes.values()))
    assert sum(value == 1 for value in some.values()) == len(documents) - n_classes, least
    assert sum(value < 1 for value in some.values()) == sum(a != b for a, b, _ in kinds(every)), least
    for a, b in ((b"a", b"b"), (b"a/deep", b"other"), (b"b/one-2", b"a")):
        trees = [os.path.join(os.fsencode(top), tree) for tree in (a, b)]
        between = {pair: value for pair, value in every.items() if any(below(x, a) and below(y, b) for x, y in (pair, pair[::-1]))}
        assert asked("--all", f"--min={least}", "--between", *trees) == between, (least, a, b)
        some = asked(f"--min={least}", "--between", *trees)
        assert some.items() <= between.items()
        assert kinds(some) == kinds(between), (least, a, b)
        for row in map(json.loads, run("pairs", f"--min={least}", "--json", "--between", *trees).splitlines()):
            assert below(path(row, "a"), a) and below(path(row, "b"), b), row
    part = {pair: value for pair, value in every.items() if all(below(document, b"a") for document in pair)}
    assert asked("--all", f"--min={least}", f"{top}/a") == part, least
exact = {}
trees = [os.path.join(os.fsencode(top), tree) for tree in (b"a/deep", b"b")]
for a, b in itertools.product(documents, documents):
    if not (below(a, b"a/deep") and below(b, b"b")):
        continue
    done = run("compare", "--exact", "--json", *(os.path.join(os.fsencode(top), document) for document in (a, b)))
    value = json.loads(done)["resemblance"]
    if value is not None and value >= 0.5:
        exact[tuple(sorted((a, b)))] = round(value, 4)
assert len(exact) > 10, exact
got = asked("--exact", "--all", "--min=0.5", "--between", *trees)
assert got == exact, set(got.items()) ^ set(exact.items())
E2
python3 model.py "$KINFS" "$MNT" || fail 'other pairs than those of each document'

# The form: three fields; names escaped, and paths absolute where that is asked for.
"$KINFS" pairs --min=0.9 "$MNT" > lines 2> said
expect_match 'fields' $'^[^\t]+\t[^\t]+\t[01][.][0-9]{4}$' "$(head -n 1 lines)"
grep -q 'b/odd\\nname\\ \\377' lines || fail 'an odd name'
expect_match 'what is left out is said' 'of [0-9]+ documents an equal one is older.*--all' "$(< said)"
"$KINFS" pairs --min=0.9 --json "$MNT" 2> said > /dev/null
expect_match 'what is left out is no error' '^[{]"note": ?"of [0-9]+ documents [^"]*"[}]$' "$(< said)"
"$KINFS" pairs --min=0.9 -a "$MNT" 2> said | sed "s,$MNT/,,g" | cmp - lines || fail 'absolute paths'
expect_equal 'nothing is said' '' "$("$KINFS" pairs --all "$MNT" 2>&1 > lines)"
expect_code 1 "$KINFS" pairs --between "$MNT/alone" "$MNT/b"
expect_code 3 "$KINFS" pairs --between "$MNT/a" "$MNT/a/deep"
expect_match 'trees of which one is below the other' 'one is below the other' "$OUT"
expect_code 3 "$KINFS" pairs "$MNT/alone"
expect_code 2 "$KINFS" pairs --between "$MNT"
expect_code 2 "$KINFS" pairs --min=0 "$MNT"
expect_code 2 "$KINFS" pairs "$MNT" "$MNT"

# Who does not read to the end keeps nobody: the daemon ends.
"$KINFS" pairs --all "$MNT" 2> /dev/null | head -n 1 > /dev/null || true
"$KINFS" pairs --all --json "$MNT" | sort > by_daemon
stop
"$KINFS" pairs --all --json "$SOURCE" | sort | cmp - by_daemon || fail 'without a daemon other pairs'

# Very many equal documents take as many lines as there are, and not the square.
mkdir "$SOURCE/same"
for ((n = 0; n < 500; n++)); do words 40000 50 > "$SOURCE/same/$n"; done
"$KINFS" scan "$SOURCE" > /dev/null
expect_equal 'of equal ones' 499 "$("$KINFS" pairs --min=1 "$SOURCE/same" 2> /dev/null | wc -l)"
expect_equal 'all of them' $((500 * 499 / 2)) "$("$KINFS" pairs --min=1 --all "$SOURCE/same" | wc -l)"

# A link in the place of a document, or of a directory, that was put there since is not followed: what it leads to is read for nobody.
mkdir -p "$SOURCE/later/deep" outside/deep
for path in later/one later/deep/two; do words 70000 400 > "$SOURCE/$path"; done
echo own >> "$SOURCE/later/one"
echo other >> "$SOURCE/later/deep/two"
"$KINFS" scan "$SOURCE" > /dev/null
expect_equal 'exactly, as they were' 1 "$("$KINFS" pairs --exact --min=0.5 "$SOURCE/later" | wc -l)"
for path in one deep/two; do cp "$SOURCE/later/$path" "outside/$path"; done
rm "$SOURCE/later/one"
ln -s "$PWD/outside/one" "$SOURCE/later/one"
expect_code 1 "$KINFS" pairs --exact --min=0.5 "$SOURCE/later"
expect_match 'a document that is a link' 'later/one: .*left out' "$OUT"
cp --remove-destination outside/one "$SOURCE/later/one"
rm -r "$SOURCE/later/deep"
ln -s "$PWD/outside/deep" "$SOURCE/later/deep"
expect_code 1 "$KINFS" pairs --exact --min=0.5 "$SOURCE/later"
expect_match 'a directory that is a link' 'later/deep/two: .*left out' "$OUT"
