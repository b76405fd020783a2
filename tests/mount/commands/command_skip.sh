#!/usr/bin/env bash
# The lists of kinfs skip have each backup tool leave out what unique/ does, whatever the names, and nothing else.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
needs restic borg rsync bsdtar rclone duplicity
names() { "$LIB/backup/hostile_names.py" "$@"; }

# -- every name, for every tool, of a store --
n=$(names make tree)
"$KINFS" scan tree > /dev/null
backup() { # FORMAT
    "$KINFS" skip --format="$1" tree > "$1.list" 2> "$1.said" || fail "$1: $(< "$1.said")"
    "$LIB/backup/backup.sh" "$1" "$SCRATCH/tree" "$SCRATCH/$1.list" "$SCRATCH/$1" > "$1.out" 2>&1 || fail "$1: $(cat "$1.out" "$1"/said)"
    names left tree "$1/restored/tree" "$1" "$1.said" || fail "$1: see above"
}
for format in restic borg rsync tar bsdtar rclone duplicity; do
    backup $format
done
"$KINFS" skip --format=plain0 tree > plain0.list
expect_equal 'paths' "$n" "$(tr -cd '\0' < plain0.list | wc -c)"
cp -a tree plain
sed -z "s:^$SCRATCH/tree/:plain/:" plain0.list | xargs -0 rm --
: > none.said
names left tree plain plain0 none.said
expect_equal 'what kopia cannot be told of' "$(names unsaid kopia)" "$("$KINFS" skip --format=kopia tree 2>&1 > kopia.list | grep -c 'cannot be said')"
expect_match 'a pattern of kopia' '(^|'$'\n'')/plain/st\\\*r('$'\n''|$)' "$(< kopia.list)"

# On a terminal no name says anything to it.
script -qec "'$KINFS' skip --format=restic tree; '$KINFS' skip --format=rsync tree" /dev/null < /dev/null | tr -d '\r' > typed
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' typed || fail 'control characters reach a terminal'
expect_equal 'lines on a terminal' $((2 * n)) "$(wc -l < typed)"

# -- of a mount: its rules, and what stands in for a document is in the backup, too --
mkdir -p "$SOURCE"/{a,b/c}
words 1 600 | tee "$SOURCE/a/first" "$SOURCE/a/equal" "$SOURCE/b/c/one" > "$SOURCE/b/two"
words 1 602 > "$SOURCE/a/version"
touch -d @1000000000 "$SOURCE/a/first"
touch -d @1000000001 "$SOURCE/b/c/one"
start -o near=1
"$KINFS" settle "$MNT" > /dev/null
expect_code 0 "$KINFS" skip --format=tar "$MNT"
expect_equal 'of all, equal ones alone' $'./a/equal\n./b/c/one\n./b/two' "$OUT"
expect_code 0 "$KINFS" skip --format tar "$MNT/b"
expect_equal 'of a directory without the one that stays' '' "$OUT"
expect_code 0 "$KINFS" skip --format restic "$MNT/a"
expect_equal 'as the mount has them' "$MNT/a/equal" "$OUT"
expect_code 0 "$KINFS" skip --format restic "$SOURCE/a"
expect_equal 'as the source has them' "$SOURCE/a/equal" "$OUT"
expect_code 0 "$KINFS" skip --format restic --as=/srv "$MNT/a"
expect_equal 'as the tool is told' /srv/equal "$OUT"
expect_equal 'of the working directory' /a/equal "$(cd "$SOURCE/a" && "$KINFS" skip --format rsync | tr -d '\0' | sed s:^:/a:)"
expect_match 'JSON' '"path": ?"a/equal".*"stand_in": ?"a/first".*"equal": ?true' "$("$KINFS" skip --json "$MNT/a")"
stop

# -- without a mount those of the configuration --
printf '[unique]\nnear = 0.9\nprefer = /b/c/\n' > conf
expect_code 0 "$KINFS" skip --format tar -c conf "$SOURCE"
expect_equal 'by the configuration' $'./a/equal\n./a/first\n./a/version\n./b/two' "$OUT"

for wrong in '' '--format zip' '--format tar --json' '--format tar --as=x'; do
    # shellcheck disable=SC2086 # words
    expect_code 2 "$KINFS" skip $wrong tree
done
expect_code 3 "$KINFS" skip --format tar tree/original
expect_match 'a document' 'original: no directory' "$OUT"
expect_code 3 "$KINFS" skip --format tar /
expect_match 'no tree' 'not in a tree kinfs knows' "$OUT"
