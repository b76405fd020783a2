#!/usr/bin/env bash
# similar/ mirrors the tree, and each document in it is a directory of links to what resembles it.
. "${0%/mount/*}/lib/shell/mount.sh"

mkdir -p "$SOURCE/a/deep/er" "$SOURCE/b" "$SOURCE/empty"
words 1 100 > "$SOURCE/a/first"
words 11 100 > "$SOURCE/a/deep/er/second"
words 1 100 > "$SOURCE/b/first"
words 5000 100 > "$SOURCE/b/lonely"
: > "$SOURCE/b/nothing"
ln -s first "$SOURCE/a/link"
mkfifo "$SOURCE/a/pipe"
start
"$KINFS" settle "$MNT"

# Of 100 words each 96 windows of 5; 86 of them are shared, so of 106 in all: 0.811.
expect_equal 'links of a document' '081-second 100-first' "$(ls -C "$MNT/similar/a/first" | xargs)"
expect_equal 'target' '../../../a/deep/er/second' "$(readlink "$MNT/similar/a/first/081-second")"
expect_equal 'target from deeper down' '../../../../../b/first' \
    "$(readlink "$MNT/similar/a/deep/er/second/081-first~2")"
expect_equal 'the other of two equal names' '../../../../../a/first' \
    "$(readlink "$MNT/similar/a/deep/er/second/081-first")"
for link in "$MNT"/similar/a/first/*; do
    cmp -s "$link" "$(readlink -f "$link")" || fail "$link does not lead to its document"
    [[ $(readlink -f "$link") == "$MNT"/* ]] || fail "$link leads out of the mount"
done
cmp "$MNT/similar/a/first/100-first" "$MNT/b/first"
cmp "$MNT/.kinfs/similar/a/first/100-first" "$MNT/b/first"

# Listed: directories, and documents with kin. Found: every document, and nothing else.
expect_equal 'top' 'a b empty' "$(ls -C "$MNT/similar" | xargs)"
expect_equal 'directory with documents' 'deep first' "$(ls -C "$MNT/similar/a" | xargs)"
expect_equal 'without kin' 'first' "$(ls -C "$MNT/similar/b" | xargs)"
expect_equal 'a lonely document' '' "$(ls -A "$MNT/similar/b/lonely")"
expect_equal 'an empty document' '' "$(ls -A "$MNT/similar/b/nothing")"
expect_equal 'an empty directory' '' "$(ls -A "$MNT/similar/empty")"
for name in a/link a/pipe a/missing b/first/081-missing b/first/x; do
    [[ ! -e $MNT/similar/$name && ! -L $MNT/similar/$name ]] || fail "similar/$name is there"
done

# The tag is found, not listed.
for tag in "$MNT"/{similar,clusters,.kinfs/similar,.kinfs/clusters}/CACHEDIR.TAG; do
    expect_equal "$tag" 'Signature: 8a477f597d28d172789f06886806bc55' "$(head -n 1 "$tag")"
    expect_equal "size of $tag" "$(stat -c %s "$tag")" "$(wc -c < "$tag")"
done
[[ $(ls -A "$MNT/similar" "$MNT/clusters") != *CACHEDIR* ]] || fail 'CACHEDIR.TAG is listed'
[[ ! -e $MNT/similar/a/CACHEDIR.TAG ]] || fail 'a CACHEDIR.TAG below the top'

# Attributes are sane, and the inode number of a listing is that of stat(2).
expect_equal 'mode of a directory' '555 2' "$(stat -c '%a %h' "$MNT/similar/a/first")"
expect_equal 'mode of a link' '777 1' "$(stat -c '%a %h' "$MNT/similar/a/first/100-first")"
expect_equal 'length of a link' "$(readlink "$MNT/similar/a/first/100-first" | tr -d '\n' | wc -c)" \
    "$(stat -c %s "$MNT/similar/a/first/100-first")"
expect_equal 'time of a document' "$(stat -c %Y "$SOURCE/a/first")" \
    "$(stat -c %Y "$MNT/similar/a/first")"
for directory in similar similar/a similar/a/first .kinfs .kinfs/similar clusters; do
    expect_equal "inode numbers of $directory" \
        "$(cd "$MNT/$directory" && stat -c '%i %n' -- * | sort)" \
        "$(cd "$MNT/$directory" && find . -mindepth 1 -maxdepth 1 -printf '%i %P\n' | sort)"
    expect_equal "own inode number of $directory" "$(stat -c %i "$MNT/$directory")" \
        "$(ls -aif "$MNT/$directory" | awk '$2 == "." { print $1 }')"
done
expect_equal 'inode numbers are different' '' \
    "$(find "$MNT/similar" "$MNT/.kinfs/similar" -printf '%i\n' | sort | uniq -d)"

# Nothing in a view can be changed.
for command in "mkdir $MNT/similar/a/new" "touch $MNT/similar/new" "rmdir $MNT/similar/empty" \
    "rm $MNT/similar/a/first/100-first" "mv $MNT/a/first $MNT/similar/moved" \
    "mv $MNT/similar/a/first $MNT/moved" "ln -s x $MNT/clusters/x" \
    "ln $MNT/a/first $MNT/similar/hard" "chmod 700 $MNT/similar"; do
    ! $command 2> /dev/null || fail "could: $command"
done
cmp "$SOURCE/a/first" "$SOURCE/b/first"

# A directory larger than any buffer, with and without kin in turns.
mkdir "$MNT/many"
for i in $(seq 300); do
    words $((i % 2 ? 200000 : 300000 + 1000 * i)) 60 > "$MNT/many/a-rather-long-name-of-a-document-$i"
done
expect_equal 'a large directory' "$(seq 1 2 299)" \
    "$(ls "$MNT/similar/many" | sed 's/.*-//' | sort -n)"
expect_equal 'found in it' 150 "$(find "$MNT/similar/many" -mindepth 1 -maxdepth 1 -type d | wc -l)"
stop
