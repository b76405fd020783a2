#!/usr/bin/env bash
# topics/ has a directory for each topic that kinfs topics prints, with its words, its sub-topics and links to its documents; documents have the attributes.
# All of it is there where words of documents are kept, for root and the owner of the mount alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 getfattr

python3 "$LIB/documents/subjects.py" "$SOURCE"
echo 1984 > "$SOURCE/a/none"
attribute() { getfattr --only-values -n "user.kinfs.$1" "$2" 2> /dev/null || true; }

start
[[ ! -e $MNT/topics && ! -e $MNT/.kinfs/topics ]] || fail 'without words there is a view of them'
expect_equal 'no attributes' '' "$(for name in topic topic.size words; do attribute $name "$MNT/a/0.0.0"; done)"
stop

start -o topics=content
"$KINFS" settle "$MNT"
! ls "$MNT" | grep -q topics || fail 'it is listed'
expect_equal 'below .kinfs' 'clusters contains lost metrics query related similar topics unique within' "$(ls -A "$MNT/.kinfs" | sort | xargs)"
expect_equal 'a directory for each topic' "$("$KINFS" topics -n 0 "$MNT" | cut -f 1 | sort)" "$(ls "$MNT/topics" | sort)"
for topic in $(ls "$MNT/topics"); do
    directory=$MNT/topics/$topic
    [[ -z $(ls "$directory" | grep -v -- -) ]] || break
done
document=$MNT/$("$KINFS" topics --explain "$topic" -n 1 -0 "$MNT" | tr -d '\0')
expect_equal 'the topic of a document' "$topic" "$(attribute topic "$document")"
expect_equal 'what is in it' ".words $("$KINFS" topics -i "$topic" -n 0 "$MNT" | cut -f 1 | cut -d / -f 2 | sort | xargs)" \
    "$(ls -A "$directory" | grep -v -- - | sort | xargs)"
"$KINFS" topics --explain "$topic" -n 0 --json "$MNT" > explained
python3 - explained << 'E2' > expected
import json, sys
for member in json.load(open(sys.argv[1]))["documents"]:
    print(f"{int(member['resemblance'] * 100 + 1e-9):03}-{member['path'].split('/')[-1]}")
E2
expect_equal 'links to its documents' "$(sort expected)" "$(ls "$directory" | grep -- - | sort)"
expect_equal 'so many' "$(attribute topic.size "$document")" "$(wc -l < expected)"
expect_equal 'of one subject' 1 "$(ls "$directory" | sed -nE 's/^[0-9]+-([0-9]).*/\1/p' | sort -u | wc -l)"
expect_equal 'its words' "$("$KINFS" topics --explain "$topic" --words=10 -n 1 "$MNT" | sed -nE 's/^(words)?  *[0-9]+  ([a-z]+)$/\2/p' | xargs)" "$(cat "$directory/.words")"
expect_equal 'the same by an attribute' "$(cat "$directory/.words")" "$(attribute words "$directory")"
link=$(ls "$directory" | grep -- - | tail -n 1)
expect_match 'where a link leads' "^$MNT/[ab]/${link#*-}\$" "$(readlink -f "$directory/$link")"
expect_equal 'its state' 'current current' "$(attribute state "$MNT/topics") $(attribute state "$directory")"
expect_equal 'its size' "$(attribute topic.size "$document")" "$(attribute size "$directory")"
expect_equal 'its centre' "$(python3 -c 'import json; print(json.load(open("explained"))["centre"])')" "$(attribute representative "$directory")"
expect_match 'words of a document' '^[bdkmqxz]{6}( [bdkmqxz]{6}){9}$' "$(attribute words "$MNT/a/0.0.0")"
expect_equal 'of none' '' "$(for name in topic topic.size words; do attribute $name "$MNT/a/none"; done)"

# Sub-topics are directories like it, without such.
parts=$(ls "$directory" | grep -v -- - | xargs)
[[ -n $parts ]] || fail 'no sub-topics'
part=$directory/${parts%% *}
expect_equal 'without sub-topics' '.words' "$(ls -A "$part" | grep -v -- -)"
for link in $(ls "$part"); do
    [[ -e $part/$link && -e $(echo "$directory"/*-"${link#*-}") ]] || fail "$link is of the sub-topic, not of the topic"
done
[[ -n $(cat "$part/.words") ]] || fail 'a sub-topic without words'
for other in 0 "0$topic" "+$topic" x 99999999999999999999 .wordsx 100-nothing; do
    [[ ! -e $MNT/topics/$other && ! -e $directory/$other ]] || fail "$other is there"
done
[[ -f $MNT/topics/CACHEDIR.TAG ]] || fail 'a backup would take it'
expect_code 1 touch "$directory/new"

# As it is when all has been settled; an id leads on.
other=$(echo "$MNT"/b/[!${document##*/}]*.1 | cut -d ' ' -f 1)
cat "$document" > "$other.new"
echo 'and more' >> "$other.new"
mv "$other.new" "$other"
"$KINFS" settle "$MNT"
expect_equal 'a document that is rewritten' "$topic" "$(attribute topic "$other")"
ls "$directory" | grep -q -- "-${other##*/}\$" || fail 'its link'
stop
start -o topics=content,views=topics:listed
"$KINFS" settle "$MNT"
expect_equal 'listed' 'a b topics' "$(ls -A "$MNT" | sort | xargs)"
expect_equal 'the id stays' "$topic" "$(attribute topic "$document")"
stop

[[ $EUID = 0 ]] || exit 0
needs setpriv
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
chmod 755 "$SCRATCH"
start -o topics=content,allow_other,views=topics:similar:listed
"$KINFS" settle "$MNT"
link=$(ls "$directory" | grep -- - | tail -n 1)
[[ -n $link ]] || fail 'root sees it'
expect_equal 'a user is not shown it' 'a b similar' "$(as_user ls -A "$MNT" | sort | xargs)"
expect_equal 'nor below .kinfs' 'clusters contains metrics query similar within' "$(as_user ls -A "$MNT/.kinfs" | sort | xargs)"
# Alike, be it there or not.
for path in topics "topics/$topic" topics/17 "topics/$topic/.words" "topics/$topic/$link" "topics/$topic/17" topics/x .kinfs/topics ".kinfs/topics/$topic"; do
    expect_code 2 as_user ls "$MNT/$path/"
    expect_match "$path is refused" 'Permission denied' "$OUT"
    expect_equal "$path has no attributes" '' "$(as_user getfattr -d -m - "$MNT/$path" 2> /dev/null || true)"
    for name in size state words representative resemblance.mean; do
        expect_equal "$path has no $name" '' "$(as_user getfattr --only-values -n user.kinfs.$name "$MNT/$path" 2> /dev/null || true)"
    done
done
expect_code 1 as_user cat "$directory/.words"
for name in topic topic.size words; do
    expect_equal "nor has a document $name" '' "$(as_user getfattr --only-values -n user.kinfs.$name "$MNT/a/0.0.0" 2> /dev/null || true)"
done
expect_equal 'nor is it a clustering' '' "$(as_user getfattr --only-values -n user.kinfs.cluster..topics "$MNT/a/0.0.0" 2> /dev/null || true)"
expect_equal 'what resembles it is told' '' "$(as_user ls "$MNT/similar/a/2.0.0")"
