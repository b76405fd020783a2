#!/usr/bin/env bash
# kinfs links: of a planted tree all links are found, with where they lead, which are missing and where those may be, and who links to a file; in all
# formats, packed, with odd names; and nothing that others put in a tree keeps it from ending.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

cat > model.py << 'E2'
import json, os, random, subprocess, sys
from urllib.parse import quote
kinfs = sys.argv[1]
def run(*arguments):
    done = subprocess.run([kinfs, "links", "--json", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in (0, 1) and not done.stderr, done
    assert (done.returncode == 1) == (not done.stdout), done
    return [json.loads(line) for line in done.stdout.splitlines()]
rng = random.Random(7)
WORDS = ["one", "two words", "three%20", "four#", "five?", "sechs-ä", "(seven)", "8&amp;", "nine'", 'ten"']
for trial in range(12):
    top = f"tree{trial}"
    directories = [""] + [f"{rng.choice(WORDS)}{n}/" for n in range(3)]
    directories += [above + f"{rng.choice(WORDS)}{n}/" for n, above in enumerate(directories)]
    names = [f"{rng.choice(directories)}{rng.choice(WORDS)} {n if rng.random() < .8 else 0}{rng.choice(('.md', '.html'))}" for n in range(25)]
    names = sorted(set(names))
    for directory in directories:
        os.makedirs(f"{top}/{directory}", exist_ok=True)
    bases = {}
    for name in names:
        bases.setdefault(os.path.basename(name), []).append(name)
    expected = []
    for name in names:
        lines = [] if name.endswith(".md") else ["<!DOCTYPE html><title>t</title>"]
        for _ in range(rng.randrange(6)):
            kind = rng.choice(("there", "there", "missing", "moved", "outside", "above", "self"))
            target = rng.choice(names)
            if kind == "moved":
                target = rng.choice(directories) + os.path.basename(target)
            if kind == "missing":
                target = f"{rng.choice(directories)}none {rng.random()}.html"
            if kind == "outside":
                url = f"https://example.org/{rng.random()}"
                row = {"state": "outside", "url": url}
            elif kind == "above":
                url = "../" * (name.count("/") + 1) + "x"
                row = {"state": "outside", "url": url}
            else:
                if kind == "self":
                    target, url = name, "#part"
                elif rng.random() < .2:
                    url = "/" + quote(target)
                else:
                    url = quote(os.path.relpath(target, os.path.dirname(name) or ".")) + rng.choice(("", "#part", "?q=1", "?q#p"))
                row = {"path": f"{top}/{target}", "state": "there" if target in names else "missing"}
                same = bases.get(os.path.basename(target), [])
                if row["state"] == "missing" and len(same) == 1:
                    row["found"] = f"{top}/{same[0]}"
            text = f"text {rng.randrange(1000)}"
            lines.append(f"see [{text}](<{url}>) there" if name.endswith(".md") else f'see <a href="{url}">{text}</a> there')
            expected.append({"document": f"{top}/{name}", "line": len(lines), "kind": "url", "target": url, "text": text, **row})
            lines.append("")
        with open(f"{top}/{name}", "w") as file:
            file.write("\n".join(lines))
    key = lambda row: (row["document"], row["line"])
    rows = run(f"--in={top}", top)
    assert sorted(rows, key=key) == sorted(expected, key=key), [(a, b) for a, b in zip(sorted(rows, key=key), sorted(expected, key=key)) if a != b][:1]
    assert run(f"--in={top}", "--broken", top) == [row for row in rows if row["state"] == "missing"]
    for target in rng.sample(names, 5) + [row["path"][len(top) + 1:] for row in rows if row["state"] == "missing"][:2]:
        assert run(f"--in={top}", "--to", f"{top}/{target}") == [row for row in rows if row.get("path") == f"{top}/{target}"], target
    # Without a tree paths begin at the root.
    for row in run(top):
        if row["target"].startswith("/"):
            assert row["state"] == "missing", row
        elif row["state"] == "there":
            assert os.path.exists(row["path"]) and row["path"].startswith("/"), row
E2
python3 model.py "$KINFS" || fail 'other links'

# For people: state, document:line, where it leads, where it may be.
mkdir -p d/man/man{1,3} d/sub
printf '.TH X 1\n.SH SEE ALSO\n.BR y (3),\n.BR z (3)\n' | gzip > d/man/man1/x.1.gz
: > d/man/man3/y.3
printf '#include "b.h"\n#include <stdio.h>\n#include "c.h"\n' > d/sub/a.c
: > d/b.h
printf 'Files:\n\nb.h   a header\nnone  there is none\n' > d/README
printf 'From: a@b\nDate: Mon, 1 Jan 2024 10:00:00 +0000\nIn-Reply-To: <i@x>\nMessage-ID: <j@x>\n\ntext\n' > d/mail
printf '[a](https://example.org/) [control](\033[31m) [b](b.h) [c](odd\\tname)\n' > d/e.md
expect_code 0 "$KINFS" links --in=d d
expect_equal 'all of them' "$(printf '%s\t%s\t%s\n' \
    there d/README:3 d/b.h outside d/e.md:1 https://example.org/ there d/e.md:1 d/b.h missing d/e.md:1 'd/odd\\tname' \
    outside d/mail:3 mid:i@x there d/man/man1/x.1.gz:3 d/man/man3/y.3 missing d/man/man1/x.1.gz:4 d/man/man3/z.3 \
    there d/sub/a.c:1 d/b.h outside d/sub/a.c:2 stdio.h missing d/sub/a.c:3 d/sub/c.h)" "$OUT"
expect_code 0 "$KINFS" links --in=d/ --to d/b.h
expect_equal 'to a file' 3 "$(wc -l <<< "$OUT")"
mv d/b.h d/man/b.h
expect_code 0 "$KINFS" links --in=d --broken d/sub/a.c
expect_equal 'it was moved' "$(printf 'missing\td/sub/a.c:%s\t%s\n' 1 $'d/sub/b.h\td/man/b.h' 3 d/sub/c.h)" "$OUT"
expect_code 0 "$KINFS" links --in=d --to --broken d/sub/b.h
expect_code 1 "$KINFS" links --in=d --to d/man/b.h

# What is none, and what cannot be read.
: > empty
expect_code 1 "$KINFS" links empty
expect_code 3 "$KINFS" links none
expect_match 'names it' 'none: no such file' "$OUT"
expect_code 3 "$KINFS" links --in=none empty
expect_code 3 "$KINFS" links --in=empty empty
expect_code 3 "$KINFS" links --in=d empty
expect_match 'is elsewhere' 'empty: is not below d' "$OUT"
expect_code 3 "$KINFS" links --in=d --to empty
expect_code 3 "$KINFS" links --in=d --to d/nowhere/x
expect_code 2 "$KINFS" links --to d/b.h
expect_code 2 "$KINFS" links
# A pipe is not opened, and a link that leads in a circle ends.
mkfifo d/pipe
ln -s circle d/circle
printf '[a](pipe) [b](circle) [c](circle/x) [d](%s)\n' "$(printf 'x/%.0s' {1..900})" > d/f.md
expect_code 0 timeout 60 "$KINFS" links --in=d d/f.md
expect_equal 'states' 'there missing missing missing' "$(cut -f 1 <<< "$OUT" | xargs)"

# Nor does a document end late whose names all lead through links that were made as long as can be.
mkdir -p slow/d
python3 - << 'E2'
import os
for i in range(39):
    last = f"l{i + 1}" if i < 38 else "d"
    os.symlink("d/../" * ((4080 - len(last)) // 5) + last, f"slow/l{i}")
open("slow/a.tex", "w").write("".join(f"\\input{{l0/x{i}}}\n" for i in range(2000)))
open("slow/b.md", "w").write("[a](b.md)\n")
E2
expect_code 0 timeout 300 "$KINFS" links --in=slow slow
expect_match 'says so' 'slow/a.tex: some links take too long' "$OUT"
expect_match 'goes on' $'there\tslow/b.md:1\tslow/b.md' "$OUT"
expect_code 1 timeout 300 "$KINFS" cluster --mode=haveliwala2000 --threads=1 slow
expect_match 'topics, too' 'slow/a.tex: some links take too long' "$OUT"

# Nothing is mounted for a name in a document, and no view of a mount of kinfs is asked.
mkdir -p auto/d/point
ln -s d/point auto/link
printf '[a](d/point/x) [b](link/y) [c](d/point) [d](d/none)\n' > auto/a.md
python3 "$LIB/file_systems/automounter.py" auto/d/point > asked 2>&1 &
automounter=$!
until [[ -s asked ]]; do sleep 0.1; done
if [[ $(< asked) = ready ]]; then
    expect_code 0 timeout 60 "$KINFS" links --in=auto auto/a.md
    expect_equal 'nobody knows better' 'there there there missing' "$(cut -f 1 <<< "$OUT" | xargs)"
    expect_equal 'unasked' ready "$(< asked)"
    ! ls auto/d/point/ 2> /dev/null || fail 'something was mounted'
    expect_equal 'others ask' $'ready\nasked' "$(sort -ru asked)"
    kill $automounter
    wait $automounter || :
    umount auto/d/point
fi
wait $automounter || :

# An automounter above the tree keeps nobody from knowing what is in it.
mkdir above
python3 "$LIB/file_systems/automounter.py" above ann > asked_above 2>&1 &
automounter=$!
until [[ -s asked_above ]]; do sleep 0.1; done
if [[ $(< asked_above) = ready ]]; then
    printf '[a](a.md) [b](none)\n' > above/ann/a.md
    expect_code 0 "$KINFS" links --in=above/ann above/ann/a.md
    expect_equal 'what is missing' 'there missing' "$(cut -f 1 <<< "$OUT" | xargs)"
    kill $automounter
    wait $automounter || :
    umount above/ann above
fi
wait $automounter || :
mkdir -p "$SOURCE"
ln -s .kinfs "$SOURCE/views"
printf '[a](.kinfs/none) [b](views/none) [c](none)\n' > "$SOURCE/a.md"
# The views at the top are no files of the tree, whose own of such a name is one, whatever has been looked at.
mkdir "$SOURCE/contains"
: > "$SOURCE/contains/c"
ln -s unique "$SOURCE/view"
printf '[%s](%s)\n' a similar b unique/a.md c clusters d contains/c e view/a.md f ../mnt/unique/a.md > "$SOURCE/b.md"
start
ls "$MNT"/{similar,clusters,unique,unique/a.md} > /dev/null
expect_code 0 "$KINFS" links --in="$MNT" "$MNT/b.md"
expect_equal 'of the tree' 'missing missing missing there missing outside' "$(cut -f 1 <<< "$OUT" | xargs)"
expect_code 0 "$KINFS" links "$MNT/b.md"
expect_equal 'of all' 'missing missing missing there missing missing' "$(cut -f 1 <<< "$OUT" | xargs)"
expect_code 0 "$KINFS" links --in="$MNT/unique" "$MNT/unique/b.md"
expect_equal 'the view itself' 'missing missing missing there missing outside' "$(cut -f 1 <<< "$OUT" | xargs)"
expect_code 0 "$KINFS" links --in="$MNT" "$MNT/a.md"
expect_equal 'not looked for' 'there there missing' "$(cut -f 1 <<< "$OUT" | xargs)"
stop
