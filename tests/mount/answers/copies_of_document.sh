#!/usr/bin/env bash
# D7: kinfs copies names who holds a good part of a document, with the owner: partial, reformatted and extended copies, by their exact containment; mounted and
# not, of a document in the tree and beside it, as who asks may know.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
((EUID == 0)) || skip 'owners are given by root'
needs setpriv
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{alice,bob,closed}
words 1 8000 > "$SOURCE/ruling"
for share in 10 20 40 60 80 100; do # a part of it amid other words
    { words $((100000 * share)) 300; words 500 $((75 * share)); words $((100000 * share + 50000)) 300; } > "$SOURCE/alice/part-$share"
done
printf '<html><body><p>%s</p></body></html>' "$(words 1 8000 | tr a-z A-Z)" > "$SOURCE/bob/page.html"
gzip < "$SOURCE/ruling" > "$SOURCE/bob/packed.gz"
{ words 1 8000; words 9000000 20000; } > "$SOURCE/bob/longer"
{ words 1 4000; words 700000 20; words 4000 4000; } > "$SOURCE/bob/"$'odd\nname \xff'
cp "$SOURCE/ruling" "$SOURCE/closed/twin"
words 8000000 5000 > "$SOURCE/alice/other"
ln "$SOURCE/ruling" "$SOURCE/alice/linked"
chown -R 12345 "$SOURCE/alice"
chown -R nobody "$SOURCE/bob"
chown 12345 "$SOURCE/ruling"
chmod 700 "$SOURCE/closed"
start -o allow_other
"$KINFS" settle "$MNT"

"$KINFS" copies "$MNT/ruling" > lines
cat > model.py << 'E2'
import json, subprocess, sys
kinfs, top, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
names = [f"alice/part-{share}" for share in (10, 20, 40, 60, 80, 100)] + ["alice/other", "bob/page.html", "bob/packed.gz", "bob/longer", "bob/odd\nname \udcff", "closed/twin"]
exact = {}
for name in names:
    done = subprocess.run([kinfs, "compare", "--exact", "--json", f"{top}/ruling", f"{top}/{name}"], stdout=subprocess.PIPE, check=True)
    exact[name] = json.loads(done.stdout)["containment_ab"]
done = subprocess.run([kinfs, "copies", "--json", f"--min={least}", f"{top}/ruling"], stdout=subprocess.PIPE, check=True)
import base64
rows = [json.loads(line) for line in done.stdout.splitlines()]
got = {}
for row in rows:
    path = base64.b64decode(row["path_bytes"]).decode(errors="surrogateescape") if "path_bytes" in row else row["path"]
    assert path not in got, path
    got[path] = row
    owner = {"alice": (None, 12345), "bob": ("nobody", 65534), "closed": ("root", 0)}[path.split("/")[0]]
    assert (row["owner"], row["uid"]) == owner, row
    # 320 samples: four standard errors are less than 0.12.
    assert abs(row["containment"] - exact[path]) < 0.12, (row, exact[path])
for name, value in exact.items():
    assert name in got or value < least + 0.12, (name, value)
    assert name not in got or value >= least - 0.12, (name, value)
values = [row["containment"] for row in rows]
assert values == sorted(values, reverse=True), values
E2
for least in 0.05 0.3 0.7; do python3 model.py "$KINFS" "$MNT" "$least" || fail "others than the exact ones at $least"; done
for copy in alice/part-60 alice/part-80 alice/part-100 bob/page.html bob/packed.gz bob/longer 'bob/odd\\nname\\ \\377' closed/twin; do
    grep -q $'^[01][.][0-9]*\t[^\t]*\t'"$copy"'$' lines || fail "$copy is not there: $(< lines)"
done
! grep -q -e alice/linked -e $'\truling' -e other -e part-10$ lines || fail "what is no copy: $(< lines)"
grep -q $'\t12345\talice/part-100$' lines || fail 'an owner without a name'
grep -q $'\tnobody\tbob/page.html$' lines || fail 'the name of an owner'
expect_equal 'as kinfs similar has them' "$("$KINFS" similar --containing -n 0 -t 0.3 "$MNT/ruling")" "$(cut -f 1,3 lines)"
expect_equal 'with absolute paths' "$(cut -f 3 lines | sed "s,^,$MNT/,")" "$("$KINFS" copies -a "$MNT/ruling" | cut -f 3)"
expect_equal 'no more than' "$(head -n 2 lines)" "$("$KINFS" copies -n 2 "$MNT/ruling")"
expect_equal 'unescaped' 1 "$("$KINFS" copies -0 "$MNT/ruling" | grep -z -c $'^bob/odd\nname \xff$')"

# From beside the tree: what is in it is all among the answers; the file itself, by whatever name, is not.
cp "$SOURCE/ruling" asked
one_name() { sed 's,alice/linked$,ruling,' | sort; } # it has two
(cat lines; echo $'1.0000\t12345\truling') | sort > of_asked
"$KINFS" copies --tree "$MNT" asked | one_name | cmp - of_asked || fail 'of anywhere'
expect_equal 'standard input' "$("$KINFS" copies --tree "$MNT" asked)" "$("$KINFS" copies --tree "$MNT" - < asked)"
expect_equal 'a file of the tree is none of its copies' "$(< lines)" "$("$KINFS" copies --tree "$MNT" "$MNT/ruling")"
expect_equal 'by its path in the tree below the mount, too' "$(< lines)" "$("$KINFS" copies --tree "$MNT" "$SOURCE/ruling")"

# Another user is told of what he can list and read, of a file in the mount, or of his own.
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
expect_equal 'another user, in the mount' "$(grep -v closed lines)" "$(as_user "$KINFS" copies "$MNT/ruling")"
expect_equal 'another user, from beside it' "$("$KINFS" copies --tree "$MNT" asked | grep -v closed)" "$(as_user "$KINFS" copies --tree "$MNT" asked)"
expect_code 3 as_user "$KINFS" copies "$MNT/closed/twin"

# None; too short to tell; no documents.
expect_code 1 "$KINFS" copies "$MNT/alice/other"
words 55555555 20 > short
expect_code 4 "$KINFS" copies --tree "$MNT" short
expect_match 'too short' '^kinfs: short: too short to tell' "$OUT"
code=0
"$KINFS" copies --json --tree "$MNT" short > json || code=$?
expect_equal 'too short, as JSON' '4 False' "$code $(python3 -c 'import json; print(json.load(open("json"))["complete"])')"
expect_code 3 "$KINFS" copies "$MNT/alice"
expect_code 3 "$KINFS" copies "$MNT/not-there"
expect_code 3 "$KINFS" copies short
expect_code 2 "$KINFS" copies
expect_code 2 "$KINFS" copies a b
expect_code 2 "$KINFS" copies --min=2 "$MNT/ruling"
expect_code 2 "$KINFS" copies --json -0 "$MNT/ruling"

# Without a daemon.
stop
expect_equal 'of a store' "$(< lines)" "$("$KINFS" copies "$SOURCE/ruling")"
"$KINFS" copies --tree "$SOURCE" asked | one_name | cmp - of_asked || fail 'of a store, from beside the tree'
expect_equal 'of a store, a file of its tree' "$(< lines)" "$("$KINFS" copies --tree "$SOURCE" "$SOURCE/ruling")"
ln "$SOURCE/ruling" "$SCRATCH/outside"
expect_equal 'a link beside the tree to a file of it' "$(< lines)" "$("$KINFS" copies --tree "$SOURCE" "$SCRATCH/outside")"
