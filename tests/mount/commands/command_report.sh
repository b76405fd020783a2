#!/usr/bin/env bash
# kinfs report: what near-duplicates cost is what a slow count over kinfs clusters and the files says, by a mount and by a store; names
# are data; passages are those of kinfs explain; the page replaces nothing that is not its like. (Its looks: report_browser.)
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE"/{a/deep/er,b,c}

# Versions of three documents, equal ones, one with other names, and some that are alone.
for ((family = 1; family <= 3; family++)); do
    for ((version = 0; version < 6; version++)); do
        directory=$(printf '%s\n' a a/deep a/deep/er b c . | sed -n "$((version + 1))p")
        { words $((family * 10000)) 400; words $((family * 10000 + 5000 + version * 100)) $((version * version * 8)); } > "$SOURCE/$directory/f$family-v$version"
        touch -d "2001-0$family-0$((version + 1))" "$SOURCE/$directory/f$family-v$version"
    done
done
cp "$SOURCE/f1-v5" "$SOURCE/b/equal"
cp "$SOURCE/f1-v5" "$SOURCE/c/equal too"
cp "$SOURCE/f2-v5" "$SOURCE/a/equal"
{ cat "$SOURCE/f3-v5"; words 95000 1; } > "$SOURCE/a/deep/near"
ln "$SOURCE/a/f2-v0" "$SOURCE/c/linked"
ln "$SOURCE/a/f2-v0" "$SOURCE/linked"
words 90000 500 > "$SOURCE/b/alone"
{ echo '<!DOCTYPE html><html><body><p>'; words 10000 400; } > "$SOURCE/c/page.html"
: > "$SOURCE/empty"
# Names that would be markup, break a line, or are no UTF-8.
hostile=('</script><img src=x onerror=alert(1)>' '<!--' $'two\nlines' $'bad\xff' "it's \"quoted\" & <b>" $'\xe2\x80\xa8')
for name in "${hostile[@]}"; do # a slash makes two of a name
    mkdir -p "$SOURCE/c/$(dirname "$name")"
    words 30000 380 > "$SOURCE/c/$name"
done
chmod -R go-w "$SOURCE"

# data FILE: what is in the page
data() {
    python3 - "$1" << 'E2'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
    """As a browser reads it: the elements, and the text of the one with the data."""
    def __init__(self):
        super().__init__()
        self.tags, self.data, self.inside = [], '', False

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside = dict(attributes).get('id') == 'data'

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.data += data

page = Page()
page.feed(open(sys.argv[1], encoding='utf-8').read())
assert 'img' not in page.tags and 'b' not in page.tags and page.tags.count('script') == 2, page.tags
print(json.dumps(json.loads(page.data)))
E2
}

