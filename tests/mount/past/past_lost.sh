#!/usr/bin/env bash
# What was moved, renamed with its directory, edited and removed is found by where it was: by `kinfs lost` and in lost/, of a mount
# and of a store; of 1,000 files with a resemblance of 0.7 or more to what they were, 99 %.
# Begins early: it asks for a thousand documents.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

N=${PAST_FILES:-1000}
mkdir -p "$SOURCE"
# A file has 400 words of its own, in directories of 50. It is edited so that E of them, one after the other, are others: of its
# shingles of 5 words E + 4 of 396 are lost and as many are new, so r = (396 - E - 4) / (396 + E + 4); E <= 65 gives r >= 0.70.
cat > plant.py <<'PY'
import os, random, shutil, sys
source, mount, phase, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
random.seed(1)
def words(i): return [f'w{i}x{j}' for j in range(400)]
def name(i): return f'd{i // 50}/f{i}.txt'
def edited(i):
    w, e = words(i), random.Random(i).randrange(0, 60)
    at = random.Random(i + 1).randrange(20, 380 - e)
    w[at:at + e] = [f'new{i}x{j}' for j in range(e)]
    return ' '.join(w)
if phase == 'make':
    for i in range(n):
        os.makedirs(os.path.dirname(f'{source}/{name(i)}'), exist_ok=True)
        open(f'{source}/{name(i)}', 'w').write(' '.join(words(i)))
    sys.exit()
