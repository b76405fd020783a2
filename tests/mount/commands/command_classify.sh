#!/usr/bin/env bash
# kinfs classify: votes are those of what kinfs related finds, added up by class: a directory, or the value of an attribute.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
needs setfattr

cat > model.py << 'E2'
import json, os, random, subprocess, sys
kinfs, source, mount, what = sys.argv[1:5]
rng = random.Random(5)
def word(n):
    return "".join("bdkmqxz"[n // 7 ** i % 7] for i in range(6))
def text(subject):
    return " ".join(word(1000 * (subject + 1) + rng.randrange(40)) if rng.random() < .5 else word(rng.randrange(200)) for _ in range(150))
SUBJECTS = ("bees", "ships", "o\nd d")
documents = {f"shelf/{SUBJECTS[i % 3]}/{'deep/' * (i % 2)}{i:02}": i % 3 for i in range(36)} | {f"shelf/loose{i}": i % 3 for i in range(6)} | {f"in/{i}": i % 3 for i in range(9)}
if what == "make":
    for name, subject in documents.items():
        os.makedirs(os.path.dirname(f"{source}/{name}"), exist_ok=True)
        with open(f"{source}/{name}", "w") as file:
            file.write(text(subject))
        if name.startswith("shelf/"):
            os.setxattr(f"{source}/{name}", "user.subject", f"of {SUBJECTS[subject]}".encode())
    sys.exit()
def by_directory(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "shelf" and len(parts) > 2 else None
def by_attribute(path):
    return os.getxattr(f"{source}/{path}", "user.subject").decode() if path.startswith("shelf/") else None
# Numbers are printed with four decimals.
def rows(*command):
    done = subprocess.run([kinfs, *command], stdout=subprocess.PIPE)
    assert done.returncode in (0, 1), done
    return [json.loads(line) for line in done.stdout.splitlines()]
n_right = 0
for by, class_of in ((f"{mount}/shelf", by_directory), ("user.subject", by_attribute)):
    for limit in (3, 12):
        files = [f"{mount}/in/{i}" for i in range(9)]
        found = rows("classify", "--json", f"--by={by}", f"--limit={limit}", *files)
        for i, file in enumerate(files):
            votes, voters = {}, {}
            for row in rows("related", "--json", f"--limit={limit}", file):
                if c := class_of(row["path"]):
                    votes[c] = votes.get(c, 0) + row["resemblance"]
                    voters[c] = voters.get(c, 0) + 1
            mine = [row for row in found if row["path"] == file]
            assert [row["class"] for row in mine] == sorted(votes, key=lambda c: (-votes[c], c)), (mine, votes)
            for row in mine:
                assert row["documents"] == voters[row["class"]] and row["complete"]
                assert abs(row["share"] - votes[row["class"]] / sum(votes.values())) < 1e-3
            n_right += bool(mine) and SUBJECTS[i % 3] in mine[0]["class"]
assert n_right > 30, n_right  # of 36
E2
mkdir -p "$SOURCE"
python3 model.py "$KINFS" "$SOURCE" "$MNT" make
start -o topics=content
"$KINFS" settle "$MNT"
python3 model.py "$KINFS" "$SOURCE" "$MNT" test || fail 'others vote'
expect_match 'a line a class' $'^[01]\\.[0-9]{4}\tbees\t'"$MNT/in/0"$'(\n[01]\\.[0-9]{4}\t[a-z\\\\ ]+\t'"$MNT/in/0)*$" \
    "$("$KINFS" classify --by="$MNT/shelf" "$MNT/in/0")"
expect_equal 'one class a file' 'bees,ships,o\nd\ d' "$("$KINFS" classify -1 --by="$MNT/shelf" "$MNT"/in/[012] | cut -f 2 | paste -sd ,)"
expect_equal 'with NULs' $'o\nd d|'"$MNT/in/2|" "$("$KINFS" classify -0 -1 --by="$MNT/shelf" "$MNT/in/2" | tr '\0' '|')"
expect_equal 'a document in no tree' 'of ships' "$(cd "$MNT" && "$KINFS" classify -1 --by=user.subject --json - < in/1 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["class"])')"
expect_equal 'the whole tree has the classes' 'shelf' "$("$KINFS" classify -1 --by="$MNT" "$MNT/shelf/loose0" | cut -f 2)"

# Attributes that are no name of a class.
setfattr -n user.long -v "$(printf '%300s' x)" "$SOURCE"/shelf/*/*0*
setfattr -n user.empty -v '' "$SOURCE"/shelf/*/*0*
for name in long empty absent; do
    expect_code 1 "$KINFS" classify --by="user.$name" "$MNT/in/0"
    expect_equal "user.$name" '' "$OUT"
done
# One of three has a class: the code is that of those that have none.
printf 'other words altogether' > "$MNT/in/other"
"$KINFS" settle "$MNT"
expect_code 1 "$KINFS" classify -1 --by="$MNT/shelf" "$MNT/in/other" "$MNT/in/0"
expect_match 'and the others are told of' $'\tbees\t' "$OUT"

expect_code 2 "$KINFS" classify "$MNT/in/0"
expect_code 2 "$KINFS" classify --by="$MNT/shelf"
expect_code 3 "$KINFS" classify --by="$MNT/shelf/loose0" "$MNT/in/0"
expect_match 'no directory' 'loose0: not a directory; an attribute begins with user\.' "$OUT"
expect_code 3 "$KINFS" classify --by="$MNT/none" "$MNT/in/0"
expect_code 3 "$KINFS" classify --by="$MNT/shelf" "$MNT/none"
stop
mkdir -p elsewhere/shelf
"$KINFS" scan elsewhere > /dev/null
expect_code 3 "$KINFS" classify --by=elsewhere/shelf "$SOURCE/in/0"
expect_match 'of two trees' "in/0: not in the tree that elsewhere/shelf is in" "$OUT"
expect_equal 'without a mount' 'bees' "$("$KINFS" classify -1 --by="$SOURCE/shelf" "$SOURCE/in/0" | cut -f 2)"
"$KINFS" scan --topics=off "$SOURCE" > /dev/null
expect_code 3 "$KINFS" classify -1 --by="$SOURCE/shelf" "$SOURCE/in/0"