# counts TREE: the page of it against kinfs clusters, kinfs status and the files.
counts() {
    "$KINFS" report -o report.html "$1" || fail "no report of $1" 1
    "$KINFS" clusters --members --json "$1" > members
    "$KINFS" clusters --json "$1" > clusters
    data report.html > data
    python3 - "$SOURCE" << 'E2' || fail "the numbers of $1 differ" 1
import base64, json, os, sys
root = os.fsencode(sys.argv[1])
data = json.load(open('data'))
path_of = lambda row, name='path': base64.b64decode(row[name + '_bytes']) if name + '_bytes' in row else os.fsencode(row[name])
files = {}
for directory, _, names in os.walk(root):
    for name in names:
        status = os.stat(os.path.join(directory, name))
        files.setdefault(status.st_ino, (status.st_size, set()))[1].add(os.path.relpath(os.path.join(directory, name), root))
inode_of = {path: inode for inode, (_, paths) in files.items() for path in paths}
KINDS = ('equal', 'near', 'loose')
kinds, rows, seen = {}, {}, set()
for line in open('members'):
    row = json.loads(line)
    rows.setdefault(row['cluster'], []).append(row)
    path = path_of(row)
    assert row['size'] == os.stat(os.path.join(root, path)).st_size
    if row['cluster'] not in seen:
        seen.add(row['cluster'])
        continue
    kinds[inode_of[path]] = 0 if row['resemblance'] == 1 else 1 if row['resemblance'] >= 0.95 else 2

def cost(inodes):
    result = [len(inodes), sum(files[i][0] for i in inodes)] + [0] * 6
    for i in inodes:
        if i in kinds:
            result[2 + kinds[i]] += 1
            result[5 + kinds[i]] += files[i][0]
    return result

every = list(files)
assert data['all'] == cost(every), (data['all'], cost(every))
assert all(data['all'][2:5]), data['all']
# Directories, by any one path of each file: those of several are in the root and in c or a.
paths, number = [], 0
for parent, name, *numbers in data['directories']['rows']:
    paths.append('' if parent < 0 else (paths[parent] + '/' if paths[parent] else '') + name)
    inside = lambda path: not paths[-1] or path.startswith(os.fsencode(paths[-1]) + b'/')
    sure = [i for i in every if all(map(inside, files[i][1]))]
    may = [i for i in every if any(map(inside, files[i][1]))]
    assert all(low <= n <= high for low, n, high in zip(cost(sure), numbers, cost(may))), (paths[-1], numbers, cost(sure), cost(may))
    number += sure == may
assert number >= 3 and {'', 'a', 'a/deep', 'a/deep/er', 'b', 'c'} <= set(paths), (number, paths)
types = {row[0]: row[1:] for row in data['types']}
assert set(types) >= {'text', 'html'} and types['html'][0] == 1
assert [sum(column) for column in zip(*types.values())] == data['all']
# Clusters, the costliest first, each with its members and the resemblances of all pairs.
listed = {row['cluster']: row for row in map(json.loads, open('clusters'))}
found = data['clusters']['rows']
assert data['clusters']['all'] == len(listed) == len(found) and not data['clusters']['left_out']
lost = [(sum(row['cost'][5:7]), row['cost'][7]) for row in found]
assert lost == sorted(lost, reverse=True), lost
for row in found:
    same = listed[row['cluster']]
    members = rows[row['cluster']]
    assert path_of(row, 'representative') == path_of(same, 'representative')
    for name in ('resemblance_min', 'resemblance_mean'):
        assert abs(row[name] - same[name]) < 1e-4, (row[name], same[name])
    assert row['cost'][0] == same['size'] == len(row['members'])
    assert (row['first'], row['last']) == (min(m['mtime'] for m in members), max(m['mtime'] for m in members))
    keys = ('path', 'size', 'mtime', 'resemblance', 'error', 'type')
    assert [{k: m[k] for k in keys} for m in row['members']] == [{k: m[k] for k in keys} for m in members]
    n = len(members)
    assert len(row['pairs']) == n * (n - 1) // 2 and sorted(row['order']) == list(range(n))
    assert [p / 10000 for p in row['pairs'][:n - 1]] == [m['resemblance'] for m in members[1:]]
    assert all(0 <= m[k] <= 1 for m in row['members'] for k in 'xy')
about = data['about']
assert os.fsencode(about['source']) == os.path.realpath(root) and about['threshold'] == 0.5 and about['near'] == 0.95, about
assert about['documents'] == len(files) and not about['pending'] and not about['changed'], about
E2
}
start
"$KINFS" settle "$MNT" > /dev/null
counts "$MNT"
cp report.html mounted.html
cp data mounted
counts "$MNT/a/deep"
for path in a/f1-v0 c/"${hostile[0]}"; do
    grep -q -F -e "$(basename "$path" | sed 's/</\\u003c/g; s/>/\\u003e/g')" report.html || fail "$path is not on the page"
done
! grep -q -e 'onerror=alert(1)>' report.html || fail 'a name is there as it is'
! grep -o '[a-z]*://[^ "]*' report.html | grep -v -x "http://www.w3.org/2000/svg'," | grep . || fail 'the page has an address'

# -- any pair, by a comparison of the two --

python3 -c 'import json, os
for row in json.load(open("data"))["clusters"]["rows"]:
    n, pairs = len(row["members"]), iter(row["pairs"])
    for i in range(n):
        for j in range(i + 1, n):
            a, b, value = row["members"][i], row["members"][j], next(pairs)
            if (i * 7 + j) % 9 == 0 and not any("path_bytes" in x or "\n" in x["path"] for x in (a, b)):
                print(value / 10000, a["path"], b["path"], sep="\t")' > some
[[ $(wc -l < some) -ge 5 ]] || fail 'hardly a pair'
while IFS=$'\t' read -r value a b; do
    expect_equal "$a and $b" "$(printf %.4f "$value")" "$("$KINFS" compare --json "$MNT/$a" "$MNT/$b" | sed -nE 's/.*"resemblance": *([0-9.]+).*/\1/p' | xargs printf %.4f)"
done < some

# -- passages --

python3 - "$KINFS" "$SOURCE" data << 'E2' || fail 'passages differ from those of kinfs explain'
import json, subprocess, sys
kinfs, source, name = sys.argv[1:]
data = json.load(open(name))
rows = data['passages']['rows']
assert len(rows) >= 3, len(rows)
pairs = set()
for row in rows:
    members = next(c for c in data['clusters']['rows'] if c['cluster'] == row['cluster'])['members']
    assert row['a'] == members[0]['path'] and row['b'] == members[row['member']]['path']
    pairs.add((row['a'], row['b']))
    if 'a_bytes' in row or 'b_bytes' in row:
        continue
    told = json.loads(subprocess.check_output([kinfs, 'explain', '--json', f"{source}/{row['a']}", f"{source}/{row['b']}"]))
    for key in ('words_a', 'words_b', 'shared_words_a', 'shared_words_b', 'shared_a', 'shared_b'):
        assert told[key] == row[key], (key, told[key], row[key])
    assert row['n_passages'] == len(told['passages']) and len(row['passages']) == min(8, row['n_passages'])
    for short, whole in zip(row['passages'], told['passages']):
        for side in 'ab':
            assert whole[side]['text'].startswith(short[side]['text']) and len(short[side]['text'].encode()) <= 480
            assert {**whole[side], 'text': 0} == {**short[side], 'text': 0}
    assert row['runs'] == [[p['a']['word'], p['b']['word'], p['words']] for p in told['passages']]
