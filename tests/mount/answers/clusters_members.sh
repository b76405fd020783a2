#!/usr/bin/env bash
# The members of all clusters in one call are those that each cluster has by itself, with the sizes and times of the files.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
mkdir -p "$SOURCE/sub"
for cluster in 1 2 3; do
    for ((n = 0; n < cluster + 1; n++)); do
        { words $((cluster * 1000)) 300; words $((9000 + 10 * cluster + n)) $((3 * n)); } > "$SOURCE/sub/$cluster-$n"
        touch -d "2001-02-0$cluster 04:05:0$n" "$SOURCE/sub/$cluster-$n"
    done
done
words 20000 300 > "$SOURCE/alone"
cp "$SOURCE/sub/1-0" "$SOURCE"/$'odd\nname'
start
"$KINFS" settle "$MNT" > /dev/null

"$KINFS" clusters --members --json "$MNT" > members
"$KINFS" clusters --members "$MNT" > text
"$KINFS" clusters --members -0 "$MNT" > paths
"$KINFS" clusters --json "$MNT" > clusters
while read -r id; do
    "$KINFS" clusters --id="$id" --json "$MNT"
done < <(sed -n 's/.*"cluster": *\([0-9]*\).*/\1/p' clusters) > one_by_one
cmp members one_by_one || fail 'all at once are other members than one by one'
python3 - "$SOURCE" << 'E2' || fail 'sizes, times, or the forms differ'
import json, os, sys, time
rows = [json.loads(line) for line in open("members")]
assert len(rows) == 10, rows
clusters = {}
for row in rows:
    status = os.stat(f"{sys.argv[1]}/{row['path']}")
    assert (row["size"], row["mtime"]) == (status.st_size, int(status.st_mtime)), row
    clusters.setdefault(row["cluster"], []).append(row)
expected = [{"sub/1-0", "sub/1-1", "odd\nname"}, {f"sub/2-{n}" for n in range(3)}, {f"sub/3-{n}" for n in range(4)}]
found = [{row["path"] for row in members} for members in clusters.values()]
assert sorted(map(sorted, found)) == sorted(map(sorted, expected)), found
for members in clusters.values():  # the representative, then best first
    ratios = [row["resemblance"] for row in members]
    assert ratios[0] == 1 and ratios == sorted(ratios, reverse=True), ratios
lists = open("paths").read().split("\0\0")
assert lists.pop() == "" and [part.split("\0") for part in lists] == [[row["path"] for row in m] for m in clusters.values()], lists
for line, row in zip(open("text").read().splitlines(), rows, strict=True):
    cluster, ratio, size, mtime, path = line.split("\t")
    assert (int(cluster), int(size)) == (row["cluster"], row["size"]), line
    assert mtime == time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["mtime"])), line
    assert abs(float(ratio) - row["resemblance"]) < 1e-4, line
E2
"$KINFS" clusters --members -n 1 -0 "$MNT" | tr -d -c '\0' | wc -c | { read -r n; expect_equal 'one of each' 6 "$n"; }
expect_code 2 "$KINFS" clusters --members --id=3 "$MNT"
stop

# Times before 1970, and those that no calendar has.
mkdir disk
mount -t tmpfs none disk 2> /dev/null || skip 'no tmpfs can be mounted here'
trap 'umount "$SCRATCH/disk"' EXIT
words 1 300 | tee disk/a disk/b > disk/c
touch -d @-86400 disk/a
touch -d @9223372036854775000 disk/b
touch -d @1000000000 disk/c
expect_code 0 "$KINFS" scan disk
expect_code 0 env TZ=UTC "$KINFS" clusters --members disk
expect_match 'before 1970' $'1969-12-31 00:00:00\ta' "$OUT"
expect_match 'in no calendar' $'@9223372036854775000\tb' "$OUT"
expect_match 'an ordinary one' $'2001-09-09 01:46:40\tc' "$OUT"