# Each fifth directory goes as a whole; in the others files go five ways.
for d in range((n + 49) // 50):
    if d % 5 == 4:
        os.rename(f'{mount}/d{d}', f'{mount}/gone{d}')
os.makedirs(f'{mount}/new', exist_ok=True)
for i in range(n):
    d = i // 50
    where, to = f'{mount}/{name(i)}', f'{mount}/new/n{i}'
    if d % 5 == 4:
        to = f'{mount}/gone{d}/f{i}.txt'
        open(to, 'w').write(edited(i))
    elif i % 4 == 0: # copied, edited, removed
        open(to, 'w').write(edited(i)); os.unlink(where)
    elif i % 4 == 1: # moved, then edited
        os.rename(where, to); open(to, 'w').write(edited(i))
    elif i % 4 == 2: # edited, then moved
        open(where, 'w').write(edited(i)); os.rename(where, to)
    else: # an editor puts a new file in its place, and that is moved
        open(where + '.new', 'w').write(edited(i)); os.rename(where + '.new', where); os.rename(where, to)
# Directories that are gone as well.
for d in range((n + 49) // 50):
    if d % 5 != 4:
        os.rmdir(f'{mount}/d{d}')
PY
python3 plant.py "$SOURCE" "$MNT" make "$N"
start
expect_code 0 "$KINFS" settle "$MNT"
python3 plant.py "$SOURCE" "$MNT" change "$N"
expect_code 0 "$KINFS" settle "$MNT"

# How many of the first COUNT files, asked for by where they were, come first at where they are: in lost/, or by COMMAND of a PATH.
cat > count.py <<'PY'
import os, subprocess, sys
count, mount, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
found = 0
for i in range(count):
    was, to = f'd{i // 50}/f{i}.txt', f'new/n{i}' if i // 50 % 5 != 4 else f'gone{i // 50}/f{i}.txt'
    if command:
        said = subprocess.run(command + [f'{mount}/{was}'], capture_output=True, text=True).stdout
        first = said.split('\n')[0].split('\t')[-1]
    else:
        links = sorted(os.listdir(f'{mount}/lost/{was}'), reverse=True)
        first = os.path.relpath(os.path.realpath(f'{mount}/lost/{was}/{links[0]}'), os.path.realpath(mount)) if links else ''
    found += first == to
print(found)
PY
n=$(python3 count.py "$N" "$MNT")
echo "$n of $N are found"
((n * 100 >= N * 99)) || fail "only $n of $N are found in lost/"
few=$((N < 60 ? N : 60))
expect_equal 'by the command' "$(python3 count.py "$few" "$MNT")" "$(python3 count.py "$few" "$MNT" "$KINFS" lost)"

# What is listed is the links alone, and what never was is not found.
expect_equal 'nothing is listed' '' "$(ls "$MNT/lost")"
[[ -d $MNT/.kinfs/lost/d0 && -d $MNT/lost/d4 ]] || fail 'directories that are gone, or were moved, are directories there'
[[ ! -e $MNT/lost/never && ! -e $MNT/lost/d0/never && ! -e $MNT/lost/new ]] || fail 'what never was is found'
expect_code 1 "$KINFS" lost "$MNT/never"
expect_match 'said' 'never: no content of such a document is remembered \(kept for 365 days' "$OUT"
expect_code 3 "$KINFS" lost "$MNT/never/../x"
expect_match 'said' 'leads up from what is not there' "$OUT"

# A path that is another document now leads to the one that was there.
words 1 300 > "$MNT/old"
expect_code 0 "$KINFS" settle "$MNT"
mv "$MNT/old" "$MNT/elsewhere"
words 5000 300 > "$MNT/old"
expect_equal 'was another' $'1.0000\telsewhere' "$("$KINFS" lost "$MNT/old")"
# One that only was written anew: to what it was.
cp "$MNT/old" "$MNT/copy"
expect_code 0 "$KINFS" settle "$MNT"
words 9000 300 > "$MNT/copy"
rm "$MNT/elsewhere"
expect_equal 'written anew' $'1.0000\told' "$("$KINFS" lost "$MNT/copy")"
# A directory that goes in one piece, from the tree, and one that is moved twice.
mkdir -p "$MNT/tree/a/b"
words 20000 300 > "$MNT/tree/a/b/one"
words 21000 300 > "$MNT/tree/a/b/two"
cp "$MNT/tree/a/b/one" "$MNT/kept"
expect_code 0 "$KINFS" settle "$MNT"
mv "$MNT/tree" "$MNT/tree2"
expect_code 0 "$KINFS" settle "$MNT"
mv "$MNT/tree2" "$MNT/tree3"
expect_code 0 "$KINFS" settle "$MNT"
expect_equal 'moved twice' $'1.0000\ttree3/a/b/two' "$("$KINFS" lost "$MNT/tree/a/b/two")"
expect_match 'in the view' '100-two' "$(ls "$MNT/lost/tree/a/b/two")"
mv "$MNT/tree3" "$SCRATCH/out"
expect_code 0 "$KINFS" settle "$MNT"
expect_equal 'moved out' $'1.0000\tkept' "$("$KINFS" lost "$MNT/tree3/a/b/one")"
expect_equal 'moved out, by the name before' $'1.0000\tkept' "$("$KINFS" lost "$MNT/tree/a/b/one")"
expect_code 0 "$KINFS" check "$MNT"
stop

# Without a mount, and after a rebuild.
few=$((N < 30 ? N : 30))
n=$(python3 count.py "$few" "$SOURCE" "$KINFS" lost)
((n >= few - 1)) || fail "only $n of $few are found in the store"
expect_code 0 "$KINFS" rebuild "$SOURCE"
expect_equal 'after a rebuild' "$n" "$(python3 count.py "$few" "$SOURCE" "$KINFS" lost)"
expect_code 0 "$KINFS" check "$SOURCE"

# Nothing is kept where that is said, and what was kept goes.
start -o keep_lost=0
expect_code 1 "$KINFS" lost "$MNT/d0/f0.txt"
expect_match 'said' 'none is kept, -o keep_lost=0' "$OUT"
rm "$MNT/kept"
expect_code 1 "$KINFS" lost "$MNT/kept"
expect_code 2 "$KINFS" mount -o keep_lost=x "$SOURCE" "$MNT"
expect_match 'refused' 'keep_lost=x: takes a number and s, m, h, d, w or y' "$OUT"
stop
