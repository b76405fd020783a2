#!/usr/bin/env bash
# kinfs topics: the topics of a tree, those of a topic, and what one is about; of now, with ids that stay; for root and the owner alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

python3 "$LIB/documents/subjects.py" "$SOURCE" 6
start
expect_code 3 "$KINFS" topics "$MNT"
expect_match 'no words are kept' 'mount it with -o topics=content, anchor or both, or kinfs scan --topics=content' "$OUT"
stop
start -o topics=content
"$KINFS" settle "$MNT"

# -- all of them --

"$KINFS" topics -n 0 "$MNT" > all
expect_match 'id, size, words, centre' $'^[1-9][0-9]*\t[1-9][0-9]*\t[bdkmqxz]{6}( [bdkmqxz]{6}){5}\t[ab]/[0-9.]+$' "$(head -n 1 all)"
expect_equal 'the largest first' "$(cut -f 2 all)" "$(cut -f 2 all | sort -rn)"
expect_equal 'as many as are wanted' "$(head -n 2 all)" "$("$KINFS" topics -n 2 "$MNT")"
expect_match 'with as many words' $'^[0-9]+\t[0-9]+\t[bdkmqxz]{6} [bdkmqxz]{6}\t[ab]' "$("$KINFS" topics -n 1 --words=2 "$MNT")"
expect_match 'or none' $'^[0-9]+\t[0-9]+\t\t[ab]' "$("$KINFS" topics -n 1 --words=0 "$MNT")"
expect_equal 'paths alone' "$(cut -f 4 all | sed "s|^|$MNT/|")" "$("$KINFS" topics -0 -a -n 0 "$MNT" | tr '\0' '\n')"
cat > model.py << 'E2'
import collections, json, subprocess, sys
kinfs, mount = sys.argv[1:]
def rows(*options):
    done = subprocess.run([kinfs, "topics", "--json", *options], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
seen, n_parts = {}, 0
topics = rows("-n", "0", mount)
for topic in topics:
    [explained] = rows("--explain", str(topic["topic"]), "-n", "0", mount)
    members = explained["documents"]
    assert len(members) == topic["size"] and explained["words"] == topic["words"] and explained["complete"]
    assert members[0] == {"path": topic["centre"], "resemblance": 1}, (members[0], topic)
    numbers = [member["resemblance"] for member in members]
    assert numbers == sorted(numbers, reverse=True) and abs(sum(numbers[1:]) / (len(numbers) - 1) - topic["resemblance_mean"]) < 2e-4
    # By words, as kinfs related has it.
    done = subprocess.run([kinfs, "related", "--json", "-n", "0", "-t", "0", f"{mount}/{topic['centre']}"], stdout=subprocess.PIPE, check=True)
    related = {row["path"]: row["resemblance"] for row in map(json.loads, done.stdout.splitlines())}
    assert all(abs(related.get(member["path"], 0) - member["resemblance"]) < 2e-4 for member in members[1:])
    for member in members:
        assert member["path"] not in seen
        seen[member["path"]] = topic["topic"]
    parts = rows("-i", str(topic["topic"]), "-n", "0", mount) if explained["subtopics"] else []
    assert [(part["subtopic"], part["size"]) for part in parts] == [(part["subtopic"], part["size"]) for part in explained["subtopics"]]
    for part in parts:
        [explained] = rows("--explain", f"{topic['topic']}/{part['subtopic']}", "-n", "0", mount)
        n_parts += 1
        parts_of = collections.Counter(member["path"][2:5] for member in explained["documents"])
        assert max(parts_of.values()) > .7 * part["size"], parts_of # of one part, but for what sketches take to be near
        assert len(explained["documents"]) == part["size"] and {member["path"] for member in explained["documents"]} <= {member["path"] for member in members}
subjects = {}
for path, topic in seen.items():
    assert subjects.setdefault(topic, path[2]) == path[2], (path, topic)
    assert rows(f"{mount}/{path}")[0]["topic"] == topic
assert len(seen) > 270 and len(set(subjects.values())) == 6 and n_parts > 6, (len(seen), subjects, n_parts)
E2
python3 model.py "$KINFS" "$MNT" || fail 'they are others'

# -- one, and errors --

topic=$(cut -f 1 all | head -n 1)
expect_match 'what it is about' $'^topic +'"$topic"$'\ndocuments +[0-9]+\ncentre +[ab]/[0-9.]+\nresemblance +mean 0\.[0-9]+ to the centre\nwords +[0-9]+  [bdkmqxz]+\n' \
    "$("$KINFS" topics --explain "$topic" "$MNT")"
expect_equal 'paths of its documents' "$("$KINFS" topics --explain "$topic" -n 3 "$MNT" | tail -n 3 | cut -f 2)" \
    "$("$KINFS" topics --explain "$topic" -n 3 -0 "$MNT" | tr '\0' '\n')"
expect_code 1 "$KINFS" topics --explain 17 "$MNT"
expect_match 'no such topic' 'no topic 17' "$OUT"
expect_code 1 "$KINFS" topics --explain "$topic/17" "$MNT"
expect_match 'no such sub-topic' "no topic $topic/17" "$OUT"
expect_code 1 "$KINFS" topics -i 17 "$MNT"
for wrong in --explain=x --explain=1/ --explain=/1 --id=1/2 --id=0 --words=101 '--id=1 --explain=1'; do
    expect_code 2 "$KINFS" topics $wrong "$MNT"
done
echo 1984 > "$MNT/none"
"$KINFS" settle "$MNT"
expect_code 1 "$KINFS" topics "$MNT/none"
"$KINFS" check --deep "$MNT" > /dev/null || fail 'it is not whole'
stop

# -- without a mount; ids stay, also where all is made anew --

expect_equal 'without a mount' "$(cut -f 1,2 all | sort)" "$("$KINFS" topics -n 0 "$SOURCE" | cut -f 1,2 | sort)"
"$KINFS" rebuild "$SOURCE" > /dev/null
"$KINFS" topics -n 0 "$SOURCE" | cut -f 1 | sort > anew
expect_equal 'of a store that was made anew' "$(cut -f 1 all | sort | head -n 3)" "$(cut -f 1 all | sort | head -n 3 | grep -Fxf - anew)"
"$KINFS" scan --topics=off "$SOURCE" > /dev/null
expect_code 3 "$KINFS" topics "$SOURCE"
