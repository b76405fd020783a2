#!/usr/bin/env bash
# kinfs cluster: the clusters of a tree or a list of documents, without an index.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

mkdir -p tree/sub tree/deep/er empty
words 1 400 > tree/a
words 11 400 > tree/sub/b
{ echo '<!DOCTYPE html><title></title><p>'; words 1 400; } > tree/page
cp tree/a tree/deep/er/copy
words 5000 300 > tree/other
words 5001 300 > tree/sub/$'odd\nname \xff'
words 9000 300 > tree/alone
: > tree/nothing
: > tree/sub/nothing
ln -s a tree/link

# Clusters in the order of their first documents, which are sorted by name in each directory.
expect_equal 'clusters' '1	tree/a
1	tree/deep/er/copy
1	tree/page
1	tree/sub/b
2	tree/nothing
2	tree/sub/nothing
3	tree/other
3	tree/sub/odd\nname\ \377' "$("$KINFS" cluster tree)"

# The same from a list, in its order; with NUL, the exact names and an empty one behind each cluster.
find tree -type f -print0 | sort -z > list
"$KINFS" cluster -0 tree > by_tree
"$KINFS" cluster -0 - < list > by_list
cmp by_tree by_list
printf '%s\0' tree/a tree/deep/er/copy tree/page tree/sub/b '' tree/nothing tree/sub/nothing '' tree/other tree/sub/$'odd\nname \xff' '' > expected
cmp expected by_tree
printf 'tree/sub/b\0tree/alone\0tree/a' | "$KINFS" cluster - > reversed
expect_equal 'order of the list' '1	tree/sub/b
1	tree/a' "$(< reversed)"

"$KINFS" cluster --json tree > json
python3 - <<'PYTHON'
import base64, json
rows = [json.loads(line) for line in open('json')]
assert [row['cluster'] for row in rows] == [1, 1, 1, 1, 2, 2, 3, 3], rows
assert base64.b64decode(rows[7]['path_bytes']) == b'tree/sub/odd\nname \xff', rows[7]
PYTHON

# Modes, memory and threads make no difference here; the threshold does. a and b have 386 shingles in
# common of 406, the estimate is near 0.95.
for option in --mode=fast --mode=broder1997 --memory=64M --threads=1 --threads=3; do
    "$KINFS" cluster -0 "$option" tree > other
    cmp by_tree other
done
expect_equal 'identical ones' '1	tree/a
1	tree/deep/er/copy
1	tree/page
2	tree/nothing
2	tree/sub/nothing' "$("$KINFS" cluster --threshold=1 tree)"
expect_equal 'several paths' '1	tree/sub/b
1	tree/a' "$("$KINFS" cluster tree/sub/b tree/a)"

# What several paths lead to counts once, however it is named; a link that is named is followed.
ln -s tree way
"$KINFS" cluster tree/sub tree/deep/er/copy tree tree tree/../tree way | cmp - <("$KINFS" cluster tree)
expect_equal 'one file twice' '' "$("$KINFS" cluster tree/a tree/link || true)"
expect_equal 'by a link' "$("$KINFS" cluster tree | sed 's,tree,way,')" "$("$KINFS" cluster way)"
mkdir tree2 && cp tree/a tree2/a
expect_equal 'names that begin alike' 9 "$("$KINFS" cluster tree2 tree | wc -l)"
expect_code 3 "$KINFS" cluster tree none
expect_match 'which is missing' 'none: no such file' "$OUT"

# What it took, and what was equal, on standard error alone.
"$KINFS" cluster --costs tree > by_costs 2> costs
"$KINFS" cluster tree | cmp - by_costs
expect_match 'phases' 'sketch .*duplicates .*sort .*pairs .*merge .*clusters ' "$(tr '\n' ' ' < costs)"
expect_match 'equal' '9 documents, 2 without words; equal to another: content 2, else text 1, else shingles 0' "$(< costs)"
expect_match 'clusters' '3 clusters of 8 documents, the largest of 4; of one content 1 of 2' "$(< costs)"

# Nothing alike, nothing at all.
expect_code 1 "$KINFS" cluster tree/a tree/alone
expect_equal 'nothing alike' '' "$OUT"
expect_code 1 "$KINFS" cluster empty
"$KINFS" cluster - < /dev/null && fail 'an empty list'
find tree -type f > lines
expect_code 3 "$KINFS" cluster - < lines
expect_match 'lines' 'takes a NUL behind each path, as find -print0' "$OUT"
cp tree/a $'line\n'
printf 'line\n' > one # a name that ends so
expect_code 1 "$KINFS" cluster - < one

