#!/usr/bin/env bash
# All that commands print with --json is in kinfs-json(5), of the type that stands there, and all that stands there is printed by one.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
export HOME=$SCRATCH/home XDG_DATA_HOME=
mkdir -m 700 trash
mkdir -p home seen "$SOURCE"/{sub,twin}
page=$LIB/../../docs/man/kinfs-json.5

# see CODE SECTION COMMAND...: adds what is printed to what was seen of the section. CODE is a pattern.
see() {
    local expected=$1 section=$2 code=0
    shift 2
    "$KINFS" "$@" > out 2> said || code=$?
    # shellcheck disable=SC2053
    [[ $code == $expected ]] || fail "$*: expected exit code $expected, got $code: $(cat out said)" 1
    cat out >> "seen/$section"
}
# sees CODE COMMAND...: of the section that has the command's name.
sees() { see "$1" "$2" "${@:2}" --json; }

# Near-duplicates, equal ones, names that are no UTF-8, what is short, what has no words, what cannot be read, a table.
bad=$'bad\xff'
for i in 1 2 3 4; do
    words $((i * 1000)) 300 > "$SOURCE/sub/$i"
    words $((i * 1000 + 6)) 300 > "$SOURCE/twin/$i"
done
cp "$SOURCE/sub/1" "$SOURCE/twin/$bad"
cp -p "$SOURCE/sub/2" "$SOURCE/sub/two"
words 1003 5 > "$SOURCE/tiny"
words 1010 250 > "$SOURCE/part"
: > "$SOURCE/empty"
truncate -s 65G "$SOURCE/too_long"
words 90000 300 > "$SOURCE/alone"
chmod -R go-w "$SOURCE"

# all_of TREE: what asks an index, with a mount or without.
all_of() {
    local tree=$1 option
    sees 0 settle "$tree"
    sees 0 scan "$tree"
    sees 0 status "$tree"
    sees 0 status "$tree/sub/1"
    sees 0 status "$tree/too_long"
    sees 0 similar -t 0.1 "$tree/sub/1"
    sees 0 similar --containing -t 0.1 "$tree/part"
    sees 0 similar --contained -t 0.1 "$tree/sub/1"
    sees 4 similar --containing -T "$tree" tiny_alone
    sees 0 passages "$tree/part"
    sees 0 related "$tree/sub/foxes"
    sees 0 classify --by="$tree" "$tree/sub/foxes"
    sees 0 topics "$tree"
    id=$("$KINFS" topics "$tree" | head -n 1 | cut -f 1)
    sees 0 topics --id="$id" "$tree"
    sees 0 topics --explain="$id" "$tree"
    sees 0 stopwords "$tree/sub"
    sees 0 copies --min=0.1 "$tree/part"
    sees 4 copies -T "$tree" tiny_alone
    sees 0 basis "$tree/sub/1" "$tree/twin/$bad"
    sees 4 basis -T "$tree" tiny_alone
    sees 0 clusters "$tree"
    sees 0 clusters --members "$tree"
    sees 0 clusters "$tree/sub/1"
    id=$("$KINFS" clusters "$tree" | awk 'NR == 1 { print $1 }')
    sees 0 clusters --explain="$id" "$tree"
    find "$tree/sub" "$tree/twin" "$tree/alone" -type f -print0 > paths
    sees 0 group -0 -T "$tree" < paths
    sees 0 pairs "$tree"
    sees 0 pairs --exact "$tree"
    sees 0 mirrors --min=0.1 --documents=2 "$tree"
    sees 0 lost "$tree/gone"
    sees 0 history "$tree/gone"
    sees 0 changes "$tree"
    sees 0 shingles "$tree"
    sees 0 compare "$tree/sub/1" "$tree/twin/1"
    sees 0 distinct "$tree/sub/1" "$tree/twin/1"
    sees 0 distinct --undo "$tree/sub/1" "$tree/twin/1"
    sees 0 skip "$tree"
    sees 0 check --deep "$tree"
    sees 0 stores
    for option in '' --do=trash '--do=trash --near' --do=link; do
        # shellcheck disable=SC2086
        sees 0 tidy $option "$tree"
    done
}
words 700000 5 > tiny_alone
echo 'Foxes hunt hens.' > "$SOURCE/sub/foxes"
python3 "$LIB/documents/subjects.py" "$SOURCE/subjects" 1
echo 'The hen and the fox' > "$SOURCE/sub/hens"
echo 'Geese fly far away.' > "$SOURCE/sub/geese"
start -o exclude=none,passages,topics=content,clusters=paper:broder1997,clusters=near:components:0.7
cp "$SOURCE/sub/1" "$MNT/gone"
expect_code 0 "$KINFS" settle "$MNT"
rm "$MNT/gone"
expect_code 0 "$KINFS" settle "$MNT"
all_of "$MNT"
# What becomes of clusters, until it is interrupted.
"$KINFS" watch --json --decay=0.1 "$MNT" > seen/watch &
watching=$!
soon 'it watches' grep -q watching seen/watch
cp "$SOURCE/sub/1" "$MNT/watched"
soon 'a document joins' grep -q '"joined".*watched' seen/watch
rm "$MNT/watched"
soon 'a document leaves' grep -q '"left"' seen/watch
kill -INT $watching
wait $watching
id=$("$KINFS" clusters --clustering=paper "$MNT" | awk 'NR == 1 { print $1 }')
sees 0 clusters --clustering=paper --explain="$id" "$MNT"
cp -a "$MNT/unique" copy
cat "$MNT/unique/.kinfs-skipped.tsv" > list
stop
all_of "$SOURCE"
start -o nosketch
sees 0 status "$MNT"
stop

