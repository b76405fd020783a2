#!/usr/bin/env bash
# kinfs watch --decay tells of each pair of documents that are near to each other by resemblance and time, once, with the later one: what comparing
# all pairs comes to.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir -p "$SOURCE/made"
echo 'made/' > "$SOURCE/.kinfsignore"
for wrong in 0 -1 x 1e8; do expect_code 2 "$KINFS" watch --decay=$wrong "$SOURCE"; done
words 1 100 > "$SOURCE/made/early"
touch -d '2020-03-01 12:00' "$SOURCE/made/early"
mv "$SOURCE/made/early" "$SOURCE/early"
start
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" watch --json --decay=0.05 --near=0.7 "$MNT" > events &
watch=$!
soon 'it watches' grep -q watching events

# Each has its times before it comes into the tree, in whatever order.
python3 - "$MNT" << 'END'
import os, random, sys
chance = random.Random(7)
for i in range(60):
    family = chance.randrange(3) * 100000
    n = chance.choice((100, 104, 110, 130))
    made = f"{sys.argv[1]}/made/{i}"
    with open(made, "w") as file:
        file.write("".join(f"word{family + j}\n" for j in range(1, n + 1)))
    time = 1583064000 + chance.randrange(-10 * 86400, 10 * 86400)
    os.utime(made, (time, time))
for i in chance.sample(range(60), 60):
    os.rename(f"{sys.argv[1]}/made/{i}", f"{sys.argv[1]}/{i}")
END
"$KINFS" settle "$MNT" > /dev/null
"$KINFS" pairs --all --json --min=0.5 "$MNT" > pairs
cat > compare.py << 'END'
import json, math, os, sys
tree = sys.argv[1]
rows = [json.loads(line) for line in open("pairs")]
expected, unsure = {}, set()
for row in rows:
    a, b = row["a"], row["b"]
    days = abs(os.stat(f"{tree}/{a}").st_mtime - os.stat(f"{tree}/{b}").st_mtime) / 86400
    near = row["resemblance"] * math.exp(-0.05 * days)
    pair = frozenset((a, b))
    if abs(near - 0.7) < 2e-4:
        unsure.add(pair)
    elif near >= 0.7:
        expected[pair] = near
assert len(rows) > 2 * len(expected) > 100, (len(rows), len(expected))
told = {}
for line in open("events"):
    event = json.loads(line)
    if event["event"] != "near":
        assert "decayed" not in event, event
        continue
    pair = frozenset((event["path"], event["other"]))
    assert pair not in told, ("twice", event)
    assert event["path"] != "early", event
    told[pair] = event["decayed"]
missing = expected.keys() - told.keys()
assert not missing, ("not told", missing)
assert not told.keys() - expected.keys() - unsure, ("told", told.keys() - expected.keys())
assert all(abs(told[pair] - near) < 2e-4 for pair, near in expected.items())
END
all_told() { python3 compare.py "$MNT" 2> /dev/null; }
(soon 'all pairs that are near' all_told) || python3 compare.py "$MNT"
kill -INT $watch
wait $watch

# As lines: the product stands behind the cluster. What is of another month is not near.
"$KINFS" watch --decay=0.1 --near=0.5 "$MNT" > lines &
watch=$!
soon 'it watches' grep -q watching lines
for name in now:2020-03-02 then:2020-07-01; do
    words 1 100 > "$MNT/made/x"
    touch -d "${name#*:} 12:00" "$MNT/made/x"
    mv "$MNT/made/x" "$MNT/${name%:*}"
done
soon 'a day later' grep -qx $'near\tnow\tearly\t1.0000\t[0-9]*\t0.9048' lines
"$KINFS" settle "$MNT" > /dev/null
soon 'both joined' grep -q $'^joined\tthen\t' lines
expect_equal 'months later' 0 "$(grep -c $'^near\tthen\tearly' lines || true)"
kill -INT $watch
wait $watch
stop
