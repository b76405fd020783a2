#!/usr/bin/env bash
# What is left out passes through and is no document: by default, by options and configuration, by ignore files, as they come,
# change, move and go. kinfs cluster says the same of the tree.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr

# Ten files of one text, each with the name of what is between; no other file resembles them.
files='keep.txt a/one.txt a/b/two.txt a/b/three.log .git/four x/.git/five a/six.txt~ .Trash-0/seven a/.eight.swp nine.iso'
for file in $files; do
    mkdir -p "$SOURCE/$(dirname "$file")"
    words 1 300 > "$SOURCE/$file"
done

# seen: those of the ten that resemble keep.txt, with it, by the index.
seen() {
    "$KINFS" settle "$MNT" > /dev/null
    { echo keep.txt; "$KINFS" similar --limit=0 "$MNT/keep.txt" | cut -f 2; } | sort | tr '\n' ' '
}

# clustered OPTION...: the same by the batch.
clustered() {
    "$KINFS" cluster "$@" "$SOURCE" | sed -n "s:.*\t$SOURCE/::p" | { grep -v ignore || true; } | sort | tr '\n' ' '
}

# expect_seen WHAT FILE...: by index and batch.
expect_seen() {
    local expected
    expected=$(printf '%s\n' "${@:2}" | sort | tr '\n' ' ')
    [[ $(seen) == "$expected" ]] || fail "$1: expected '$expected', got '$(seen)'"
    [[ $expected == *' '*' ' ]] || expected= # alone it is in no cluster
    [[ $(clustered --exclude='*.iso') == "$expected" ]] || fail "$1, by the batch: got '$(clustered --exclude='*.iso')'"
}

# What a rule of types or sizes leaves out is no document that could not be read, whichever count is asked.
mkdir plain
words 1 300 > plain/text
words 1 5 > plain/short
printf '<!DOCTYPE html><html><body>%s</body></html>' "$(words 400 300)" > plain/page
for rule in --min-size=100 --max-size=1K --exclude-type=html --type=html; do
    expect_match "$rule" '^[12] documents? in 0 clusters$' "$("$KINFS" scan "$rule" plain)"
    expect_match "$rule: status" '"skipped":0,' "$("$KINFS" status --json plain)"
    expect_match "$rule: check" '"skipped":0,' "$("$KINFS" check --json plain)"
    "$KINFS" check plain > /dev/null || fail "$rule: the store is not whole"
done
expect_equal 'no rule' '3 documents in 0 clusters' "$("$KINFS" scan -c /dev/null plain)"

start -o 'exclude=*.iso'
expect_seen 'by default and by an option' keep.txt a/one.txt a/b/two.txt a/b/three.log
expect_equal 'what is left out passes through' "$(words 1 300)" "$(cat "$MNT/nine.iso")"
expect_match 'and is said to be left out' 'skipped: left out' "$(getfattr --absolute-names --only-values -n user.kinfs.state "$MNT/nine.iso")"
expect_match 'below a directory, too' 'skipped: left out' "$(getfattr --absolute-names --only-values -n user.kinfs.state "$MNT/x/.git/five")"
expect_match 'with the reason' 'left out' "$("$KINFS" similar "$MNT/nine.iso" 2>&1 || true)"

printf 'b/\n' > "$MNT/a/.kinfsignore"
expect_seen 'an ignore file that is written through the mount' keep.txt a/one.txt
printf '*.log\n' > "$MNT/a/.kinfsignore"
expect_seen 'an ignore file that is changed' keep.txt a/one.txt a/b/two.txt
printf '!three.log\n!nine.iso\n' > "$SOURCE/a/b/.kinfsignore"
printf '!nine.iso\n!.git\n' > "$SOURCE/.kinfsignore"
expect_seen 'the nearest decides; options before all' keep.txt a/one.txt a/b/two.txt a/b/three.log .git/four x/.git/five
rm "$MNT/.kinfsignore"
expect_seen 'an ignore file that is removed' keep.txt a/one.txt a/b/two.txt a/b/three.log

printf '/a/b/\n' > "$MNT/.kinfsignore"
expect_seen 'by a path' keep.txt a/one.txt
mv "$MNT/a/b" "$MNT/b"
expect_seen 'moved to where it is not left out' keep.txt a/one.txt b/two.txt b/three.log
mv "$MNT/b" "$MNT/a/b"
expect_seen 'and back' keep.txt a/one.txt
mv "$MNT/a/one.txt" "$MNT/a/b/"
expect_seen 'a file moved there' keep.txt
mv "$MNT/a/b/one.txt" "$MNT/a/b/two.txt" "$MNT/x"
expect_seen 'files moved from there' keep.txt x/one.txt x/two.txt
mv "$MNT/x/one.txt" "$MNT/x/one.iso"
expect_seen 'a file that is given such a name' keep.txt x/two.txt
mv "$MNT/x/one.iso" "$MNT/x/one.txt"
expect_seen 'and another' keep.txt x/one.txt x/two.txt

