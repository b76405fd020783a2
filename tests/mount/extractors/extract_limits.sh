#!/usr/bin/env bash
# A12: a PDF of 100,000 pages and bombs in office documents are cut, or skipped with what is wrong, in bounded time and
# memory; so are documents that cannot be read; others do not wait for them.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"

# As the daemon does, with so many seconds, of which it reads for three quarters, and with 256 MiB.
extract() { # PROGRAM FILE TEXT SECONDS: prints the exit code
    # Into a pipe: it may write no files.
    {
        "$tools/kinfs-extract" "$BASHPID" "$4" 256 "$tools/kinfs-extract-$1" < "$2" 2> complaint && echo 0 > code ||
            echo $? > code
    } | cat > "$3"
    cat code
}

# A page is one line.
words 1000001 600000 | paste -sd '     \n' > lines
make pages pages.pdf < lines
expect_equal 'of too many pages for its time, what was read counts' 3 "$(extract pdf pages.pdf some 2)"
cmp -s some <(head -c "$(stat -c %s some)" lines) || fail 'not the first pages'
[[ $(wc -l < some) -gt 0 && $(wc -l < some) -lt 100000 ]] || fail "$(wc -l < some) pages in so little time"

# 200 million elements without a word, of which nothing is wrong.
make bomb-elements elements.docx < /dev/null
expect_equal 'of too many elements' 3 "$(extract office elements.docx some 6)"
expect_equal 'the words before them' 'some words first' "$(grep . some)"

cat > kinfs.conf << EOF
[extractor "application/pdf"]
command = $(realpath "$tools")/kinfs-extract-pdf
output = text
memory_mb = 256
output_mb = 1
EOF
mkdir -p "$SOURCE"
mv pages.pdf "$SOURCE"
head -c 1M lines > "$SOURCE/first.txt"
for kind in nested text attribute name entities; do
    make bomb-$kind "$SOURCE/$kind.docx" < /dev/null
done
words 1 200 > "$SOURCE/a.txt"
make encrypted-pdf "$SOURCE/encrypted.pdf" < "$SOURCE/a.txt"
make docx damaged.docx < "$SOURCE/a.txt"
head -c $(($(stat -c %s damaged.docx) / 2)) damaged.docx > "$SOURCE/damaged.docx"
make docx "$SOURCE/whole.docx" < "$SOURCE/a.txt"
start -o "config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null
expect_match 'of more than it may put out' 'extracted, cut' "$("$KINFS" status "$MNT/pages.pdf")"
# But for the last word, which is cut.
expect_match 'it is its first pages' '^(1\.0000|0\.99)' \
    "$("$KINFS" similar "$MNT/first.txt" | awk '$2 == "pages.pdf" { print $1 }')"
expect_equal 'an encrypted PDF' 'skipped: application/pdf: exit code 1: encrypted' "$(state encrypted.pdf)"
expect_match 'a damaged document' '^skipped: office: exit code 1: damaged: .' "$(state damaged.docx)"
for kind in nested text attribute name entities; do
    expect_match "a bomb: $kind" '^skipped: office: exit code 1: damaged: .' "$(state $kind.docx)"
done
expect_equal 'counted' 7 "$("$KINFS" status --json "$MNT" | sed -n 's/.*"skipped": *\([0-9]*\).*/\1/p')"
expect_equal 'others' '100-whole.docx' "$(ls "$MNT/similar/a.txt")"
stop
