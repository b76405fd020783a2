#!/usr/bin/env bash
# kinfs group prints of the paths of a search one of each cluster, as a model of it does from what kinfs clusters says; nothing that came is lost.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE/sub/deep" outside
for cluster in 1 2 3; do
    for ((n = 0; n < cluster + 2; n++)); do
        { words $((cluster * 1000)) 300; words $((9000 + 100 * cluster + 10 * n)) $((30 * n)); } > "$SOURCE/sub/$cluster-$n"
    done
done
cp "$SOURCE/sub/1-0" "$SOURCE/sub/deep/copy"
cp "$SOURCE/sub/2-1" "$SOURCE/sub/"$'odd\nname \xff\t'
words 20000 300 > "$SOURCE/alone"
words 30000 300 > outside/elsewhere
ln -s sub/1-1 "$SOURCE/link"
ln -s "$SOURCE/sub" outside/way
start
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" clusters --members --json "$MNT" > members
cd "$MNT"

# The model: paths, what they are in the tree, and what is to come out.
cat > "$SCRATCH/model.py" << 'E2'
import base64, json, os, random, subprocess, sys
kinfs, base, source, scratch = sys.argv[1:]
place = {}
for row in map(json.loads, open(f"{scratch}/members")):
    path = base64.b64decode(row["path_bytes"]) if "path_bytes" in row else row["path"].encode()
    place[path] = row
first = {}
for path, row in place.items():
    first.setdefault(row["cluster"], path)
base, source = os.fsencode(base), os.fsencode(source)
def in_tree(path):
    if not os.path.lexists(path):
        return None
    real = os.path.realpath(path)
    for top in (base, source):
        if real.startswith(top + b"/"):
            return real[len(top) + 1:]
    return None
def expected(paths):
    groups = {}
    for number, path in enumerate(paths):
        tree = in_tree(path)
        row = place.get(tree)
        groups.setdefault(row["cluster"] if row else (number,), []).append((path, tree, row))
    for members in groups.values():
        if members[0][2]:
            members.sort(key=lambda m: (m[1] != first[m[2]["cluster"]], -m[2]["resemblance"], len(m[1]), m[1]))
    return [[m[0] for m in members] for members in groups.values()]
def run(paths, *options):
    text = b"".join(path + b"\0" for path in paths)
    return subprocess.run([kinfs, "group", "-0", *options], input=text, stdout=subprocess.PIPE, check=True).stdout
names = [b"sub/%d-%d" % (c, n) for c in (1, 2, 3) for n in range(c + 2)]
names += [b"sub/deep/copy", b"sub/odd\nname \xff\t", b"alone", b"link", b"missing", b"sub", b"", b"sub/../sub/2-0", b"./sub//3-1",
          base + b"/sub/1-2", source + b"/sub/2-3", os.fsencode(scratch) + b"/outside/elsewhere", os.fsencode(scratch) + b"/outside/way/3-2",
          b"x" * 5000, b"missing/below", b"alone/below"]
names += [b"similar/sub/1-0/" + name for name in os.listdir(b"similar/sub/1-0")] if os.path.isdir(b"similar") else []
rng = random.Random(7)
for trial in range(8):
    paths = rng.choices(names, k=rng.randrange(1, 2 * len(names))) if trial else names
    groups = expected(paths)
    got = run(paths)
    assert got == b"".join(group[0] + b"\0" for group in groups), (paths, got, groups)
    got = run(paths, "--all")
    assert got == b"".join(b"".join(p + b"\0" for p in group) + b"\0" for group in groups), (paths, got, groups)
E2
model() {
    python3 "$SCRATCH/model.py" "$KINFS" "$MNT" "$SOURCE" "$SCRATCH"
}
model || fail 'in the mount it is not what the clusters say'
(cd "$SOURCE" && model) || fail 'in the source it is not what the clusters say'

# As lines, and as JSON; the first of a cluster says where it stands.
lines=$(printf '%s\n' sub/3-4 alone sub/1-1 none sub/3-0 sub/1-2)
expect_equal 'lines' "$("$KINFS" group -0 < <(tr '\n' '\0' <<< "$lines") | tr '\0' '\n')" "$("$KINFS" group <<< "$lines")"
expect_equal 'four lines' 4 "$("$KINFS" group <<< "$lines" | wc -l)"
expect_equal 'tabs' 6 "$("$KINFS" group --all <<< "$lines" | tr '\t' '\n' | wc -l)"
printf 'sub/odd\nname \xff\t\0sub/2-1' | "$KINFS" group -0 --json > "$SCRATCH/json"
python3 - "$SCRATCH" << 'E2' || fail 'JSON differs'
import base64, json, sys
rows = [json.loads(line) for line in open(f"{sys.argv[1]}/json")]
assert len(rows) == 1 and rows[0]["path"] == "sub/2-1" and isinstance(rows[0]["cluster"], int), rows
assert [base64.b64decode(other["path_bytes"]) for other in rows[0]["others"]] == [b"sub/odd\nname \xff\t"], rows
E2
expect_equal 'a search' "$(printf '%s\n' alone sub/1-0 sub/2-0 sub/3-0)" \
    "$(grep -rlZ word . --exclude-dir=similar --exclude-dir=clusters | "$KINFS" group -0 | tr '\0' '\n' | sed 's,^\./,,; s,\(sub/.\)-.$,\1-0,; s,sub/deep/copy,sub/1-0,' | sort)"