assert len(pairs) == len(rows)
E2
"$KINFS" report --passages=0 -o none.html "$MNT"
data none.html > none
grep -q '"passages": {"rows": \[\]' none || fail '--passages=0 shows some'
! grep -q word10001 none.html || fail 'what documents say is on a page without passages'
grep -q word10001 report.html || fail 'nothing of what documents say is on the page'

# -- less of all --

"$KINFS" report --clusters=1 --members=3 --passages=1 -o less.html "$MNT"
data less.html > less
python3 - << 'E2' || fail 'less is not what was asked for'
import json
less, all = json.load(open('less')), json.load(open('data'))
assert less['all'] == all['all'] and less['types'] == all['types']
rows = less['clusters']['rows']
assert len(rows) == 1 and less['clusters']['left_out'] == all['clusters']['all'] - 1
first = all['clusters']['rows'][0]
assert rows[0]['cost'] == first['cost'] and len(rows[0]['members']) == 3
assert rows[0]['members'][0]['path'] == first['members'][0]['path']
assert len(rows[0]['pairs']) == 3 and len(less['passages']['rows']) == 1
E2

# -- where it goes --

"$KINFS" report -o - "$MNT" | sed 's/"time":"[^"]*"//' > printed
sed 's/"time":"[^"]*"//' report.html | cmp - printed || fail 'on standard output it is another page'
echo mine > mine
expect_code 3 "$KINFS" report -o mine "$MNT"
expect_match 'what is there stays' 'mine: there, and not made by this command; .*--force' "$OUT"
expect_equal 'what is there' mine "$(cat mine)"
ln -s "$SCRATCH/mine" link
expect_code 3 "$KINFS" report -o link "$MNT"
expect_match 'a link' 'link: there, and no regular file' "$OUT"
mkfifo fifo
expect_code 3 "$KINFS" report -o fifo "$MNT"
expect_code 3 "$KINFS" report --force -o . "$MNT"
expect_code 3 "$KINFS" report --force -o a/ "$MNT"
expect_code 3 "$KINFS" report -o nowhere/report.html "$MNT"
expect_match 'which directory' 'nowhere: No such file' "$OUT"
expect_code 2 "$KINFS" report "$MNT"
expect_code 2 "$KINFS" report --clusters=0 -o x.html "$MNT"
expect_code 3 "$KINFS" report -o x.html /nowhere
[[ ! -e x.html ]] || fail 'a page of nothing'
"$KINFS" report --force -o link "$MNT"
[[ -f link && ! -L link ]] || fail 'the link is there still'
expect_equal 'what it led to' mine "$(cat mine)"
# It has what others may not read, so it is for its user alone, whatever page was there: that may be one which somebody else put there.
: > blank
(umask 022 && "$KINFS" report -o blank "$MNT")
expect_equal 'its mode' '600 600' "$(stat -c %a blank link | xargs)"
chmod 644 blank
(umask 077 && "$KINFS" report -o blank "$MNT")
expect_equal 'in the place of one that others could read' 600 "$(stat -c %a blank)"
chmod 666 blank
(umask 0 && "$KINFS" report --force -o blank "$MNT")
expect_equal 'the same, by force' 600 "$(stat -c %a blank)"
printf '%s\n' mine > other
chmod 644 other
"$KINFS" report --force -o other "$MNT"
expect_equal 'the mode of what is no page' 600 "$(stat -c %a other)"
if [[ $EUID = 0 ]] && command -v setpriv > /dev/null; then
    chmod 711 .
    mkdir shared
    chown 0:54321 shared
    chmod 2775 shared
    setfacl -d -m u:54322:rwx shared 2> /dev/null || true
    "$KINFS" report -o shared/page.html "$MNT"
    chmod 640 shared/page.html
    "$KINFS" report -o shared/page.html "$MNT"
    for who in "--reuid=54321 --regid=54321" "--reuid=54322 --regid=54322"; do
        # shellcheck disable=SC2086 # two words
        ! setpriv $who --clear-groups cat shared/page.html > /dev/null 2>&1 || fail "$who reads a page that is root's"
    done
    [[ -s shared/page.html ]] || fail 'no page in a directory of a group'