sketched() { "$KINFS" status --json "$MNT" | sed -n 's/.*"sketched_documents": *\([0-9]*\).*/\1/p'; }
"$KINFS" settle "$MNT" > /dev/null
before=$(sketched)
words 5000 300 > "$MNT/more.iso"
mkdir "$MNT/x/CVS"
words 6000 300 > "$MNT/x/CVS/Entries"
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'what is left out is not read' "$before" "$(sketched)"
stop

# -- other rules at the next start --
start -o min_size=10,max_size=1K
expect_equal 'by size' 'keep.txt ' "$(seen)"
expect_match 'with the reason' 'longer than 1024 bytes' "$("$KINFS" similar "$MNT/keep.txt" 2>&1 || true)"
expect_equal 'by size, of the batch' '' "$(clustered --max-size=1K)"
printf 'short\n' > "$MNT/keep.txt"
"$KINFS" settle "$MNT" > /dev/null
expect_match 'shorter' 'shorter than 10 bytes' "$("$KINFS" similar "$MNT/keep.txt" 2>&1 || true)"
words 1 40 > "$MNT/keep.txt"
words 1 40 > "$MNT/keep2.txt"
expect_equal 'of a size again' 'keep.txt keep2.txt ' "$(seen)"
stop
words 1 300 > "$SOURCE/keep.txt"
rm "$SOURCE/.kinfsignore"
printf '[documents]\nexclude = /a/\nexclude = *.iso\nmin_size = 1\n' > conf
start -o config="$SCRATCH/conf"
expect_equal 'by the configuration' 'keep.txt x/one.txt x/two.txt ' "$(seen)"
expect_equal 'by the configuration, of the batch' "$(seen)" "$(clustered --config="$SCRATCH/conf")"
stop

# -- by their types: packed ones, too, those that were documents before, and by the batch --
page='<!DOCTYPE html><html><body><p>'
{ echo "$page"; words 1 300; } > "$SOURCE/page.txt"
gzip -c "$SOURCE/page.txt" > "$SOURCE/page.gz"
start -o 'exclude=*.iso'
expect_seen 'of any type' keep.txt x/one.txt x/two.txt page.txt page.gz a/b/three.log
stop
start -o 'exclude=*.iso,exclude_type=html,exclude_type=pdf'
expect_equal 'without a type' 'a/b/three.log keep.txt x/one.txt x/two.txt ' "$(seen)"
expect_match 'with the reason' 'its type is html' "$("$KINFS" similar "$MNT/page.gz" 2>&1 || true)"
expect_equal 'without a type, of the batch' "$(seen)" "$(clustered --exclude='*.iso' --exclude-type=html)"
cp "$SOURCE/page.txt" "$MNT/page2.txt"
expect_equal 'what comes' 'a/b/three.log keep.txt x/one.txt x/two.txt ' "$(seen)"
stop
start -o 'exclude=*.iso,exclude_type=pdf'
expect_seen 'of that type again' keep.txt x/one.txt x/two.txt page.txt page.gz page2.txt a/b/three.log
stop

# Of certain types alone; what is of another is read once, and not by each scan.
expect_code 0 "$KINFS" scan --exclude='*.iso' --type=text --type=table "$SOURCE"
of_type() { "$KINFS" similar --limit=0 "$SOURCE/keep.txt" | cut -f 2 | sort | tr '\n' ' '; }
expect_equal 'of a type' 'a/b/three.log x/one.txt x/two.txt ' "$(of_type)"
expect_match 'with the reason' 'its type is html' "$("$KINFS" similar "$SOURCE/page.gz" 2>&1 || true)"
expect_equal 'of a type, of the batch' 'a/b/three.log keep.txt x/one.txt x/two.txt ' "$(clustered --exclude='*.iso' --type=text)"
expect_equal 'what is opened again: directories' ' a x' "$("$LIB/callers/opened.py" "$SOURCE" "$KINFS" scan "$SOURCE")"
expect_equal 'likewise when it is said again' ' a x' "$("$LIB/callers/opened.py" "$SOURCE" "$KINFS" scan --exclude='*.iso' --type=text --type=table "$SOURCE")"
expect_code 0 "$KINFS" check "$SOURCE"
words 1 300 > "$SOURCE/page.gz"
expect_code 0 "$KINFS" scan "$SOURCE"
expect_equal 'one that is of such a type by now' 'a/b/three.log page.gz x/one.txt x/two.txt ' "$(of_type)"

