#!/usr/bin/env bash
# kinfs cluster: what it keeps, from which it begins again; and the documents of a store.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

mkdir -p "$SOURCE/sub"
words 1 400 > "$SOURCE/a"
words 11 400 > "$SOURCE/sub/b"
words 61 400 > "$SOURCE/c" # far from any threshold below, by the sketches of any key
cp "$SOURCE/a" "$SOURCE/sub/copy"
words 5000 300 > "$SOURCE/other"
words 5001 300 > "$SOURCE/sub/"$'odd\nname \xff'
words 9000 300 > "$SOURCE/alone"
: > "$SOURCE/nothing"

clusters() { # what is asked of the documents themselves
    "$KINFS" cluster -0 "$@" "$SOURCE"
}

# Each mode and threshold from the same sketches, without the documents.
"$KINFS" cluster -0 --keep=kept "$SOURCE" > first
clusters | cmp - first
for mode in exact fast broder1997; do
    for threshold in 0.5 0.97; do
        clusters --mode=$mode -t $threshold > "$mode.$threshold"
    done
done
clusters --mode=supershingle > supershingle
mv "$SOURCE" away
for mode in exact fast broder1997; do
    for threshold in 0.5 0.97; do
        "$KINFS" cluster -0 --keep=kept --phase=duplicates --mode=$mode -t $threshold > again
        cmp "$mode.$threshold" again
    done
done
"$KINFS" cluster -0 --keep=kept --phase=duplicates --mode=supershingle | cmp - supershingle

# C18: of broder1997 another threshold takes the last phase only.
for threshold in 0.97 0.5; do
    "$KINFS" cluster -0 --json --costs --keep=kept --phase=clusters --mode=broder1997 -t $threshold \
        2>&1 > /dev/null && fail '--json and -0'
    "$KINFS" cluster -0 --keep=kept --phase=clusters --mode=broder1997 -t $threshold > again
    cmp "broder1997.$threshold" again
done
"$KINFS" cluster --json --costs --keep=kept --phase=clusters --mode=broder1997 > rows 2> costs
python3 - <<'PYTHON'
import json
costs = [json.loads(line) for line in open('costs')]
phases = {row['phase']: row for row in costs if 'phase' in row}
assert list(phases) == ['duplicates', 'sort', 'pairs', 'merge', 'clusters'], phases
assert all(phases[name]['wall_seconds'] == 0 for name in list(phases)[:4]), phases
assert phases['clusters']['wall_seconds'] >= 0 and phases['clusters']['cpu_seconds_1996'] > 0
assert costs[-1]['documents'] == 8 and costs[-1]['without_words'] == 1, costs[-1]
assert costs[-1]['equal_content'] == 1 and costs[-1]['lists_left_out'] == 0, costs[-1]
PYTHON
"$KINFS" cluster --json --costs --keep=kept --phase=duplicates > rows 2> costs
expect_match 'read back' '^\{"phase":"read back".*"read_bytes":[1-9]' "$(head -n 1 costs)"
"$KINFS" cluster --costs --keep=kept --phase=duplicates > rows 2> costs
expect_match 'read back' '^read back ' "$(sed -n 2p costs)"
mv away "$SOURCE"

# From any phase, or the nearest before it for which enough is kept, which is said.
for phase in sketch duplicates sort pairs merge clusters; do
    "$KINFS" cluster -0 --keep=kept --phase=$phase > again 2> said
    cmp first again
    case $phase in
    sketch | duplicates) said= ;;
    *) said="kinfs: --phase=$phase: what it takes is not kept; beginning with duplicates, before it" ;;
    esac
    expect_equal "$phase" "$said" "$(< said)"
    "$KINFS" cluster -0 --keep=kept --phase=$phase --mode=broder1997 2> said | cmp broder1997.0.5 -
done
expect_equal 'pairs are there' '' "$(< said)"
mv kept/sketches.head head # as a run leaves it that did not come to its end
expect_code 3 "$KINFS" cluster --keep=kept --phase=pairs
"$KINFS" cluster -0 --keep=kept --phase=sketch | cmp first -
expect_code 3 "$KINFS" cluster --keep=none --phase=sketch
expect_match 'no names' 'none: no names of documents there; name them, without --phase' "$OUT"
"$KINFS" cluster --json --costs "$SOURCE" > rows 2> costs
expect_match 'sketched' '^\{"phase":"sketch".*"read_bytes":[1-9]' "$(head -n 1 costs)"

# What is not there, with what to do.
expect_code 2 "$KINFS" cluster --phase=duplicates
expect_code 2 "$KINFS" cluster --keep=kept --phase=all
expect_match 'which phases' '--phase=all: sketch, duplicates, sort, pairs, merge or clusters' "$OUT"
expect_code 2 "$KINFS" cluster --keep=kept --phase=duplicates "$SOURCE"
expect_code 2 "$KINFS" cluster --keep=kept --phase=duplicates --policy=default
# An extractor of the configuration would be passed over where no document is read.
for reads_none in '--keep=kept --phase=duplicates' '--stored'; do
    # shellcheck disable=SC2086
    expect_code 2 "$KINFS" cluster $reads_none --config=/dev/null
    expect_match "$reads_none" '--config is for documents that are read: take --phase=sketch, or name them' "$OUT"