fi
if [[ $EUID = 0 ]]; then
    chmod 666 link
    chown 54321 link
    "$KINFS" report -o link "$MNT"
    expect_equal "the mode of another user's page" '600 0' "$(stat -c '%a %u' link)"
    # A directory may be reached by one's own links, and by nobody else's.
    mkdir elsewhere
    ln -s elsewhere own
    ln -s "$SCRATCH/elsewhere" his-link
    chown -h 54321 his-link
    expect_code 0 "$KINFS" report -o own/page.html "$MNT"
    rm elsewhere/page.html
    for command in 'report -o his-link/page.html' 'map 1 -o his-link/page.svg'; do
        # shellcheck disable=SC2086 # words
        expect_code 3 "$KINFS" $command "$MNT"
        expect_equal "$command: one line" "kinfs: the symbolic link $SCRATCH/his-link belongs to user 54321, who can have it lead anywhere; name the directory without it" "$OUT"
    done
    expect_equal 'where it led to' '' "$(ls -A elsewhere)"
fi
if [[ -w /dev/full ]]; then
    code=0
    "$KINFS" report -o - "$MNT" > /dev/full 2> said || code=$?
    expect_equal 'no room' 3 "$code"
    expect_match 'no room' 'cannot write the output' "$(cat said)"
fi
if [[ $EUID = 0 ]] && mkdir small && mount -t tmpfs -o size=16k none small 2> /dev/null; then
    trap 'umount "$SCRATCH/small"' EXIT
    expect_code 3 "$KINFS" report -o small/report.html "$MNT"
    expect_match 'no room' 'small/report.html: cannot be written: No space' "$OUT"
    expect_equal 'nothing is left' '' "$(ls -A small)"
fi

# -- who may ask --

if [[ $EUID = 0 ]] && command -v setpriv > /dev/null; then
    chmod 711 .
    mkdir -m 777 his
    expect_code 3 setpriv --reuid=54321 --regid=54321 --clear-groups env HOME="$SCRATCH/his" "$KINFS" report -o his/report.html "$MNT"
    expect_equal 'one line' 1 "$(wc -l <<< "$OUT")"
    expect_equal 'nothing is left' '' "$(ls -A his)"
fi
stop

# -- without a mount, and what others have put in the place of documents --

counts "$SOURCE"
python3 -c 'import json
a, b = json.load(open("mounted")), json.load(open("data"))
a["about"]["time"] = b["about"]["time"]
assert a == b' || fail 'without a mount it is another page'
mkdir secret
words 10000 400 > secret/f1-v5
words 10000 400 > secret/f1-v0
echo 'known to nobody else' | tee -a secret/f1-v5 secret/f1-v0 > /dev/null
seq -f 'secretword%.0f' 500 | tee secret/f1-v5 > secret/f1-v0
mv "$SOURCE/a" "$SOURCE/moved"
ln -s "$SCRATCH/secret" "$SOURCE/a"
rm "$SOURCE/f1-v5" "$SOURCE/b/f2-v3"
ln -s "$SCRATCH/secret/f1-v5" "$SOURCE/f1-v5"
mkfifo "$SOURCE/b/f2-v3"
timeout 60 "$KINFS" report -o hostile.html "$SOURCE" || fail 'what is no document any more stops the report'
! grep -q secretword hostile.html || fail 'what a link leads to is on the page'

# -- a pair over which an extractor takes long --

rm "$SOURCE"/{a,f1-v5,b/f2-v3}
start
for i in 1 2; do { words 300000 20000; echo $i; } | "$LIB/documents/documents.py" pdf "$SOURCE/slow$i.pdf"; done
words 600000 600000 > long # 8 MB
for i in 1 2; do { cat long; echo $i; } | gzip -1 > "$SOURCE/long$i.gz"; done
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" report --passages=2 -o quick.html "$MNT"
data quick.html > quick
python3 -c 'import json
data = json.load(open("quick"))
first = [row["representative"][:4] for row in data["clusters"]["rows"]][:2]
assert first == ["long", "slow"], first
assert [row["a"][:4] for row in data["passages"]["rows"]][0] == "slow", data["passages"]' || fail 'what takes long is not the costliest'
printf '[extractor "application/pdf"]\ncommand = %s 1000\n' "$(readlink -f "$(command -v sleep)")" > slow.conf
timeout 25 "$KINFS" report --config=slow.conf --passages=2 -o slow.html "$MNT" || fail 'a pair takes the time of all'
data slow.html > slow
python3 -c 'import json
rows = json.load(open("slow"))["passages"]["rows"]
assert len(rows) == 2 and not any(row["a"][:4] in ("slow", "long") for row in rows), rows' || fail 'others are not shown'
stop