# -- what is no question of an index --

for a in sub/1 empty; do
    for option in --exact --resample --sketch={bottom-k,broder1997,min-hash,super-shingles,super-shingles-1997,simhash,hamming} \
        '--sketch=hamming --within=50'; do
        for b in twin/1 sub/1 empty alone; do
            # shellcheck disable=SC2086,SC2102
            sees [01] compare $option --shingle=5 "$SOURCE/$a" "$SOURCE/$b"
        done
    done
done
mkdir english
cp "$SOURCE"/sub/[12] english
sees 0 scan --tokens=letters --stopwords=english --stemmer=english english
sees 0 compare --exact english/1 english/2
sees 0 explain "$SOURCE/sub/1" "$SOURCE/twin/1"
printf "<title>Foxes</title>Of hens <a href=hens%%20.html#x>the hens</a> and <a href=\"#y\">foxes</a>" > page
sees 0 bag page
mkdir -p linked/sub
: > linked/sub/two
printf '%s\n' '[a](sub/two) [b](two) [c](https://example.org/) [d](none)' > linked/a.md
sees 0 links --in=linked linked/a.md
sees 0 cluster "$SOURCE/sub" "$SOURCE/twin"
see 0 'cluster --costs' cluster --costs --json "$SOURCE/sub" "$SOURCE/twin"
cat said > 'seen/cluster --costs'
mkdir topics
for i in 1 2; do
    echo '<!DOCTYPE html><a href="here.html">bread flour oven</a> <a href="gone.html">bread flour oven</a>' > topics/$i.html
done
echo '<!DOCTYPE html><title>tree</title>' > topics/title.html
echo '<!DOCTYPE html><title>bread flour oven</title>' > topics/here.html
see 0 cluster cluster --mode=haveliwala2000 --costs --json topics
cat said > 'seen/cluster --mode=haveliwala2000 --costs'
printf '{"id":%s,"text":"a b c d e f g h i"}\n' 7 '"x"' null > corpus
printf '{"text":"m n o p q r s t u"}\n{"text":"own words of this one line alone"}\nno JSON\n' >> corpus
printf '{"text":"m n o p q r s t u"}\n' > before
see 0 'cluster --jsonl' cluster --jsonl --id-field=id --against=before corpus

# -- what changes something --

