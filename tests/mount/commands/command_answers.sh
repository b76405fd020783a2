#!/usr/bin/env bash
# similar, clusters, compare, status: the same mounted and not, exact with --json and -0.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

mkdir -p "$SOURCE/d"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/d/b"
words 1 100 > "$SOURCE/d/"$'odd\nname \377'
words 5000 60 > "$SOURCE/lonely"
: > "$SOURCE/empty"

ask() { # TREE: every question
    local tree=$1
    "$KINFS" similar "$tree/a"
    "$KINFS" similar --json "$tree/a"
    "$KINFS" similar -0 "$tree/a" | od -c
    "$KINFS" similar -t 0.95 -n 1 "$tree/d/b" || echo "code $?"
    "$KINFS" similar --containing -t 0.5 "$tree/d/b"
    "$KINFS" similar "$tree/lonely" || echo "code $?"
    "$KINFS" similar "$tree/d" 2>&1 || echo "code $?"
    "$KINFS" clusters "$tree"
    "$KINFS" clusters --json "$tree"
    "$KINFS" clusters "$tree/d/b"
    "$KINFS" clusters --id="$id" "$tree"
    "$KINFS" clusters --id=$((id + 1)) "$tree" 2>&1 || echo "code $?"
    "$KINFS" clusters "$tree/lonely" 2>&1 || echo "code $?"
    "$KINFS" compare "$tree/a" "$tree/d/b"
    "$KINFS" compare --json "$tree/a" "$tree/d/b"
    "$KINFS" compare "$tree/a" "$tree/d/"$'odd\nname \377'
    "$KINFS" compare "$tree/a" "$tree/empty" || echo "code $?"
    "$KINFS" status "$tree/a" | grep -A 2 '^document '
}

expect_match 'scan' '^5 documents in 1 cluster$' "$("$KINFS" scan "$SOURCE")"
# Of what came afterwards nothing is known, which is no mistake of who asks.
words 1 100 > "$SOURCE/later"
expect_code 3 "$KINFS" similar "$SOURCE/later"
expect_equal 'later' "kinfs: $SOURCE/later: not sketched yet; kinfs settle waits for it" "$OUT"
expect_equal 'its state' '  state     pending' "$("$KINFS" status "$SOURCE/later" | grep '^  state')"
rm "$SOURCE/later"
id=$("$KINFS" clusters "$SOURCE" | cut -f 1)
ask "$SOURCE" > unmounted
start
"$KINFS" settle "$MNT" > /dev/null
ask "$MNT" > mounted
ask "$SOURCE" > by_source
# Alike but for what a file is called by who asks.
sed -i "s|$SOURCE/|TREE/|; s|$SOURCE:|TREE:|" unmounted by_source
sed -i "s|$MNT/|TREE/|; s|$MNT:|TREE:|" mounted
diff unmounted mounted
diff unmounted by_source

# Shared by a and b: 86 of 96 + 96 - 86 windows of 5 words.
expect_equal 'similar' $'1.0000\td/odd\\nname\\ \\377\n0.8113\td/b' "$("$KINFS" similar "$MNT/a")"
expect_equal 'absolute' "$MNT/d/b" "$("$KINFS" similar -a -t 0.5 "$MNT/a" | sed -n '2s/.*\t//p')"
expect_equal '-0' "$(printf 'd/odd\nname \377\0d/b\0' | od -c)" "$("$KINFS" similar -0 "$MNT/a" | od -c)"
expect_match 'links, absolute' "weakest links.*"$'\t'"$MNT/" "$("$KINFS" clusters -a --explain="$id" "$MNT" | tr '\n' ' ')"
expect_code 2 "$KINFS" clusters -0 --explain="$id" "$MNT"
expect_match 'no paths' '--explain and -0 exclude each other' "$OUT"
"$KINFS" similar --json "$MNT/a" > rows
python3 - <<'EOF'
import base64, json
odd, b = map(json.loads, open('rows', encoding='utf-8'))
assert base64.b64decode(odd['path_bytes']) == b'd/odd\nname \xff', odd
assert odd['resemblance'] == 1 and b['path'] == 'd/b' and 'path_bytes' not in b
assert b['resemblance'] == round(86 / 106, 4) and b['exact'] is True, b
EOF

# Who asks is told of files as they were called, from wherever.
cd "$MNT/d"
for named in ". .." "$SOURCE/d ." ".. $MNT/d"; do
    for directory in $named; do
        expect_code 3 "$KINFS" similar "$directory"
        expect_equal 'a directory' "kinfs: $directory: not a document of the tree; name a regular file in it" "$OUT"
        expect_code 3 "$KINFS" compare b "$directory"
        expect_equal 'compared' "kinfs: $directory: not a document of the tree; name a regular file in it" "$OUT"
    done
done
expect_equal 'a document' $'1.0000\ta' "$("$KINFS" similar -n 1 $'odd\nname \377')"
cd "$SCRATCH"

# From the texts, any two files; the two ways agree.
words 11 100 > elsewhere
expect_match 'exact' 'resemblance +0.8113' "$("$KINFS" compare --exact "$MNT/a" elsewhere)"
expect_match 'containment' 'A in B +0.8958' "$("$KINFS" compare --exact "$MNT/a" elsewhere)" # 86/96
expect_match 'w=1' 'resemblance +0.8182' "$("$KINFS" compare -e --shingle=1 elsewhere "$SOURCE/a")" # 90/110
expect_code 0 "$KINFS" compare --exact "$MNT/empty" "$MNT/a"
expect_match 'nothing of something' 'A in B +-' "$OUT"
: > nothing
expect_code 1 "$KINFS" compare --exact "$MNT/empty" nothing
expect_code 3 "$KINFS" compare "$MNT/a" elsewhere
expect_match 'different trees' "exact|scan" "$OUT"
expect_match 'by a store that the other is in' "\"w\":5" "$("$KINFS" compare --json --exact elsewhere "$MNT/a")"

# What has no words has chunks.
head -c 40000 /dev/zero > zeros
cp zeros twin
head -c 40001 /dev/urandom > other
expect_match 'binary twins' 'resemblance +1.0000' "$("$KINFS" compare -e --shingle=5 zeros twin)"
expect_code 0 "$KINFS" compare -e --shingle=5 zeros other
expect_match 'nothing in common' 'resemblance +0.0000' "$OUT"

# status
expect_match 'policy' $'policy +default \\(w=5 s=128 m=25\\)\n' "$("$KINFS" status "$MNT")"
"$KINFS" status --json "$MNT" > status
python3 - "$SOURCE" "$MNT" <<'EOF'
import json, sys
s = json.load(open('status'))
assert s['source'] == sys.argv[1] and s['mountpoint'] == sys.argv[2], s
assert s['documents'] == 5 and s['clusters'] == 1 and s['clustered_documents'] == 3, s
assert s['running'] and not s['scanning'] and s['pending'] == 0, s
EOF
expect_match 'store' "^store +$KINFS_STATE_DIR/" "$("$KINFS" status "$MNT" | grep '^store')"

# What was just written is in the answer.
words 1 100 > "$MNT/new"
expect_match 'just written' $'1.0000\tnew' "$("$KINFS" similar "$MNT/a")"
cd "$MNT/d"
expect_match 'from within' $'1.0000\tnew' "$("$KINFS" similar ../a)"
expect_match 'where it stands' 'documents +6' "$("$KINFS" status)"
cd "$SCRATCH"
stop
