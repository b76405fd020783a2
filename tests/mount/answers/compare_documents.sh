#!/usr/bin/env bash
# PDF, office documents and books are compared, and clustered without an index, by their texts, as the index compares them; so are any
# two files, in a tree or in none.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"

mkdir -p tree
words 1 400 | paste -sd '   \n' > tree/lines
words 21 400 | paste -sd '   \n' > tree/later
for kind in pdf odt docx pptx xlsx epub; do
    make $kind tree/same.$kind < tree/lines
    make $kind tree/later.$kind < tree/later
done
make pdf tree/blank.pdf < /dev/null
make pdf tree/other.pdf <<< "$(words 9000 300)"

# Exact, by the words: 396 shingles each, 376 in both.
value() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
exact=0.9038 # 376 / 416
for kind in pdf odt docx pptx xlsx epub; do
    for b in later.$kind later; do
        expect_equal "exact, $kind and $b" "$exact" "$("$KINFS" compare --json --exact tree/same.$kind tree/$b | value resemblance)"
    done
    "$KINFS" compare --exact tree/same.$kind tree/lines > said
    expect_match "the text of $kind" '^resemblance +1\.0000 .*the same text $' "$(tr '\n' ' ' < said)"
    "$KINFS" compare --resample tree/same.$kind tree/lines > said
    expect_match "sketched anew, $kind" '^resemblance +1\.0000 .*the same text $' "$(tr '\n' ' ' < said)"
    expect_equal "any family, $kind" 1.0 "$("$KINFS" compare --json --sketch=min-hash tree/same.$kind tree/lines | value resemblance)"
done
expect_equal 'families' 10 "$("$KINFS" compare --sketch=help | wc -l)"
for family in $("$KINFS" compare --sketch=help | awk '{ print $1 }'); do # b is not a: by their bytes nothing would be the same
    "$KINFS" compare --json --sketch="$family" --shingle=3 tree/same.docx tree/same.pdf > row
    measure=$(value measure < row)
    expect_equal "$family" "$([[ $measure = distance ]] && echo 0.0 || echo 1.0)" "$(value "$measure" < row)"
done
expect_match 'within' 'at most 200 shingles' "$("$KINFS" compare --sketch=hamming --within=200 tree/same.pdf tree/later.odt)"
expect_equal 'no words, then bytes' 'True' "$(cp tree/blank.pdf twin.pdf; "$KINFS" compare --json --exact tree/blank.pdf twin.pdf | value same_content)"
# By the other route: what the index says of them.
"$KINFS" scan tree > scanned
estimate=$("$KINFS" compare --json tree/same.pdf tree/later.odt | value resemblance)
python3 -c "assert abs($estimate - $exact) < 6 * 0.026, $estimate" # of 128 samples
# What cannot be read is said to be so, and not compared by its bytes.
head -c 900 tree/same.docx > damaged.docx
expect_code 3 "$KINFS" compare --exact damaged.docx tree/same.docx
expect_match 'damaged' 'damaged.docx: cannot be read: office: ' "$OUT"

# Clusters of paths, and of a list, are those of the index.
"$KINFS" cluster tree | cut -f 1 | sort | uniq -c | awk '{ print $1 }' > sizes
expect_equal 'one cluster' 14 "$(< sizes)"
find tree -type f -print0 | "$KINFS" cluster - | wc -l > n
expect_equal 'of a list' 14 "$(< n)"
expect_equal 'equal texts' '7 7' "$("$KINFS" cluster -t 1 tree | cut -f 1 | uniq -c | awk '{ print $1 }' | xargs)"
expect_equal 'as by the index' "$("$KINFS" cluster --stored tree | wc -l)" 14
cp damaged.docx tree
code=0; "$KINFS" cluster tree > out 2> err || code=$?
expect_equal 'a damaged one is left out' 3 "$code"
expect_match 'and said to be' 'damaged.docx: office: .*; left out' "$(< err)"
expect_equal 'the others are there' 14 "$(wc -l < out)"

# One that is longer than any that is read is refused at once, by what it says of its length.
truncate -s 1T notread
for option in --exact --resample --sketch=min-hash; do
    expect_code 3 "$KINFS" compare $option notread tree/lines
    expect_equal "$option" 'kinfs: notread: longer than 64 GiB; name another' "$OUT"
done
expect_code 3 "$KINFS" cluster notread tree/lines
expect_equal 'cluster' $'kinfs: notread: longer than 64 GiB; left out\nkinfs: 1 of the documents could not be read' "$OUT"
expect_code 3 "$KINFS" similar --tree tree notread
expect_equal 'similar' 'kinfs: notread: cannot be sketched: longer than 64 GiB' "$OUT"
rm notread

# One that grows as fast as it is read is read as far as it went at first: the file stays 64 MiB ahead of all that the command has read.
cat > ahead <<'SCRIPT'
import os, subprocess, sys
file = os.open('growing', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
os.truncate(file, 1 << 20)
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
n_read = 0
while command.poll() is None and n_read < 1 << 30:
    try:
        n_read = int(open(f'/proc/{command.pid}/io').readline().split()[1])
    except (OSError, IndexError):
        pass # it has ended
    os.truncate(file, max(os.fstat(file).st_size, n_read + (64 << 20)))
command.kill()
print('endless' if n_read >= 1 << 30 else 'ended')
SCRIPT
for option in --exact --resample --sketch=min-hash; do
    expect_equal "growing, $option" 'ended' "$(python3 ahead "$KINFS" compare $option growing tree/lines)"
done
rm growing

# Those of the configuration.
mkdir notes
printf 'x y z\n1 2 3\n' | gzip > notes/a.gz
cat > reader <<'SCRIPT'
#!/bin/sh
echo one two three four five six seven
SCRIPT
chmod 755 reader
printf '\x00\x01\x02one' > notes/b.bin; printf '\x00\x01\x02two other bytes' > notes/c.bin
printf '[extractor "application/octet-stream"]\ncommand = %s/reader\noutput = text\n' "$PWD" > conf
expect_code 1 "$KINFS" cluster notes
expect_equal 'extractors of the configuration' 2 "$("$KINFS" cluster -c conf notes | wc -l)"
expect_match 'compared by them' '^resemblance +1\.0000' "$("$KINFS" compare -e -c conf notes/b.bin notes/c.bin)"