done
"$KINFS" cluster -0 --keep=kept --phase=sketch --config=/dev/null | cmp first -
expect_code 2 "$KINFS" cluster --mode=supershingle -t 0.9 "$SOURCE"
expect_code 3 "$KINFS" cluster --keep=none --phase=duplicates
expect_equal 'nothing there' 'kinfs: none: no sketches there; make them without --phase' "$OUT"
expect_code 2 "$KINFS" cluster --keep= "$SOURCE"
for again in 1 2; do # what it keeps are no documents
    "$KINFS" cluster -0 --keep="$SOURCE/sub/kept" "$SOURCE" | cmp - first
done
rm -r "$SOURCE/sub/kept"
expect_code 3 "$KINFS" cluster --keep="$SOURCE" "$SOURCE"
expect_match 'not ours' 'not empty, and not what --keep has made; name another directory by --keep' "$OUT"
printf x | dd of=kept/sketches bs=1 seek=100 conv=notrunc 2> /dev/null
expect_code 3 "$KINFS" cluster --keep=kept --phase=duplicates
expect_match 'damaged' 'kept: damaged, or of another machine or version; make it anew without --phase' "$OUT"
"$KINFS" cluster --keep=kept "$SOURCE" > /dev/null
sed -i 's/alone/alien/' kept/documents
expect_code 3 "$KINFS" cluster --keep=kept --phase=duplicates
expect_match 'other names' 'kept: damaged, or of another machine or version; make it anew without --phase' "$OUT"
# Nor is taken what no run leaves, be its checksum right: sketches of few values with a bound.
mkdir few
for i in 1 2 3; do
    words $i 110 > few/$i
done
"$KINFS" cluster --keep=forged few > of_few
python3 - <<'PYTHON'
import ctypes, struct
of = ctypes.CDLL('libxxhash.so.0').XXH3_64bits
of.restype, of.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
block = bytearray(open('forged/sketches', 'rb').read())
at = 0
while block[at:at + 8] != bytes(8):
    n_values = struct.unpack_from('>II', block, at)[1] - 1
    values = struct.unpack_from(f'={n_values}Q', block, at + 64)
    struct.pack_into('=Q', block, at + 48, 1 << 63)
    struct.pack_into(f'={n_values}Q', block, at + 64, *(value >> 1 for value in values))
    at += 64 + 8 * n_values
struct.pack_into('=Q', block, len(block) - 8, of(bytes(block[:-8]), len(block) - 8))
open('forged/sketches', 'wb').write(block)
PYTHON
expect_code 3 "$KINFS" cluster --keep=forged --phase=duplicates
expect_equal 'forged' 'kinfs: forged: damaged, or of another machine or version; make it anew without --phase' "$OUT"
mkdir other
echo mine > other/sketches
expect_code 3 "$KINFS" cluster --keep=other "$SOURCE"
expect_equal 'untouched' mine "$(< other/sketches)"

# The documents of a store: the clusters are those of the tree, though by other sketches (its key).
expect_code 3 "$KINFS" cluster --stored "$SOURCE"
"$KINFS" scan "$SOURCE" > /dev/null
"$KINFS" cluster -0 --stored "$SOURCE" > stored
"$KINFS" cluster -0 "$SOURCE" | sort -z > by_tree
sort -z stored | cmp by_tree -
(cd "$SOURCE/sub" && "$KINFS" cluster -0 --stored) | cmp stored -
"$KINFS" cluster -0 --stored --keep=kept "$SOURCE" | cmp stored -
"$KINFS" cluster -0 --keep=kept --phase=duplicates | cmp stored -
# Of a store that is not where the tree has it by default.
mkdir "$SCRATCH/apart"
words 30000 300 > "$SCRATCH/apart/one"
words 30001 300 > "$SCRATCH/apart/two"
"$KINFS" scan --store="$SCRATCH/elsewhere" "$SCRATCH/apart" > /dev/null
expect_code 3 "$KINFS" cluster --stored "$SCRATCH/apart"
expect_match 'what helps' 'name its store with --store' "$OUT"
"$KINFS" cluster "$SCRATCH/apart" > of_apart
"$KINFS" cluster --stored --store="$SCRATCH/elsewhere" | cmp of_apart -
"$KINFS" cluster --stored -s "$SCRATCH/elsewhere" "$SCRATCH/apart" | cmp of_apart -
expect_code 2 "$KINFS" cluster --store="$SCRATCH/elsewhere" "$SCRATCH/apart"
expect_match 'alone' '--store goes with --stored' "$OUT"
# Numbered as of a tree that is walked, also where a directory is called as another begins.
mkdir "$SOURCE/sub-2"
words 20000 300 > "$SOURCE/sub-2/one"
words 20001 300 > "$SOURCE/sub-2/two"
"$KINFS" scan "$SOURCE" > /dev/null
"$KINFS" cluster --stored "$SOURCE" > stored
"$KINFS" cluster "$SOURCE" | cmp stored -
expect_code 2 "$KINFS" cluster --stored -
expect_code 2 "$KINFS" cluster --stored "$SOURCE" "$SOURCE"
expect_code 2 "$KINFS" cluster --stored --policy=default "$SOURCE"
start
expect_code 3 "$KINFS" cluster --stored "$MNT"
expect_match 'mounted' "mounted on $MNT .*unmount it first" "$OUT"
stop

# No room for what is kept: both directories are named.
small=$SCRATCH/small
mkdir "$small"
if mount -t tmpfs -o size=64k tmpfs "$small" 2> /dev/null; then
    expect_code 3 "$KINFS" cluster --keep="$small/kept" "$SOURCE"
    expect_match 'no room' "^kinfs: $small/kept or .*: no room; name another directory by --keep" "$OUT"
    expect_code 3 "$KINFS" cluster --keep="$small/kept" --phase=duplicates
    umount "$small"
fi
