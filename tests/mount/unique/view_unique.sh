#!/usr/bin/env bash
# unique/ has the tree without its near-duplicates: what is in it is the tree's own, its list says what is not, and a copy of it
# is whole.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 setfattr getfattr
UNIQUE=$MNT/unique
shown() { (cd "$UNIQUE" && find . -mindepth 1 ! -name .kinfs-skipped.tsv -printf '%P\n' | LC_ALL=C sort); }
skipped() { LC_ALL=C sort "$UNIQUE/.kinfs-skipped.tsv" | cut -f "$1"; }
older() { touch -d "@$((1000000000 + $1))" "$SOURCE/$2"; } # SECONDS FILE

mkdir -p "$SOURCE"/{a/deep,b}
words 1 600 > "$SOURCE/b/original"
words 1 600 > "$SOURCE/a/copy"
words 1 601 > "$SOURCE/a/deep/version"
words 1 700 > "$SOURCE/a/deep/other version" # by 0.86
words 5001 600 > "$SOURCE/alone"
for name in b/original a/copy a/deep/version 'a/deep/other version' alone; do
    older "$((n = ${n-0} + 1))" "$name"
done
: > "$SOURCE/a/empty"
: > "$SOURCE/a/empty too"
ln -s ../b/original "$SOURCE/a/symbolic link"
mkfifo "$SOURCE/a/fifo"
ln "$SOURCE/a/copy" "$SOURCE/b/linked copy"
ln "$SOURCE/b/original" "$SOURCE/a/linked original"
odd=$'odd \t\n\\ \xff\xfe name'
words 1 602 > "$SOURCE/$odd"
setfattr -n user.note -v 'a directory' "$SOURCE/a"
[[ $EUID != 0 ]] || chown 54321:54322 "$SOURCE/a/deep"
chmod 750 "$SOURCE/a/deep"

start
"$KINFS" settle "$MNT" > /dev/null
cat > expected << 'EOF'
a
a/deep
a/deep/other version
a/empty
a/empty too
a/fifo
a/linked original
a/symbolic link
alone
b
b/original
EOF
diff expected <(shown) > difference || fail "unique/ has other names: $(cat difference)"
size() { stat -c %s "$SOURCE/$1"; }
cat > expected << EOF
a/copy	b/original	1.0000	$(size a/copy)	equal
a/deep/version	b/original	0.9983	$(size a/deep/version)	similar
b/linked\\ copy	b/original	1.0000	$(size a/copy)	equal
odd\\ \\t\\n\\\\\\ \\377\\376\\ name	b/original	0.9967	$(size "$odd")	similar
EOF
# The one that stands in has two paths.
sed 's,\ta/linked\\ original\t,\tb/original\t,' "$UNIQUE/.kinfs-skipped.tsv" | LC_ALL=C sort > list
diff <(while IFS=$'\t' read -r name _ _ _ what _; do
    name=$(printf "${name//\\ / }")
    echo "$(stat -c '%04a %u %g' "$SOURCE/$name") $(($(date -r "$SOURCE/$name" +%s%N))) $([[ $what = similar ]] && echo - || sha256sum < "$SOURCE/$name" | cut -c 1-64) $(stat -c %i "$SOURCE/$name")"
done < list) <(cut -f 6- list | tr '\t' ' ' | sed 's/\.//') > difference || fail "of what is left out the list says: $(cat difference)"
cut -f 1-5 list > first
mv first list
diff expected list > difference || fail "the list says: $(cat difference)"
for name in a/copy 'b/linked copy' "$odd" 'a/deep/version' 'a/deep/none' .kinfs; do
    [[ ! -e $UNIQUE/$name ]] || fail "$name is found in unique/"
done

# The same inodes, attributes and bytes; and what a directory has.
while IFS= read -r -d '' name; do
    expect_equal "$name" "$(stat -c '%i %h %a %u %g %s %Y %Z %F' "$MNT/$name")" \
        "$(stat -c '%i %h %a %u %g %s %Y %Z %F' "$UNIQUE/$name")"
    expect_equal "$name, its attributes" "$(getfattr -hdm- "$MNT/$name" 2> /dev/null | tail -n +2)" \
        "$(getfattr -hdm- "$UNIQUE/$name" 2> /dev/null | tail -n +2)"
    [[ ! -f $MNT/$name ]] || cmp "$MNT/$name" "$UNIQUE/$name"
done < <(cd "$UNIQUE" && find . -mindepth 1 ! -name .kinfs-skipped.tsv -print0)
[[ $(stat -c %i "$UNIQUE") != "$(stat -c %i "$MNT")" ]] || fail 'the top is the root'
python3 - "$UNIQUE" << 'EOF' || fail 'a listing has other numbers than stat(2)'
import os, sys
for path, _, _ in os.walk(sys.argv[1]):
    for entry in os.scandir(path):
        assert entry.name == ".kinfs-skipped.tsv" or entry.inode() == entry.stat(follow_symlinks=False).st_ino, entry.path
