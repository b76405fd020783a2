#!/usr/bin/env bash
# The lists of kinfs skip have each backup tool leave out what unique/ does, whatever the names, and nothing else; those of --keep have
# it take all else.
# Begins early: seven backup tools have thousands of names each.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
needs restic borg rsync bsdtar rclone duplicity
in_memory
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

# -- what stays, for the tools that take such a list --
for format in restic borg rsync tar bsdtar; do
    code=0
    "$KINFS" skip --keep --format=$format tree > keep-$format.list 2> keep-$format.said || code=$?
    expect_equal "what is said of a list of what stays for $format" "$([[ $format = borg ]] && echo 3 || echo 0)" $code
    "$LIB/backup/backup.sh" keep-$format "$SCRATCH/tree" "$SCRATCH/keep-$format.list" "$SCRATCH/keep-$format" > keep-$format.out 2>&1 ||
        fail "keep-$format: $(cat keep-$format.out keep-$format/said)"
    names kept tree keep-$format/restored/tree $format keep-$format.said || fail "keep-$format: see above"
done
grep -q 'tree/emptied: all that is in it is left out' keep-restic.said || fail 'a directory of which all is left out, and restic'
"$KINFS" skip --keep --format=plain0 tree > keep.list
expect_equal 'all and nothing twice' "$(find "$SCRATCH/tree" -mindepth 1 -print0 | sort -z | md5sum)" "$(sort -z keep.list plain0.list | md5sum)"

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
mkdir "$SOURCE/similar" "$SOURCE/b/none"
expect_equal 'what stays of a mount, without its views' './a ./a/first ./a/version ./b ./b/c ./b/none ./similar' \
    "$("$KINFS" skip --keep --format=tar "$MNT" | tr '\0' '\n' | paste -sd ' ')"
expect_equal 'and of one of its directories' '/srv/c /srv/c/one /srv/none /srv/two' \
    "$("$KINFS" skip --keep --format=plain0 --as=/srv "$MNT/b" | tr '\0' '\n' | paste -sd ' ')"
long=$(printf '%0240d' 0)
(cd "$SOURCE/b/none" && for i in {1..20}; do mkdir "$long" && cd -P "$long"; done && touch deepest)
expect_code 3 "$KINFS" skip --keep --format=rsync "$SOURCE/b"
expect_match 'what is too deep' 'kinfs: [^ ]*/b/none/[^ ]*: File name too long' "$OUT"
expect_match 'what is too deep, at the end' 'lacks 1 thing, named above' "$OUT"
expect_equal 'the rest of the list' 'c c/one none two' "$("$KINFS" skip --keep --format=rsync "$SOURCE/b" 2> /dev/null | tr '\0' '\n' | grep -v 0000 | cut -c 3- | paste -sd ' ')"
rm -r "$SOURCE/b/none" "$SOURCE/similar"
expect_match 'JSON' '"path": ?"a/equal".*"stand_in": ?"a/first".*"equal": ?true' "$("$KINFS" skip --json "$MNT/a")"

# -- a second backup reads what changed: of unique/, and by a list of one path more where it is told what to compare with --
export HOME=$SCRATCH RESTIC_PASSWORD=x RESTIC_REPOSITORY=$SCRATCH/repository
restic -q init
# read_anew ARGUMENT...: how many files restic reads.
read_anew() {
    restic backup --json "$@" | sed -n 's/.*"message_type":"summary","files_new":\([0-9]*\),"files_changed":\([0-9]*\),.*/\1+\2/p'
}
n=$(($(find "$MNT/unique" -type f | wc -l)))
cd "$MNT/unique"
expect_equal 'the first backup of unique/' "$n+0" "$(read_anew .)"
words 70000 200 > "$MNT/a/version"
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'after one edit: that, and the list of what is left out' 0+2 "$(read_anew .)"
cd "$SCRATCH"
keep() { "$KINFS" skip --keep --format=restic "$SOURCE" > keep.list; }
keep
n=$(tr '\0' '\n' < keep.list | wc -l)
expect_equal 'the first backup by a list' "$n+0" "$(read_anew --files-from-raw keep.list)"
words 80000 200 > "$MNT/a/more"
"$KINFS" settle "$MNT" > /dev/null
keep
parent=$(restic snapshots --json latest | sed 's/.*"short_id":"\([0-9a-f]*\)".*/\1/')
expect_equal 'by a list of one path more, told of the last one' 1+0 "$(read_anew --files-from-raw keep.list --parent "$parent")"
words 81000 200 > "$MNT/a/yet"
"$KINFS" settle "$MNT" > /dev/null
keep
expect_equal 'untold' "$((n + 2))+0" "$(read_anew --files-from-raw keep.list)"
stop

# -- without a mount those of the configuration --
printf '[unique]\nnear = 0.9\nprefer = /b/c/\n' > conf
expect_code 0 "$KINFS" skip --format tar -c conf "$SOURCE"
expect_equal 'by the configuration' $'./a/equal\n./a/first\n./b/two' "$OUT"

for wrong in '' '--format zip' '--format tar --json' '--format tar --as=x' '--keep --json' '--keep --format=rclone' '--keep'; do
    # shellcheck disable=SC2086 # words
    expect_code 2 "$KINFS" skip $wrong tree
done
expect_code 3 "$KINFS" skip --format tar tree/original
expect_match 'a document' 'original: no directory' "$OUT"
expect_code 3 "$KINFS" skip --format tar /
expect_match 'no tree' 'not in a tree kinfs knows' "$OUT"