# -- the store remembers them: for scans and rebuilds that are told none --
said() { "$KINFS" status "$SOURCE" | awk '!/^ /{on=0} /^rules/{on=1} on{sub(/^rules/,""); sub(/^ */,""); printf "%s ", $0}'; }
expect_equal 'what status says' 'exclude=*.iso type=text type=table ' "$(said)"
expect_match 'and in JSON' '"rules": ?\[ ?\{ ?"name": ?"exclude", ?"value": ?"\*\.iso" ?\}' "$("$KINFS" status --json "$SOURCE")"
before=$(of_type)
expect_code 0 "$KINFS" rebuild "$SOURCE"
expect_equal 'rebuilt' "$before" "$(of_type)"
expect_code 0 "$KINFS" check --repair "$SOURCE"
expect_code 0 "$KINFS" settle "$SOURCE"
expect_equal 'and followed' "$before" "$(of_type)"
start -o 'exclude= x/,min_size=1'
expect_equal 'another mount has its own' 'exclude=\ x/ min_size=1 ' "$(said)"
seen > /dev/null
expect_code 3 "$KINFS" scan --exclude=y "$MNT"
expect_match 'which a scan cannot change' 'is being followed already, by rules of its own' "$OUT"
stop
before=$(of_type)
expect_code 0 "$KINFS" rebuild "$SOURCE"
expect_equal 'rebuilt by those' "$before" "$(of_type)"
expect_equal 'which stay' 'exclude=\ x/ min_size=1 ' "$(said)"
printf '[documents]\nexclude = x/\n' > conf
expect_code 0 "$KINFS" rebuild -c conf "$SOURCE"
expect_equal 'a configuration that is named decides' 'a/b/three.log nine.iso page.gz page.txt page2.txt ' "$(of_type)"
expect_equal 'and stays' 'exclude=x/ ' "$(said)"
expect_code 0 "$KINFS" scan -c /dev/null "$SOURCE"
expect_equal 'or that has none' '' "$(said)"
store=$("$KINFS" status --json "$SOURCE" | sed -n 's/.*"store": *"\([^"]*\)".*/\1/p')
printf 'exclude' > "$store/rules"
expect_code 3 "$KINFS" rebuild "$SOURCE"
expect_match 'damaged ones' 'rules: not as it was written; remove it' "$OUT"
chmod a+w "$store/rules"
expect_code 3 "$KINFS" scan "$SOURCE"
rm "$store/rules"
mkdir other
words 1 50 > other/a
expect_code 0 "$KINFS" scan --exclude=b other
expect_code 0 "$KINFS" forget "$("$KINFS" status --json other | sed -n 's/.*"store": *"\([^"]*\)".*/\1/p')"
expect_code 2 "$KINFS" scan --type=pfd "$SOURCE"
expect_match 'a type' 'type=pfd: takes one of text, html' "$OUT"
rm "$SOURCE/page.txt" "$SOURCE/page2.txt" "$SOURCE/page.gz"

# -- more directories than are remembered --
documents() { "$KINFS" settle "$MNT" > /dev/null; "$KINFS" status --json "$MNT" | sed -n 's/.*"documents": *\([0-9]*\).*/\1/p'; }
start
before=$(documents)
stop
printf '/many/*/*/left\n' > "$SOURCE/.kinfsignore"
for ((i = 0; i < 70; i++)); do
    mkdir -p "$SOURCE/many/$i/"{0..69}
    touch "$SOURCE/many/$i/"{0..69}/{left,stays}
done
start
expect_equal 'of many directories' $((before + 1 + 70 * 70)) "$(documents)"
touch "$MNT/many/"{3,33,63}/{7,17}/{left2,stays2}
expect_equal 'and of more in them' $((before + 1 + 70 * 70 + 12)) "$(documents)"
stop

# -- refusals --
expect_code 2 "$KINFS" mount -o max_size=big "$SOURCE" "$MNT"
expect_match 'a size' 'max_size=big: takes a number of bytes' "$OUT"
expect_code 2 "$KINFS" mount -o exclude_type=pfd "$SOURCE" "$MNT"
expect_match 'a type' 'exclude_type=pfd: takes one of text, html' "$OUT"
printf '[documents]\nsize = 1\n' > conf
expect_code 2 "$KINFS" mount -o config="$SCRATCH/conf" "$SOURCE" "$MNT"
expect_match 'a name' 'conf:2: size: no such name; there are exclude' "$OUT"
expect_code 2 "$KINFS" cluster --exclude=x -
