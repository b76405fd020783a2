#!/usr/bin/env bash
# The recipes do what they say: the commands of each page (docs/recipes/), with directories of the test's own.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs rsync
needs setfattr
PATH=$(dirname "$KINFS"):$PATH
recipes=$(dirname "$LIB")/../docs/recipes

# follow PAGE: runs its commands, those after a line "```sh", in order.
follow() {
    sed -n '/^```sh$/,/^```$/{/^```/!p}' "$recipes/$1" |
        sed "s:/srv/docs:$SOURCE:g; s:/mnt/docs:$MNT:g; s:/srv/class:$SCRATCH/class:g; s:/mnt/class:$SCRATCH/mounted_class:g; s:/\(backup\|restored\)/:$SCRATCH/\1/:g; s: /restored : $SCRATCH/restored :g; s: /restored\$: $SCRATCH/restored:" > "$1.sh"
    [[ -s $1.sh ]] || fail "$1 has no commands"
    bash -e "./$1.sh" > "$1.out" || fail "$1: $(cat "$1.out")"
}

mkdir -p "$SOURCE" "$MNT"

# -- a backup --
for i in {1..9}; do
    { words 1 1000; words $((i * 100 + 5000)) 5; } > "$SOURCE/version$i.txt"
done
words 20000 300 > "$SOURCE/contract.txt"
{ words 20000 300; echo signed; } > "$SOURCE/contract-signed.txt"
words 30000 300 > "$SOURCE/alone.txt"
mkdir "$SOURCE/copies" backup
cp "$SOURCE/alone.txt" "$SOURCE/copies/copy of alone.txt"
follow backup.md
expect_equal 'what is in the backup' 4 "$(find backup/docs -name '*.txt' | wc -l)"
for name in alone contract contract-signed; do
    cmp "$SOURCE/$name.txt" "backup/docs/$name.txt"
done
expect_equal 'what stays of nine versions' 1 "$(find backup/docs -name 'version*' | wc -l)"
cmp "$SOURCE/alone.txt" 'restored/copies/copy of alone.txt'
expect_match 'what was similar is named' $'similar\tversion' "$(cat backup.md.out)"
! mountpoint -q "$MNT" || fail 'it is still mounted'

# -- a tree rid of its copies --
rm -rf "${SOURCE:?}"/*
words 30000 300 | tee "$SOURCE/alone.txt" > "$SOURCE/copy of alone.txt"
{ words 30000 300; echo more; } > "$SOURCE/near.txt"
touch -d @1000000000 "$SOURCE/alone.txt"
touch -d @1000000001.5 "$SOURCE/copy of alone.txt"
HOME=$SCRATCH XDG_DATA_HOME='' follow tidy.md
expect_match 'what is planned, done and undone' $'keep\talone.txt\ntrash\tcopy[^\n]*\tequal\t.*\ntrashed\tcopy[^\n]*\nrestored\tcopy' "$(cat tidy.md.out)"
cmp "$SOURCE/alone.txt" "$SOURCE/copy of alone.txt"
expect_equal 'its time' 1000000001.5 "$(stat -c %.1Y "$SOURCE/copy of alone.txt")"

# -- grouping --
rm -rf "${SOURCE:?}"/*
for i in {1..5}; do
    { words 1 500; echo "deadline $i"; } > "$SOURCE/version$i"
done
{ echo deadline; words 40000 300; } > "$SOURCE/other"
words 50000 300 > "$SOURCE/without"
follow grouping.md
expect_equal 'one of each' 2 "$(grep -c '^\./' grouping.md.out)"
expect_match 'the single one' other "$(cat grouping.md.out)"
"$KINFS" umount "$MNT"

# -- who copied --
mkdir -p class/2025 class/2026
words 1 400 > class/2025/bob.txt
{ words 60000 80; words 1 320; } > class/2026/ada.txt
words 70000 400 > class/2026/eve.txt
words 80000 50 > class/task.txt
follow copied.md
expect_equal 'pairs: in all, and between the years' 2 "$(grep -c $'ada.txt\t.*bob.txt\|bob.txt\t.*ada.txt' copied.md.out)"
grep -q $'\t2026/ada.txt$' copied.md.out || fail 'who holds a part of a document'
! grep -q eve copied.md.out || fail 'who copied nothing is named'
grep -q '<html' pair.html || fail 'no page of the pair'

# -- a corpus --
for i in {1..8}; do
    printf '{"id": %d, "text": "%s"}\n' "$i" "$(words $((i / 2 * 1000)) 100 | tr '\n' ' ')"
done > crawl.jsonl
printf '{"id": 9, "text": "%s"}\n{"id": 10, "text": "%s"}\n' "$(words 1000 100 | tr '\n' ' ')" "$(words 90000 100 | tr '\n' ' ')" > new.jsonl
follow corpus.md
expect_equal 'kept' 5 "$(wc -l < kept.jsonl)"
expect_equal 'no line is lost' "$(sort crawl.jsonl)" "$(sort kept.jsonl dropped.jsonl)"
expect_equal 'of the new ones' '{"id": 10,' "$(cut -c 1-10 new-kept.jsonl)"