# With --min what is printed resembles all of its group so much, and none of the sixteen before it; by kinfs compare.
"$KINFS" group --min=0.8 --all < <(printf '%s\n' sub/3-*) > "$SCRATCH/tight"
expect_equal 'all are there' 5 "$(tr '\t' '\n' < "$SCRATCH/tight" | wc -l)"
leaders=()
ratio() { "$KINFS" compare --json "$1" "$2" | sed -n 's/.*"resemblance": *\([0-9.]*\).*/\1/p'; }
reaches() { awk -v ratio="$(ratio "$1" "$2")" 'BEGIN { exit !(ratio >= 0.8) }'; }
while IFS=$'\t' read -ra group; do
    for other in "${group[@]:1}"; do
        reaches "${group[0]}" "$other" || fail "$other is not so like ${group[0]}"
    done
    leaders+=("${group[0]}")
done < "$SCRATCH/tight"
((${#leaders[@]} > 1)) || fail 'one group alone'
for a in "${leaders[@]}"; do
    for b in "${leaders[@]}"; do
        [[ $a == "$b" ]] || ! reaches "$a" "$b" || fail "$a and $b are printed"
    done
done
expect_equal 'equal ones' $'sub/1-0\nsub/1-1' "$("$KINFS" group --min=1 < <(printf '%s\n' sub/deep/copy sub/1-1 sub/1-0))"

# Many paths take several requests: the same as few at a time; and leaders go on from one to the next.
many() { for ((n = 0; n < 3000; n++)); do printf '%s/./sub/3-%d\n' "$MNT/sub/.." $((n % 5)); done; }
expect_equal 'many' 1 "$(many | "$KINFS" group | wc -l)"
expect_equal 'many, with a least one' "${#leaders[@]}" "$(many | "$KINFS" group --min=0.8 | wc -l)"

# What is written is grouped at once.
{ words 1000 300; words 77 3; } > sub/new
expect_equal 'a new one' 1 "$(printf '%s\n' sub/1-0 sub/new | "$KINFS" group | wc -l)"
rm sub/new

# A cluster whose first members are too far down to have a path is a group all the same, of no representative: as many of them as somebody likes are
# not looked through for each request.
mkdir far
{ words 5000 300; words 5400 3; } > far/long
{ words 5000 300; } | tee far/b far/a > far/ccc
(
    cd -P far
    for ((n = 0; n < 260; n++)); do
        mkdir d
        cd -P d
    done
    for ((n = 0; n < 100; n++)); do cp "$MNT/far/long" "long$n"; done
)
rm far/long
"$KINFS" settle "$MNT"
far=$(printf '%s\n' far/ccc far/b far/a | "$KINFS" group --json)
expect_equal 'far' 1 "$(wc -l <<< "$far")"
expect_match 'far' '"path": *"far/a"' "$far"
expect_match 'far' '"resemblance": *null' "$far"

code=0
"$KINFS" group < /dev/null || code=$?
expect_equal 'no paths' 1 "$code"
expect_code 3 "$KINFS" group < <(printf 'a\0b\0')
expect_match 'NUL' 'read them by -0' "$OUT"
expect_code 2 "$KINFS" group sub
cd "$SCRATCH"
expect_equal 'of another tree' "$(printf '%s\n' sub/1-0 sub/1-1 | (cd "$MNT" && "$KINFS" group) | sed "s,^,$MNT/,")" \
    "$(printf "$MNT/%s\n" sub/1-0 sub/1-1 | "$KINFS" group --tree="$MNT")"
store=$("$KINFS" status --json "$MNT" | sed -n 's/.*"store": *"\([^"]*\)".*/\1/p')
expect_equal 'by the store' 1 "$(printf "$MNT/%s\n" sub/1-0 sub/1-1 | "$KINFS" group --store="$store" | wc -l)"
mkdir bound
if mount --bind "$MNT/sub" bound 2> /dev/null; then
    expect_equal 'in a bind mount' 1 "$(cd bound && printf '%s\n' 1-0 "$SCRATCH/bound/1-1" "$MNT/sub/1-2" | "$KINFS" group | wc -l)"
    umount bound
fi
stop

# Without a daemon the same.
(cd "$SOURCE" && model) || fail 'of a store it is not what the clusters say'
(cd "$SOURCE" && expect_equal 'many' 1 "$(many | sed "s,^$MNT,$SOURCE," | "$KINFS" group | wc -l)")
