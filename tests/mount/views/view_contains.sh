#!/usr/bin/env bash
# contains/ has the parts of a document, within/ the wholes that it is in: all that there are, by the other route of
# kinfs compare --exact of each two, of what the asker can list and read, as it is now.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 gzip

# A book of 24 chapters of 150 to 1,300 words, an anthology of some of them, notes of 5 words and more, documents of which
# a part is in the book, and others, of which some have a sentence of it.
mkdir -p "$SOURCE/parts" "$SOURCE/notes" "$SOURCE/other"
at=1
for i in $(seq 10 33); do
    n=$((50 * i - 350))
    words $at $n > "$SOURCE/parts/chapter$i"
    cat "$SOURCE/parts/chapter$i" >> "$SOURCE/book"
    ((i % 3)) || cat "$SOURCE/parts/chapter$i" >> "$SOURCE/anthology"
    at=$((at + n))
done
for i in $(seq 10 49); do words $((400 * i - 3990)) $((5 + 2 * (i - 10))) > "$SOURCE/notes/note$i"; done
for i in $(seq 10 29); do
    { words $((300 * i)) $((20 + 8 * i)); words $((100000 + 2000 * i)) $((i % 2 ? 30 : 1000)); } > "$SOURCE/other/torn$i"
    { words $((300 * i)) 12; words $((200000 + 1000 * i)) $((40 * i)); } > "$SOURCE/other/decoy$i"
done
cp "$SOURCE/book" "$SOURCE/other/copy"
start
"$KINFS" settle "$MNT"

# truth DOCUMENT VIEW: the links that are to be there, by comparing it with each other one. What is as near to the threshold
# as a sample errs, 4.5 standard errors, may be there or not; prints how many are.
cat > "$SCRATCH/truth.py" << 'EOF'
import json, os, subprocess, sys
kinfs, source, mnt, asked, view = sys.argv[1:]
def compared(path):
    done = subprocess.run([kinfs, "compare", "--exact", "--json", f"{source}/{asked}", f"{source}/{path}"], capture_output=True, check=True)
    return json.loads(done.stdout)
directory = os.path.join(mnt, view, asked)
links = {os.path.relpath(os.path.realpath(f"{directory}/{name}"), os.path.realpath(mnt)): name for name in os.listdir(directory)}
paths = [os.path.relpath(os.path.join(at, name), source) for at, _, names in os.walk(source) for name in names]
n = 0
for path in paths:
    if path == asked:
        continue
    answer = compared(path)
    containment = answer["containment_ba" if view == "contains" else "containment_ab"] or 0
    with open(f"{source}/{path if view == 'contains' else asked}") as file:
        length = len(file.read().split()) - 4
    # Of a part 128 shingles are compared, or all; of what may be in a whole that is not read one in 25.
    n_samples = 128 if view == "contains" else max(length / 25, 16)
    error = 0 if length <= 128 and view == "contains" else 4.5 * (0.25 / n_samples) ** 0.5
    assert path in links or containment < 0.4 + error, f"{view}/{asked}: {path} is missing, {containment}"
    assert path not in links or containment >= 0.4 - error, f"{view}/{asked}: {path} is there, {containment}"
    if path not in links:
        continue
    n += 1
    name = links.pop(path)
    assert name[3] == "-" and name[4:].split("~")[0] == os.path.basename(path), name
    share = int(name[:3])
    equal = open(f"{source}/{path}").read() == open(f"{source}/{asked}").read()
    assert (share == 100) == equal, name
    if containment == 1 and not equal:
        assert share == 99, name
    elif not equal:
        assert abs(share / 100 - containment) <= error + 0.01, (name, containment)
assert not links, links
print(n)
EOF
truth() {
    python3 "$SCRATCH/truth.py" "$KINFS" "$SOURCE" "$MNT" "$@"
}

n=$(truth book contains)
# The chapters, the notes, those of which most is in it, its copy, and the anthology.
expect_equal 'parts of the book' $((24 + 40 + 10 + 2)) "$n"
expect_equal 'of another book' "$(ls "$SOURCE/parts" | awk '{ i = substr($0, 8); if (i % 3 == 0) print }')" \
    "$(ls "$MNT/contains/anthology" | grep chapter | cut -c 5-)"
for i in 14 21 33; do truth parts/chapter$i within > /dev/null; done
expect_equal 'wholes' '099-anthology 099-book 099-copy' "$(ls "$MNT/within/parts/chapter33" | xargs)"
expect_equal 'a target' '../../parts/chapter33' "$(readlink "$MNT/contains/book/099-chapter33")"
expect_equal 'a target from deeper down' '../../../book' "$(readlink "$MNT/within/parts/chapter33/099-book")"
expect_equal 'the same below .kinfs' "$(ls "$MNT/contains/book")" "$(ls "$MNT/.kinfs/contains/book")"
[[ -e $MNT/contains/CACHEDIR.TAG && -e $MNT/within/CACHEDIR.TAG ]] || fail 'no tag'

