#!/usr/bin/env bash
# A12: PDF, office documents and books are compared by their text; one that cannot be read is skipped, and says why.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/documents.sh"

# Views wait for what was just written, but not as long as a slow machine may take to start so many programs.
settle() {
    "$KINFS" settle "$MNT" > /dev/null
}

mkdir -p "$SOURCE"
words 1 400 > "$SOURCE/text.txt"
# In lines of several words, as people write, and on several pages.
words 1 400 | paste -sd '   \n' > lines
for kind in pdf {,repacked-,zip64-}{odt,docx,pptx,xlsx,epub}; do
    make $kind "$SOURCE/same.$kind" < lines
done
words 21 400 | paste -sd '   \n' > later
make pdf "$SOURCE/later.pdf" < later
# In columns, whose lines end within words.
tr '\n' ' ' < lines | sed 's/\(word[0-9]* word[0-9]* word[0-9]* wo\)\(rd[0-9]*\) /\1-\n\2 /g' > broken
make columns-pdf "$SOURCE/columns.pdf" < broken
words 1 400 | sed 's/word/\xd1\x81\xd0\xbb\xd0\xbe\xf0\xa0\x80\x8b/' > "$SOURCE/other-letters.txt" # of two bytes, and of four
paste -sd '   \n' "$SOURCE/other-letters.txt" | make utf16-epub "$SOURCE/utf16.epub"
start
settle
for kind in pdf {,repacked-,zip64-}{odt,docx,pptx,xlsx,epub}; do
    expect_equal "$kind is its text" 1.0000 \
        "$("$KINFS" similar "$MNT/text.txt" | awk -v name="same.$kind" '$2 == name { print $1 }')"
done
expect_equal 'a book in UTF-16' $'1.0000\tutf16.epub' "$("$KINFS" similar "$MNT/other-letters.txt")"
[[ $("$KINFS" status "$MNT") != *unread* ]] || fail 'something is said to be missing'
expect_match 'a PDF is known for one' 'pdf' "$("$KINFS" status "$MNT/same.pdf")"
expect_match 'a book is known' 'epub' "$("$KINFS" status "$MNT/same.epub")"
expect_match 'a spreadsheet is known' 'office' "$("$KINFS" status "$MNT/same.xlsx")"
# 396 windows each, 376 of them shared: 376 of 416, within five standard errors of 128 samples.
expect_match 'another PDF resembles it' '^0\.(7[7-9]|[89])' \
    "$("$KINFS" similar "$MNT/text.txt" | awk '$2 == "later.pdf" { print $1 }')"

# But for the first of 100 broken words, before which none is: 391 of 401 windows.
expect_match 'two columns of broken words' '^(1|0\.9)' \
    "$("$KINFS" similar "$MNT/text.txt" | awk '$2 == "columns.pdf" { print $1 }')"

# Who asks what is contained in one is told by its sketch, and that it is; where it is in no tree it is read, and all is found.
words 101 200 > "$MNT/part.txt"
settle
expect_match 'what is contained in a PDF' $'\tpart.txt' "$("$KINFS" similar --contained -n 0 "$MNT/same.pdf" 2> why)"
expect_match 'by its sketch' 'parts of less than [0-9]+ shingles' "$(cat why)"
expect_match 'of a PDF in no tree' $'\tpart.txt' "$("$KINFS" similar --contained -n 0 -T "$MNT" "$SOURCE/same.pdf" 2> why)"
expect_equal 'all of it' '' "$(cat why)"
rm "$MNT/part.txt"

# Written through the mount, and written anew.
make docx "$MNT/new.docx" < lines
settle
expect_match 'written through the mount' 'new.docx' "$(ls "$MNT/similar/text.txt")"
words 9000 400 | make docx "$MNT/new.docx"
settle
[[ $(ls "$MNT/similar/text.txt") != *new.docx* ]] || fail 'a document written anew is compared by its old text'

# What cannot be read is skipped, with what is wrong with it; others are sketched all the same.
head -c 900 "$SOURCE/same.docx" > "$MNT/damaged.docx"
head -c 200 "$SOURCE/same.pdf" > "$MNT/damaged.pdf"
make encrypted "$MNT/encrypted.odt" < lines
words 1 400 > "$MNT/beside.txt"
settle
expect_match 'a damaged office document' '^skipped: office: exit code 1: damaged' "$(state damaged.docx)"
expect_match 'a damaged PDF' '^skipped: pdf: exit code 1' "$(state damaged.pdf)"
expect_match 'an encrypted one' '^skipped: office: exit code 1: encrypted' "$(state encrypted.odt)"
expect_match 'in the status' 'skipped.*pdf: exit code 1' "$("$KINFS" status "$MNT/damaged.pdf" | tr '\n' ' ')"
expect_equal 'counted' 3 "$("$KINFS" status --json "$MNT" | sed -n 's/.*"skipped": *\([0-9]*\).*/\1/p')"
expect_match 'others' 'beside.txt' "$(ls "$MNT/similar/text.txt")"
# Mended, it is a document like others.
make pdf "$MNT/damaged.pdf" < lines
settle
expect_equal 'mended' current "$(state damaged.pdf)"

# More than 64 MiB of text is cut, and what comes before counts; a PDF of no words is compared as bytes.
make bomb "$MNT/bomb.docx" < lines
make pdf "$MNT/blank.pdf" < /dev/null
settle
expect_match 'a bomb is cut' 'office, cut' "$("$KINFS" status "$MNT/bomb.docx")"
expect_match 'a bomb resembles what it begins with' 'bomb.docx' "$(ls "$MNT/similar/text.txt")"
expect_match 'no words' 'binary' "$("$KINFS" status "$MNT/blank.pdf")"

# Text that speaks of PDF is text.
{ words 1 400 && echo '%PDF-1.4'; } > "$MNT/about.txt"
expect_match 'about PDF' 'about.txt' "$(ls "$MNT/similar/text.txt")"
stop

# Without the programs they are bytes, and that is said.
rm -r "$KINFS_STATE_DIR"
KINFS_EXTRACT=/nonexistent start
settle
expect_match 'without programs' 'binary' "$("$KINFS" status "$MNT/same.pdf")"
expect_match 'which are missing' 'unread +pdf, office, epub: .*kinfs-extract-epub' "$("$KINFS" status "$MNT")"
expect_equal 'without programs none is like text' '' "$(ls "$MNT/similar/text.txt" | grep -E 'pdf|odt|docx|epub' || true)"
stop