# What is wrong, with what to do.
expect_code 2 "$KINFS" cluster
expect_code 2 "$KINFS" cluster --mode=slow tree
expect_code 2 "$KINFS" cluster --threshold=0 tree
expect_code 2 "$KINFS" cluster --memory=much tree
expect_code 2 "$KINFS" cluster --policy=none tree
expect_code 2 "$KINFS" cluster - tree
expect_code 2 "$KINFS" cluster --json -0 tree
expect_code 3 "$KINFS" cluster tree/none
expect_equal 'no such file' 'kinfs: tree/none: no such file; correct the name' "$OUT"
expect_code 3 "$KINFS" cluster --memory=1M tree
expect_equal 'too little memory' 'kinfs: --memory=17M is the least for 9 documents' "$OUT"
# Names count: 32 bytes each, and 11 for one of ten.
seq -f 'n%09.0f' 100000 | tr '\n' '\0' > names
expect_code 3 "$KINFS" cluster --memory=20M - < names
expect_equal 'too little for the names and the rest' 'kinfs: --memory=22M is the least for 100000 documents' "$OUT"
expect_code 3 "$KINFS" cluster --memory=2M - < names
expect_equal 'too little for the names' 'kinfs: --memory=2M has no room for the names of more than 48771 documents' "$OUT"
rm names
expect_code 3 "$KINFS" cluster --scratch=none tree
expect_equal 'no directory' 'kinfs: none: No such file or directory; name another directory by --scratch' "$OUT"
expect_code 3 "$KINFS" cluster --scratch=tree/a tree
expect_equal 'no directory' 'kinfs: tree/a: Not a directory; name another directory by --scratch' "$OUT"
code=0
"$KINFS" cluster tree > /dev/full 2> err || code=$?
expect_equal 'full output' 3 "$code"

# What cannot be read is said and left out; the rest is there.
code=0
printf 'tree/a\0tree/gone\0tree/sub\0tree/page\0' | "$KINFS" cluster - > some 2> err || code=$?
expect_equal 'unread' 3 "$code"
expect_equal 'the rest' '1	tree/a
1	tree/page' "$(< some)"
expect_match 'says which' 'tree/gone: No such file or directory; left out' "$(< err)"
expect_match 'says which' 'tree/sub: not a regular file; left out' "$(< err)"
expect_match 'says how many' '2 of the documents could not be read' "$(< err)"

# What lies deeper than a path reaches is said and left out, with all below it.
python3 - <<'PYTHON'
import os
text = open('tree/a').read()
os.mkdir('deep')
os.chdir('deep')
for directory in ['d' * 255] * 15 + ['']:
    for name in ['at'] if directory else ['e' * (4096 - 4 - 15 * 256 - 1), 'f' * (4097 - 4 - 15 * 256 - 1)]:
        with open(name, 'w') as file:
            file.write(text)
    os.mkdir(directory or 'g' * 255)
    os.chdir(directory or 'g' * 255)
with open('below', 'w') as file:
    file.write(text)
PYTHON
code=0
"$KINFS" cluster deep > some 2> err || code=$?
expect_equal 'unread' 3 "$code"
above=$(printf '/%0255d' $(seq 15 | sed 's/.*/0/') | tr 0 d)
expect_equal 'the rest' "deep$above/$(printf '%0251d' 0 | tr 0 e)" "$(cut -f 2 some | tail -n 1)"
expect_equal 'the rest' 16 "$(wc -l < some)"
expect_equal 'says which' "kinfs: deep$above/$(printf '%0252d' 0 | tr 0 f): too deep, by the length of its path; left out
kinfs: deep$above/$(printf '%0255d' 0 | tr 0 g): too deep, by the length of its path; left out
kinfs: 2 of the documents could not be read" "$(< err)"

# What is no file is not even opened: of a socket that would be another error, of a device it could do something.
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
code=0
printf 'tree/a\0socket\0tree/page\0' | "$KINFS" cluster - > some 2> err || code=$?
expect_equal 'unread' 3 "$code"
expect_match 'not opened' 'socket: not a regular file; left out' "$(< err)"

# A scratch directory without room: 12,000 documents do not fit into the least memory.
small=$SCRATCH/small
mkdir "$small"
if mount -t tmpfs -o size=64k tmpfs "$small" 2> /dev/null; then
    python3 - <<'PYTHON'
import os, random
random.seed(1)
os.mkdir('many')
for i in range(12000):
    with open(f'many/{i}', 'w') as file:
        file.write(' '.join(str(random.randrange(1 << 30)) for _ in range(300)))
PYTHON
    code=0
    "$KINFS" cluster --memory=17M --scratch="$small" many > /dev/null 2> err || code=$?
    "$KINFS" scan many > /dev/null
    stored_code=0
    "$KINFS" cluster --stored --memory=17M --scratch="$small" many > /dev/null 2> stored_err || stored_code=$?
    umount "$small"
    expect_equal 'no room' 3 "$code"
    expect_equal 'of a store' 3 "$stored_code"
    expect_equal 'of a store' "$(< err)" "$(< stored_err)"
    expect_match 'no room' "small: no room for what does not fit into memory; give more --memory, or name another directory by --scratch" "$(< err)"
    expect_code 1 "$KINFS" cluster --memory=17M --scratch="$SCRATCH" many
fi