# Listed: directories, and documents that have any. Found: every document.
expect_equal 'what has parts' 'anthology book notes other parts' "$(ls -C "$MNT/contains" | xargs)"
[[ ! $(ls "$MNT/contains/other" | grep decoy) ]] || fail 'a document without parts is listed'
expect_equal 'which are none' '' "$(ls "$MNT/contains/other/decoy20")"
expect_equal 'what is in nothing' '' "$(ls "$MNT/within/other/decoy20")"
! test -e "$MNT/contains/missing" || fail 'a name of nothing is found'
! mkdir "$MNT/within/new" 2> /dev/null || fail 'a directory is made in a view'

# The command says the same, mounted and not, of a document of the tree and of a copy outside.
said=$("$KINFS" similar --contained -n 0 "$MNT/book")
expect_equal 'as many' "$n" "$(wc -l <<< "$said")"
expect_equal 'JSON' "$(cut -f 2 <<< "$said")" "$("$KINFS" similar --contained -n 0 --json "$MNT/book" | python3 -c '
import json, sys
for line in sys.stdin:
    answer = json.loads(line)
    assert answer["complete"] and answer["containment"] >= 0.4
    print(answer["path"])')"
cp "$SOURCE/book" "$SCRATCH/asked"
expect_equal 'of a copy' "$said" "$("$KINFS" similar --contained -n 0 -T "$MNT" "$SCRATCH/asked" | grep -v $'\tbook$')"
expect_equal 'by a question' "$said" "$( (exec 3<> "$MNT/.kinfs/query/x,contained,limit=0" && cat "$SOURCE/book" >&3 && cat <&3) | grep -v $'\tbook$')"
expect_equal 'containing' 'anthology book other/copy' "$("$KINFS" similar --containing "$MNT/parts/chapter33" | cut -f 2 | sort | xargs)"
code=0; "$KINFS" similar --contained "$MNT/other/decoy20" || code=$?
expect_equal 'exit code without an answer' 1 $code
code=0; "$KINFS" similar --contained --containing "$MNT/book" 2> /dev/null || code=$?
expect_equal 'both at once' 2 $code

# Packed it is the same. What is too long is asked by its sketch, which has one in 512 of more than 1,048,576 shingles, and
# says so; ln(0.01) / ln(1-1/512) = 2355.5. The copy, of 17,396, is missed with (1-1/512)^17396, once in 10^14.
gzip -c "$SOURCE/book" > "$MNT/packed.gz"
"$KINFS" settle "$MNT"
expect_equal 'packed' "$said" "$("$KINFS" similar --contained -n 0 "$MNT/packed.gz" | grep -v $'\tbook$')"
rm "$MNT/packed.gz"
{ cat "$SOURCE/book"; words 5000000 1200000; } > "$MNT/long"
"$KINFS" settle "$MNT"
long=$("$KINFS" similar --contained -n 0 "$MNT/long" 2> "$SCRATCH/why")
expect_match 'why something may be missing' 'parts of less than 2356 shingles, 2360 words, are found by chance' "$(cat "$SCRATCH/why")"
grep -q $'\tother/copy$' <<< "$long" || fail 'a long part is not found by the sketch'
rm "$MNT/long"

# As it is now: a part that comes and is changed, a whole that gets one and loses others.
words 1 40 > "$MNT/parts/new"
[[ -L $MNT/contains/book/099-new ]] || fail 'a new part is not there'
words 900000 400 > "$MNT/parts/new"
[[ ! $(ls "$MNT/contains/book" | grep new) ]] || fail 'what is a part no more is there'
rm "$MNT/parts/new"
words 910000 400 >> "$MNT/book"
words 910050 20 > "$MNT/parts/late"
[[ -L $MNT/contains/book/099-late ]] || fail 'a part of what was appended is not there'
words 2000 9000 > "$MNT/book"
[[ ! $(ls "$MNT/contains/book" | grep 'late\|chapter33') ]] || fail 'parts of what it was before'
expect_equal 'nor is it a whole' '099-anthology 099-copy' "$(ls "$MNT/within/parts/chapter33" | xargs)"
rm "$MNT/parts/late"
cp "$SOURCE/other/copy" "$MNT/book"
expect_equal 'and as it was' "$(cut -f 2 <<< "$said")" "$("$KINFS" similar --contained -n 0 "$MNT/book" | cut -f 2)"
stop
expect_equal 'without a mount' "$said" "$("$KINFS" similar --contained -n 0 "$SOURCE/book")"
