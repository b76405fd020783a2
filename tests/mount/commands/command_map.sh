#!/usr/bin/env bash
# kinfs map: a picture of a cluster is XML, has a dot and a name for each document, and a line for each pair that resembles, whatever the names are.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE/sub"
for ((version = 0; version < 9; version++)); do
    words $((version * 40)) 400 > "$SOURCE/sub/v$version"
done
cp "$SOURCE/sub/v0" "$SOURCE/sub/<text>&amp;\"'"
cp "$SOURCE/sub/v0" "$SOURCE/sub/"$'bad\xff\x01\nname'
cp "$SOURCE/sub/v0" "$SOURCE/sub/"$'\xef\xbf\xbe\xef\xbf\xbf'
cp "$SOURCE/sub/v0" "$SOURCE/sub/a$(printf 'long%.0s' {1..60})"
chmod -R go-w "$SOURCE"
start
"$KINFS" settle "$MNT" > /dev/null
id=$("$KINFS" clusters "$MNT" | cut -f 1)
expect_match 'one cluster' '^[0-9]+$' "$id"

"$KINFS" map "$id" -o map.svg "$MNT"
"$KINFS" clusters --members --json "$MNT" > members
"$KINFS" pairs --all --min=0.5 --json "$MNT" > pairs
python3 - << 'E2' || fail 'the picture is not what is in the cluster'
import json, re, xml.etree.ElementTree as tree
members = [json.loads(line) for line in open('members')]
n = len(members)
assert n == 13, n
NAME = '{http://www.w3.org/2000/svg}'
svg = tree.parse('map.svg').getroot()
assert svg.tag == NAME + 'svg'
tags = {element.tag.removeprefix(NAME) for element in svg.iter()}
assert tags == {'svg', 'title', 'style', 'text', 'line', 'g', 'circle'}, tags
assert not [name for element in svg.iter() for name in element.attrib if name.startswith('on') or 'href' in name]
circles = list(svg.iter(NAME + 'circle'))
assert len(circles) == n
width, height = (float(x) for x in svg.get('viewBox').split()[2:])
for circle in circles:
    assert 0 <= float(circle.get('cx')) <= width and 0 <= float(circle.get('cy')) <= height
# A line of two ends each; what is in the legend has no title.
lines = {}
for line in svg.iter(NAME + 'line'):
    title = line.find(NAME + 'title')
    if title is not None:
        a, b, value = re.fullmatch(r'(\d+) \u2013 (\d+): (0\.\d{4}|1\.0000)', title.text).groups()
        assert (int(a), int(b)) not in lines
        lines[int(a), int(b)] = float(value)
number = {row['path']: i + 1 for i, row in enumerate(members)}
pairs = {tuple(sorted((number[row['a']], number[row['b']]))): row['resemblance'] for row in map(json.loads, open('pairs'))}
assert lines == pairs, (len(lines), len(pairs))
# Nearer ones are drawn nearer: of the documents that resemble the first most and least.
place = {}
for group in svg.iter(NAME + 'g'):
    circle = group.find(NAME + 'circle')
    if circle is not None:
        place[int(group.find(NAME + 'text').text)] = (float(circle.get('cx')), float(circle.get('cy')))
apart = lambda i, j: sum((a - b) ** 2 for a, b in zip(place[i], place[j]))
assert set(place) == set(range(1, n + 1)) and apart(1, 2) < apart(1, n)
shown = ' '.join(''.join(text.itertext()) for text in svg.iter(NAME + 'text'))
for row in members:
    assert row['path'][-20:].replace('\\\\', '\\') in shown or 'path_bytes' in row or '\ufffe' in row['path'], (row['path'], shown)
titles = [title.text for title in svg.iter(NAME + 'title')]
assert sum(title.startswith('sub/a' + 'long' * 60 + '\n') for title in titles) == 2
assert '\u2026' in shown and 'bad\\377\\001\\nname' in shown and 'sub/??' in shown
E2
"$KINFS" map "$id" -o - "$MNT" | cmp - map.svg || fail 'another time it is another picture'
"$KINFS" map "$id" --members=4 -o - "$MNT" > four.svg
expect_equal 'of four' 4 "$(grep -c '<circle' four.svg)"
grep -q '13 documents, of which 4 are shown' four.svg || fail 'nothing is said of the others'
expect_equal 'nothing is run, nobody asked' '' "$(grep -o -i -e '<script' -e 'url(' -e 'import' -e 'href' map.svg || true)"

expect_code 1 "$KINFS" map 1 -o none.svg "$MNT"
expect_match 'which is none' 'no cluster 1' "$OUT"
[[ ! -e none.svg ]] || fail 'a picture of nothing'
expect_code 2 "$KINFS" map -o none.svg "$MNT"
expect_code 2 "$KINFS" map x -o none.svg "$MNT"
expect_code 2 "$KINFS" map "$id" "$MNT"
expect_code 2 "$KINFS" map "$id" "$MNT" "$MNT" -o none.svg
expect_code 3 "$KINFS" map "$id" -o map.svg /nowhere
echo mine > mine
expect_code 3 "$KINFS" map "$id" -o mine "$MNT"
expect_equal 'what is there' mine "$(cat mine)"
"$KINFS" report -o report.html "$MNT"
expect_code 3 "$KINFS" map "$id" -o report.html "$MNT"
"$KINFS" map "$id" --force -o report.html "$MNT"
cmp map.svg report.html || fail 'it was not replaced'
stop
"$KINFS" map "$id" -o beside.svg "$SOURCE"
cmp map.svg beside.svg || fail 'without a mount it is another picture'

# A cluster that became part of another is found by its old id. What comes between has 0.63 with either side, which have 0.38:
# three standard errors from 0.5 both.
words 50000 400 > "$SOURCE/left"
words 50040 400 > "$SOURCE/left2"
words 50220 400 > "$SOURCE/right"
words 50260 400 > "$SOURCE/right2"
start
"$KINFS" settle "$MNT" > /dev/null
of() { "$KINFS" clusters --json "$MNT/$1" | sed -nE '1s/.*"cluster": *([0-9]+).*/\1/p'; }
left=$(of left) right=$(of right)
[[ $left != "$right" ]] || fail 'one cluster already'
words 50130 400 > "$MNT/between"
"$KINFS" settle "$MNT" > /dev/null
now=$(of left)
expect_equal 'one cluster' "$now" "$(of right)"
for old in "$left" "$right"; do
    "$KINFS" map "$old" -o old.svg "$MNT"
    grep -q "Cluster $now: 5 documents" old.svg || fail "cluster $old is not found"
done
stop
