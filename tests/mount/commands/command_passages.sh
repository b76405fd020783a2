#!/usr/bin/env bash
# kinfs passages: all of 24 words in a row that a document shares with others are found, and where, as by comparing all places of all; common text and
# templates are left out, for a user by what this user may read.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"
needs python3

cat > model.py << 'E2'
import json, random, subprocess, sys
kinfs, source, mount, what = sys.argv[1:5]
rng = random.Random(7)
def words(n, vocabulary):
    return [f"w{rng.randrange(vocabulary)}" for _ in range(n)]
def make():
    documents = [words(rng.randrange(150, 400), 9000) for _ in range(12)]
    for _ in range(30):
        a, b = rng.sample(range(12), 2)
        n = rng.choice((5, 8, 15, 23, 24, 25, 40, 90))
        i, j = rng.randrange(len(documents[a]) - n), rng.randrange(len(documents[b]) - n)
        documents[b][j:j + n] = documents[a][i:i + n]
    return documents
documents = make()
def text(document):
    return "".join(word + ("\n" if i % 7 == 6 else " ") for i, word in enumerate(document))
if what == "make":
    for i, document in enumerate(documents):
        with open(f"{source}/d{i:02}", "w") as file:
            file.write(text(document))
    sys.exit()
def runs(a, b, least):
    """All runs that go on no further on either side."""
    found = set()
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j] and not (i and j and a[i - 1] == b[j - 1]):
                n = 0
                while i + n < len(a) and j + n < len(b) and a[i + n] == b[j + n]:
                    n += 1
                if n >= least:
                    found.add((n, i // 7 + 1, (i + n - 1) // 7 + 1, j // 7 + 1, (j + n - 1) // 7 + 1))
    return found
n_found = 0
for i, document in enumerate(documents):
    done = subprocess.run([kinfs, "passages", "--json", "--limit=0", f"{mount}/d{i:02}"], stdout=subprocess.PIPE)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == (0 if rows else 1), done
    assert [row["words"] for row in rows] == sorted((row["words"] for row in rows), reverse=True)
    for k, other in enumerate(documents):
        expected = set() if i == k else runs(document, other, 24)
        found = {(row["words"], row["asked"]["line"], row["asked"]["last_line"], row["found"]["line"], row["found"]["last_line"])
                 for row in rows if row["path"] == f"d{k:02}"}
        # Of passages that overlap in the document asked about, the first is whole, and what is left of the next.
        assert found <= expected or len(found) <= len(expected), (i, k, found, expected)
        assert {run for run in expected if sum(1 for other_run in expected if other_run[1] <= run[2] and run[1] <= other_run[2]) == 1} <= found, \
            (i, k, found, expected)
        assert bool(found) == bool(expected), (i, k, found, expected)
        n_found += len(found)
    shown = text(document)
    assert all(row["text"] in shown and len(row["text"].split()) == row["words"] and row["complete"] for row in rows), rows
assert n_found > 10, n_found
E2
mkdir -p "$SOURCE"
python3 model.py "$KINFS" "$SOURCE" "$MNT" make
start
expect_code 3 "$KINFS" passages "$MNT/d00"
expect_match 'not indexed' 'passages are not indexed; mount it with -o passages, or kinfs scan --passages' "$OUT"
stop
expect_code 2 "$KINFS" mount -o passages=7 "$SOURCE" "$MNT"
expect_match 'a bound' '8 to 256' "$OUT"

# A tree that was indexed without is read again; what there is is told to the word.
start -o passages
"$KINFS" settle "$MNT"
python3 model.py "$KINFS" "$SOURCE" "$MNT" test || fail 'other passages'
expect_match 'they are checked' ', [1-9][0-9]* of passages' "$("$KINFS" check "$MNT")"

# A text that many have, and one of a template.
words 1 60 > licence
words 1000 60 > template
for i in 1 2 3 4; do { words "${i}0000" 50; cat licence; words "${i}5000" 30; } > "$SOURCE/l$i"; done
for i in 5 6; do { words "${i}0000" 30; cat template; words 77000 30; } > "$SOURCE/l$i"; done
passages() { "$KINFS" passages "$@" | cut -f 1,3 | tr '\t\n' ': '; }
expect_equal 'the same text in all' '60:l2 60:l3 60:l4 ' "$(passages "$MNT/l1")"
expect_equal 'no more than three have it' '60:l2 60:l3 60:l4 ' "$(passages --ignore-common=3 "$MNT/l1")"
expect_equal 'more than two have it' '' "$(passages --ignore-common=2 "$MNT/l1")"
expect_equal 'all of it' '60:l2 60:l3 60:l4 ' "$(passages --ignore-common=0 "$MNT/l1")"
expect_equal 'it is a template' '' "$(passages --ignore=licence "$MNT/l1")"
expect_equal 'a part of the passage is' '90:l6 ' "$(passages "$MNT/l5")"
expect_equal 'and the rest is none' '30:l6 ' "$(passages --ignore=template "$MNT/l5")"
expect_equal 'of some words' '' "$(passages --ignore=template --words=31 "$MNT/l5")"
expect_equal 'the first' '60:l2 ' "$(passages --limit=1 "$MNT/l1")"
expect_equal 'paths alone' "$MNT/l6" "$("$KINFS" passages -0 -a "$MNT/l5" | tr -d '\0')"
# Written and removed.
words 88000 40 > "$SOURCE/l6"
rm "$SOURCE/l2"
expect_equal 'as it is now' '60:l3 60:l4 ' "$(passages "$MNT/l1")"
expect_code 1 "$KINFS" passages "$MNT/l5"

# Of documents that are no files of the tree, and of other forms of one.
{ words 91000 200; words 1 40; } | sed 's/$/,/' > apart
expect_equal 'standard input' '40:l1 40:l3 40:l4 ' "$(cd "$MNT"; cat "$OLDPWD/apart" | passages -)"
expect_equal 'a file elsewhere' '40:l1 40:l3 40:l4 ' "$(passages --tree="$MNT" apart)"
expect_equal 'by a question' '3' "$(exec 3<> "$MNT/.kinfs/query/x,passages"; cat apart >&3; cat <&3 | cut -f 2 | grep -c '^l[134]$')"
words 60000 300 | paste -sd '   \n' > text
for kind in pdf odt docx epub; do make $kind "$SOURCE/same.$kind" < text; done
gzip -c text > "$SOURCE/text.gz"
"$KINFS" settle "$MNT"
"$KINFS" passages --json --tree="$MNT" text > found
for form in same.pdf same.odt same.docx same.epub text.gz; do
    grep -q "^{\"words\":300,\"path\":\"$form\",\"asked\":{\"line\":1,\"last_line\":75}" found || fail "$form is not found: $(cut -c 1-200 found)"
done
expect_equal 'all were compared' 0 "$(grep -c '"complete":false' found || true)"
# Of what anybody may have written a text that is very long is not read.
{ cat text; head -c 17M <(yes 'a b'); } | gzip > "$SOURCE/huge.gz"
"$KINFS" settle "$MNT"
"$KINFS" passages --json --tree="$MNT" text > all 2> errors
expect_match 'which one' 'huge.gz: its text has more than 16 MiB' "$(cat errors)"
expect_equal 'the others' "$(wc -l < found)" "$(wc -l < all)"
expect_equal 'not all were compared' "$(wc -l < found)" "$(grep -c '"complete":false' all)"
"$KINFS" passages --tree="$MNT" text > all 2> errors
expect_match 'that it is not complete' 'not complete: 1 document' "$(cat errors)"
rm "$SOURCE/huge.gz"
# Nor is one that is long without a text; the text before it is short. Where the machine is busy, its time may end first.
{ echo '<html><body><p>'; cat text; echo '<!--'; head -c 257M <(yes 'a b'); echo '-->'; } | gzip -1 > "$SOURCE/hollow.html.gz"
"$KINFS" settle "$MNT"
"$KINFS" passages --json --tree="$MNT" text > all 2> errors
expect_match 'what shows nothing' 'hollow.html.gz: (.* or it is unpacked to more than 256 MiB|reading it takes too long)' "$(cat errors)"
expect_equal 'the others, without it' "$(wc -l < found)" "$(wc -l < all)"
rm "$SOURCE/hollow.html.gz"
# Nor one over which its extractor takes long.
printf '[extractor "application/pdf"]\ncommand = %s 1000\n' "$(readlink -f "$(command -v sleep)")" > slow.conf
timeout 40 "$KINFS" passages --config=slow.conf --json --tree="$MNT" text > all 2> errors || fail 'it waits for an extractor'
expect_match 'what takes long' 'same.pdf: reading it takes too long' "$(cat errors)"
expect_equal 'the others, without that' "$(grep -v -c same.pdf found)" "$(wc -l < all)"
"$KINFS" passages --json "$MNT/same.pdf" > found
grep -q '"path":"same.odt"' found || fail 'a PDF document is not asked about'
printf 'a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n13,14\n15,16\n' > "$SOURCE/table.csv"
expect_code 1 "$KINFS" passages "$MNT/table.csv"
printf '%s\n' "$(words 70000 40 | tr '\n' ' ')" > "$SOURCE/"$'odd\033name'
cp "$SOURCE/"$'odd\033name' "$SOURCE/even"
"$KINFS" passages "$MNT/even" > found
! grep -q $'\033' found || fail 'a name reaches the terminal'
expect_code 3 "$KINFS" passages "$MNT/none"
expect_code 3 "$KINFS" passages --ignore=none "$MNT/l1"
expect_code 2 "$KINFS" passages
expect_code 2 "$KINFS" passages --words=7 "$MNT/l1"
expect_code 2 "$KINFS" passages --json -0 "$MNT/l1"
stop

# The store keeps them for commands, and loses them with the option.
expect_equal 'without a mount' '60:l3 60:l4 ' "$(passages "$SOURCE/l1")"
"$KINFS" rebuild "$SOURCE" > /dev/null
expect_equal 'rebuilt' '60:l3 60:l4 ' "$(passages "$SOURCE/l1")"
start
expect_code 3 "$KINFS" passages "$MNT/l1"
expect_code 3 "$KINFS" scan --passages "$MNT"
expect_match 'as the mount has it' 'mount it with -o passages=24' "$OUT"
stop
# Without a mount they come to a store that has none, and stay.
expect_code 3 "$KINFS" passages "$SOURCE/l1"
expect_match 'what to do' 'kinfs scan --passages' "$OUT"
expect_code 2 "$KINFS" scan --passages=7 "$SOURCE"
"$KINFS" scan --passages "$SOURCE" > /dev/null
expect_equal 'scanned' '60:l3 60:l4 ' "$(passages "$SOURCE/l1")"
"$KINFS" scan "$SOURCE" > /dev/null
expect_equal 'scanned again' '60:l3 60:l4 ' "$(passages "$SOURCE/l1")"
start -o passages=30
"$KINFS" scan --passages=30 "$MNT" > /dev/null
expect_equal 'as the mount' '60:l3 60:l4 ' "$(passages "$MNT/l1")"
expect_match 'they are gone' 'wrong  *0$' "$("$KINFS" check "$MNT")"
stop

# Another user is told of nothing hidden, nor is a text common by what is.
[[ $EUID = 0 ]] || exit 0
needs setpriv
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
chmod 755 "$SCRATCH"
chmod 644 apart
mkdir -m 700 "$SOURCE/closed"
start -o passages,allow_other
"$KINFS" settle "$MNT"
ask() { as_user sh -c 'exec 3<> "$1/.kinfs/query/x,passages,common=$2"; cat >&3; cat <&3' - "$MNT" "$1" < apart | cut -f 2 | sort | tr '\n' ' '; }
expect_equal 'what is open' 'l1 l3 l4 ' "$(ask 3)"
for i in 1 2 3 4 5 6; do { words "9${i}000" 9; cat licence; } > "$SOURCE/closed/h$i"; done
"$KINFS" settle "$MNT"
expect_equal 'hidden ones do not count' 'l1 l3 l4 ' "$(ask 3)"
chmod 600 "$SOURCE/l4"
expect_equal 'one is closed' 'l1 l3 ' "$(ask 3)"
expect_equal 'root sees all' 9 "$("$KINFS" passages --tree="$MNT" apart | wc -l)"