sees 1 restore-list list copy
sees 1 restore-list --apply list copy
sees 1 restore-list list copy
"$KINFS" tidy --json --do=trash --near "$SOURCE" > plan
touch -d @7 "$SOURCE/twin/2"
sees 1 tidy --apply plan --trash="$SCRATCH/trash"
sees 0 tidy --undo plan.undo
sees 0 rebuild "$SOURCE"
db=$(echo "$KINFS_STATE_DIR"/*source/db)
rm "$db"/*.sst
sees 1 check "$SOURCE"
sees 0 check --repair "$SOURCE"

# -- the page --

printf '%s\t%s\t%s\n' > rare \
    status 'clusterings[].error' 'the disk of the store is full' \
    status limits 'mounted by a user' \
    status watch_why 'watched as well as can be' \
    passages incomplete 'more than a thousand documents have passages of one' \
    passages file 'likewise' \
    related incomplete 'words are counted' \
    topics incomplete 'topics are made' \
    watch from 'clusters come together' \
    watch missed 'more than 8 MiB of changes at once' \
    check 'findings[].path' 'rows that do not agree, of which unit tests alone make any'
mapfile -t commands < <("$KINFS" --help | sed -nE 's/^  ([^ ]+) .*/\1/p' | while read -r command; do
    ! "$KINFS" "$command" --help | grep -e --json > /dev/null || echo "$command"
done)
expect_equal 'all commands have --json, but for what becomes a daemon' 'mount' \
    "$(comm -23 <("$KINFS" --help | sed -nE 's/^  ([^ ]+) .*/\1/p' | sort) <(printf '%s\n' "${commands[@]}" | sort))"
mapfile -t printing < <(for command in "${commands[@]}"; do
    "$KINFS" "$command" --help | grep 'say in JSON what goes wrong' > /dev/null || echo "$command"
done)
says() { "$LIB/manual/json_page.py" "$1" seen rare "${printing[@]}"; }
expect_code 0 says "$page"
if command -v mandoc > /dev/null; then
    expect_code 0 mandoc -T lint -W warning "$page"
    expect_equal 'the page' '' "$OUT"
fi
# A page that says less, more or something else is found out.
breaks() { # WHAT SCRIPT: what is said of the page that the script of sed makes
    sed "$2" "$page" > other
    ! cmp -s "$page" other || fail "$2 changes nothing" 1
    expect_code 1 says other
    expect_match "$2" "$1" "$OUT"
}
breaks 'status: the page has no disk_bytes' '/^\.It Va disk_bytes/d'
breaks 'skip: size_in_bytes was never seen' 's/^\.It Va size Pq count/&\n.It Va size_in_bytes Pq count/'
breaks 'mirrors: share is no count' '/^\.Ss mirrors/,/^\.Ss/s/Va share Pq ratio/Va share Pq count/'
breaks 'group: cluster is no count: None' '/^\.Ss group/,/^\.Ss/s/Va cluster Pq count or null/Va cluster Pq count/'
breaks 'tidy: the page has no path_bytes' '/^\.Ss tidy/,/^\.Ss/s/Va path , keep Pq path/Va path , keep Pq string/'
breaks 'no section of kinfs stores' '/^\.Ss stores/,/^\.El/d'

# What is said of the format is what is printed.
expect_match 'the format' "which is $(sed -n 's/.*"format": *\([0-9]*\).*/\1/p' seen/status | sort -u)\\." "$(cat "$page")"

# -- what goes wrong --

for command in "${commands[@]}"; do
    [[ $command != stores ]] || continue # asks about no path
    arguments=(nowhere)
    [[ $command != group ]] || arguments=(-T nowhere)
    [[ $command != report ]] || arguments+=(-o page)
    [[ $command != map ]] || arguments=(-o picture 7 nowhere)
    [[ $command != classify ]] || arguments+=(--by=user.subject)
    [[ $command != compare && $command != explain && $command != distinct && $command != restore-list ]] || arguments+=(nowhere)
    expect_code 3 "$KINFS" "$command" --json "${arguments[@]}" <<< nowhere
    python3 -c 'import json, sys; assert all(list(json.loads(line)) == ["error"] for line in sys.argv[1].splitlines())' "$OUT" ||
        fail "kinfs $command --json nowhere: $OUT"
done
