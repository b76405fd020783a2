#!/usr/bin/env bash
# D14: kinfs basis names, of files in the tree and beside it, the document to make a difference to: the one that has most of the file, by all exact
# containments; never the file itself. zstd makes a smaller difference to it than to any other.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"/{v,w}
for ((n = 0; n < 8; n++)); do # versions: each has 60 words more and a paragraph that is another one
    { words 1 $((4000 + 300 * n)); words $((100000 * (n + 1))) 200; } > "$SOURCE/v/report-$n"
    { words 500000$n 3000; words 7000000 1000; } > "$SOURCE/w/other-$n"
done
{ words 30000 5000; words 1 4000; words 40000 20000; } > "$SOURCE/w/book"
words 90000000 3000 > "$SOURCE/w/alone"
odd=$'w/odd\tna\nme \xff'
words 60000000 3000 | tee "$SOURCE/$odd" > "$SOURCE/w/twin"
ln "$SOURCE/v/report-3" "$SOURCE/w/linked"
: > "$SOURCE/empty"
start
"$KINFS" settle "$MNT" > /dev/null

cat > model.py << 'E2'
import base64, json, os, subprocess, sys
kinfs, top, *options = sys.argv[1:]
def run(*arguments):
    return subprocess.run([kinfs, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
def path(row, name):
    return base64.b64decode(row[name + "_bytes"]) if name + "_bytes" in row else row[name].encode()
top = os.fsencode(top)
documents = [os.path.join(top, where, name) for where in (b"v", b"w") for name in sorted(os.listdir(os.path.join(top, where)))]
rows = [json.loads(line) for line in run("basis", "--json", *options, *documents).splitlines()]
got = {path(row, "file"): (path(row, "basis"), row) for row in rows}
assert len(got) == len(rows)
def shingles(file):
    words = open(file, "rb").read().split()
    return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}
sets = {file: shingles(file) for file in documents}
for file in documents:
    others = [other for other in documents if not os.path.samefile(file, other)]
    shares = {}
    for other in others:
        shares[other] = len(sets[file] & sets[other]) / len(sets[file])
    most = max(shares.values())
    if file not in got:
        assert most < 0.25, (file, most)
        continue
    basis, row = got[file]
    assert not os.path.samefile(basis, file), (basis, file)
    # Four standard errors of 150 samples or more near the ends of their range, or of a middle one.
    assert shares[basis] > most - 0.12, (file, basis, shares[basis], most)
    assert abs(row["containment"] - shares[basis]) < 0.15, (row, shares[basis])
assert os.path.join(top, b"w/alone") not in got
assert len(got) >= len(documents) - 1, got.keys()
assert {got[os.path.join(top, b"w", name)][0] for name in (b"twin", b"odd\tna\nme \xff")} == {os.path.join(top, b"w", name) for name in (b"twin", b"odd\tna\nme \xff")}
E2
python3 model.py "$KINFS" "$MNT" || fail 'a basis that has less than another'
cp "$SOURCE/v/report-5" asked
expect_equal 'a file of anywhere: the same content' "$MNT/v/report-5"$'\t'asked "$("$KINFS" basis --tree "$MNT" asked)"
expect_equal 'standard input' "$MNT/v/report-5"$'\t'- "$("$KINFS" basis --tree "$MNT" - < asked)"
expect_equal 'of the tree that is asked' "$("$KINFS" basis "$MNT/v/report-5")" "$("$KINFS" basis --tree "$MNT" "$MNT/v/report-5")"
expect_equal 'several, with a NUL behind each' "$(printf '%s\n' "$MNT/$odd" "$MNT/w/twin" "$MNT/w/twin" "$MNT/$odd")" "$("$KINFS" basis -0 "$MNT/w/twin" "$MNT/$odd" | tr '\0' '\n')"
expect_equal 'escaped' "$MNT/w/twin"$'\t'"$MNT/"'w/odd\tna\nme\ \377' "$("$KINFS" basis "$MNT/$odd")"
expect_code 1 "$KINFS" basis --min=0.99 "$MNT/v/report-7"

# What cannot be asked about keeps no other from its answer.
code=0
"$KINFS" basis "$MNT/w/twin" "$MNT/not-there" "$MNT/v" "$MNT/$odd" > lines 2> said || code=$?
expect_equal 'failed, and answered' '3 2 2' "$code $(grep -c '^kinfs: ' said) $(grep -c . lines)"
expect_code 2 "$KINFS" basis
expect_code 2 "$KINFS" basis --min=0 "$MNT/v/report-1"
expect_code 2 "$KINFS" basis --json -0 "$MNT/v/report-1"
words 55555555 20 > short
expect_code 4 "$KINFS" basis --tree "$MNT" short
expect_match 'too short' '^kinfs: short: too short to tell' "$OUT"
"$KINFS" basis --json --tree "$MNT" short > json || expect_equal 'too short, as JSON' 4 $?
python3 -c 'import json; row = json.load(open("json")); assert row["file"] == "short" and row["complete"] is False, row'

# The difference to the basis is smaller than to any other document.
if command -v zstd > /dev/null; then
    packed() { zstd -q -c --patch-from="$1" "$2" | wc -c; }
    for file in "$MNT"/v/report-{0,4,7}; do
        basis=$("$KINFS" basis "$file" | cut -f 1)
        best=$(packed "$basis" "$file")
        for other in "$MNT"/w/other-*; do (($(packed "$other" "$file") > 2 * best)) || fail "$file: $other is as good as $basis"; done
        (($(zstd -q -c "$file" | wc -c) > 2 * best)) || fail "$file: $basis saves nothing"
    done
fi

# Without a daemon the same.
files=()
for file in v/report-{0,1,2,3,4,5,6,7} w/book; do files+=("$file"); done
"$KINFS" basis "${files[@]/#/$MNT/}" | sed "s,$MNT/,,g" > by_daemon
stop
"$KINFS" basis "${files[@]/#/$SOURCE/}" | sed "s,$SOURCE/,,g" | cmp - by_daemon || fail 'without a daemon others'
python3 model.py "$KINFS" "$SOURCE" || fail 'without a daemon a basis that has less than another'
expect_equal 'a file of anywhere, without a daemon' "$SOURCE/v/report-5"$'\t'asked "$("$KINFS" basis --tree "$SOURCE" asked)"
ln "$SOURCE/v/report-5" outside
expect_equal 'a link beside the tree is none' "$("$KINFS" basis "$SOURCE/v/report-5" | cut -f 1)"$'\t'outside "$("$KINFS" basis --tree "$SOURCE" outside)"

# Two trees at once, with what belongs to neither between.
mkdir other
words 1 3000 | tee other/a > other/b
"$KINFS" scan other > /dev/null
code=0
"$KINFS" basis "$SOURCE/w/twin" other/a asked other/b > lines 2> said || code=$?
expect_equal 'what is in no tree fails' 3 "$code"
expect_equal 'of two trees' "$(printf '%s\n' "$SOURCE"'/w/odd\tna\nme\ \377' "$PWD/other/b" "$PWD/other/a")" "$(cut -f 1 lines)"
