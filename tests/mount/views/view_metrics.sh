#!/usr/bin/env bash
# .kinfs/metrics has the numbers of `kinfs status` for a monitoring system, for root and the owner of the mount alone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
SOURCE=$SCRATCH/$'odd "\\ \n\xff source'
METRICS=$MNT/.kinfs/metrics

# One reading, by the rules of the format: HELP and TYPE before their samples, each family once and in one piece; labels with their escapes.
cat > parser.py << 'END'
import json, re, sys

def parse(text):
    families, family = {}, None
    assert text.endswith("\n") and "\r" not in text
    for line in text.splitlines() if "\u2028" not in text else text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            family, help_text = line[7:].split(" ", 1)
            assert family not in families and help_text, line
            families[family] = {"type": None, "samples": {}}
            continue
        if line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name == family and families[family]["type"] is None and not families[family]["samples"], line
            assert kind in ("gauge", "counter"), line
            assert (kind == "counter") == name.endswith("_total"), line
            families[family]["type"] = kind
            continue
        match = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? ([0-9]+)', line)
        assert match and match[1] == family and families[family]["type"], line
        labels = tuple((name, re.sub(r'\\(.)', lambda m: {"n": "\n"}.get(m[1], m[1]), value))
                       for name, value in re.findall(r'([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
        assert labels not in families[family]["samples"], line
        families[family]["samples"][labels] = int(match[3])
    assert all(family["samples"] for family in families.values())
    return families

def number(families, name):
    return families["kinfs_" + name]["samples"][()]

if __name__ == "__main__":
    families = parse(open(sys.argv[1], encoding="utf-8", newline="").read())
    status = json.load(open(sys.argv[2]))
    same = {"documents": "documents", "skipped_documents": "skipped", "clusters": "clusters", "clustered_documents": "clustered_documents",
            "repairing": "repairing", "pending_documents": "pending", "pending_scan_documents": "pending_scan",
            "pending_slow_documents": "pending_slow", "scanning": "scanning", "scan_done_documents": "scan_done",
            "scan_found_documents": "scan_found", "sketched_documents_total": "sketched_documents",
            "sketched_bytes_total": "sketched_bytes", "failed_writes_total": "failed"}
    for name, member in same.items():
        assert number(families, name) == int(status[member]), (name, number(families, name), status[member])
    assert number(families, "disk_bytes") > 0 and number(families, "store_errno") == 0 and number(families, "extractors_left") == 0
    (info,) = families["kinfs_info"]["samples"]
    assert dict(info)["version"] == status["version"] and dict(info)["policy"] == status["policy"], info
    assert dict(info)["source"] == status["source"], (info, status["source"])
    assert families["kinfs_info"]["samples"][info] == 1
    for clustering in status["clusterings"]:
        key = (("clustering", clustering["name"]),)
        for name, member in (("named_clusters", "clusters"), ("named_clustered_documents", "clustered_documents"), ("named_current", "current")):
            assert families["kinfs_" + name]["samples"][key] == int(clustering[member]), (name, clustering)
    known = {"kinfs_" + name for name in same} | {"kinfs_disk_bytes", "kinfs_store_errno", "kinfs_extractors_left", "kinfs_info"}
    if status["clusterings"]:
        known |= {"kinfs_named_clusters", "kinfs_named_clustered_documents", "kinfs_named_current"}
    assert set(families) == known, set(families) ^ known
    if len(sys.argv) > 3:  # a reading before: counters never fall
        before = parse(open(sys.argv[3], encoding="utf-8", newline="").read())
        for name, family in families.items():
            if family["type"] == "counter":
                assert number(families, name[6:]) >= number(before, name[6:]), name
        assert number(families, "sketched_documents_total") > number(before, "sketched_documents_total")
END
compare() { # [BEFORE]
    "$KINFS" settle "$MNT" > /dev/null
    cat "$METRICS" > metrics
    "$KINFS" status --json "$MNT" > status
    python3 parser.py metrics status "$@" || fail "$(cat metrics status)"
}

mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/b"
words 9001 100 > "$SOURCE/c"
start -o clusters=near:components:0.95
expect_equal 'listed' 1 "$(ls -p "$MNT/.kinfs" | grep -cx metrics)"
compare
expect_match 'documents' $'\nkinfs_documents 3\n' "$(cat metrics)"
cp metrics before
words 9001 101 > "$MNT/d"
mkdir "$MNT/sub"
words 11 100 > "$MNT/sub/e"
compare before
expect_match 'documents' $'\nkinfs_documents 5\n' "$(cat metrics)"

# Each opening has a text of its own, which stays what it is, at any offset; nobody writes it.
exec 5< "$METRICS" 6< "$METRICS"
head -c 10 <&5 > piece || true
rm "$MNT/d"
"$KINFS" settle "$MNT" > /dev/null
expect_match 'as it was opened' $'\nkinfs_documents 5\n' "$(cat <&6)"
expect_equal 'at its end' '' "$(cat <&6)"
exec 5<&- 6<&-
expect_match 'opened now' $'\nkinfs_documents 4\n' "$(cat "$METRICS")"
expect_equal 'in pieces' "$(cat "$METRICS" | sed '/disk_bytes/d')" "$(dd if="$METRICS" bs=7 2> /dev/null | sed '/disk_bytes/d')"
expect_equal 'mode, owner, size' "400 $EUID 0" "$(stat -c '%a %u %s' "$METRICS")"
expect_code 1 touch "$METRICS"
expect_code 1 rm -f "$METRICS"
expect_code 2 ls "$METRICS/x"
! echo x 2> /dev/null >> "$METRICS" || fail 'it is written'

# More openings than a user may have at a time are refused, and cost the others nothing.
python3 - "$METRICS" << 'END'
import errno, os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
opened = []
try:
    while len(opened) < 8000:
        opened.append(os.open(sys.argv[1], os.O_RDONLY))
    sys.exit("8000 are open at a time")
except OSError as error:
    assert error.errno in (errno.EMFILE, errno.ENFILE), error
for fd in opened:
    os.close(fd)
assert os.read(os.open(sys.argv[1], os.O_RDONLY), 6) == b"# HELP"
END

# Another user is told that it is there, and nothing of what is in it.
if ((EUID == 0)) && command -v setpriv > /dev/null; then
    chmod 755 "$SCRATCH"
    for reading in "cat" "head -c 1" "python3 -c 'import os,sys; os.open(sys.argv[1], os.O_RDONLY)'"; do
        code=0
        OUT=$(setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$reading \"\$0\"" "$METRICS" 2>&1) || code=$?
        expect_equal "$reading as another user" 1 "$code"
        expect_match "$reading" 'Permission denied' "$OUT"
        [[ $OUT != *kinfs_documents* ]] || fail "$OUT"
    done
fi
stop