EOF
expect_equal 'below .kinfs/' "$(shown)" "$(UNIQUE=$MNT/.kinfs/unique && shown)"
[[ $(ls "$MNT") != *unique* ]] || fail 'unique/ is listed though nobody asked for it'

# What is there may be written, and nothing be made or removed.
echo more >> "$UNIQUE/alone"
expect_equal 'what was written' more "$(tail -n 1 "$SOURCE/alone")"
for command in 'touch new' 'mkdir new' 'rm alone' 'mv alone new' 'ln alone new' 'rmdir b' 'ln -s a new'; do
    (cd "$UNIQUE" && ! $command 2> /dev/null) || fail "$command: was done"
done

# A copy is whole: of each name of the tree that it lacks, it has what stands in for it.
tar --exclude=fifo -C "$UNIQUE" -cf - . | (mkdir tarred && tar -C tarred -xf -)
copies=tarred
if command -v rsync > /dev/null; then
    rsync -aH --no-specials "$UNIQUE/" rsynced/
    copies+=' rsynced'
fi
if command -v restic > /dev/null; then
    export RESTIC_PASSWORD=secret RESTIC_CACHE_DIR=$SCRATCH/cache
    restic -q -r repository init
    (cd "$UNIQUE" && restic -q -r "$SCRATCH/repository" backup --exclude-caches .)
    restic -q -r repository restore latest --target restored
    copies+=' restored'
fi
for copy in $copies; do
    cmp "$UNIQUE/.kinfs-skipped.tsv" "$copy/.kinfs-skipped.tsv"
    expect_equal "files of $copy" "$(shown | grep -v fifo)" \
        "$(cd "$copy" && find . -mindepth 1 ! -name .kinfs-skipped.tsv ! -name fifo -printf '%P\n' | LC_ALL=C sort)"
    cmp "$copy/b/original" "$SOURCE/a/copy"
done

# What changes, in the mount or beside it, is at once as it is.
words 1 603 > "$MNT/a/new"
[[ ! -e $UNIQUE/a/new ]] || fail 'a new version is shown'
words 7001 600 > "$SOURCE/a/new"
[[ -e $UNIQUE/a/new ]] || fail 'what is no version any more is not shown'
exec 3>> "$MNT/a/copy"
[[ -e $UNIQUE/a/copy && -e "$UNIQUE/b/linked copy" ]] || fail 'what is open for writing is left out'
exec 3>&-
[[ ! -e $UNIQUE/a/copy ]] || fail 'what was open for writing is shown'
rm "$MNT/b/original" "$MNT/a/linked original"
[[ -e $UNIQUE/a/copy ]] || fail 'what stood in for it is gone, and it is not shown'
expect_equal 'the list' $'a/deep/version\nodd\\ \\t\\n\\\\\\ \\377\\376\\ name' "$(skipped 1)"
stop

# Who is preferred, who is kept, and another threshold; by options and by the configuration.
start -o near=0.8,representative=newest,views=unique:listed
"$KINFS" settle "$MNT" > /dev/null
[[ $(ls "$MNT") == *unique* && $(ls "$MNT") != *similar* ]] || fail 'views=unique:listed has other names'
expect_equal 'who stands in, of the newest' "$odd" "$(find "$UNIQUE" -name 'odd*' -printf '%P')"
expect_equal 'the list, at 0.8' 4 "$(skipped 1 | wc -l)"
setfattr -n user.kinfs.keep -v '' "$MNT/a/copy" || fail 'user.kinfs.keep cannot be set through the mount'
[[ -e $UNIQUE/a/copy ]] || fail 'what is to be kept is not shown'
expect_equal 'what is kept stands in' a/copy "$(skipped 2 | sed 's,b/linked\\ copy,a/copy,' | sort -u)"
setfattr -x user.kinfs.keep "$MNT/a/copy" || fail 'user.kinfs.keep cannot be removed through the mount'
stop
printf '[unique]\nnear = 0.8\nprefer = /a/deep/*other*\nprefer = alone\nrepresentative = largest\n' > kinfs.conf
start -o config="$SCRATCH/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'who is preferred' 'a/deep/other\ version' "$(skipped 2 | sort -u)"
stop
expect_code 2 "$KINFS" mount -o near=0.3 "$SOURCE" "$MNT"
expect_match 'near=0.3' 'takes a number from 0.5 to 1' "$OUT"
expect_code 2 "$KINFS" mount -o representative=best "$SOURCE" "$MNT"
expect_match 'representative=best' 'most-central' "$OUT"

# What the tree has in its root comes first.
mkdir "$SOURCE/unique"
words 1 600 > "$SOURCE/unique/file"
start
[[ -e $MNT/unique/file && ! -e $MNT/unique/alone && -e $MNT/.kinfs/unique/alone ]] || fail 'the tree has a directory unique/'
stop
