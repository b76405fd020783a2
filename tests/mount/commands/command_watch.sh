#!/usr/bin/env bash
# kinfs watch tells what becomes of clusters: what it says leads from the clusters before to those after; it ends when it is interrupted and with
# the mount, and holds no thread of the daemon.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
HISTORY=$LIB/work/watched_history.py

# watch FILE OPTION...: begins one that prints to a file, and returns when it misses nothing any more.
watch() {
    local file=$1
    shift
    "$KINFS" watch "$@" > "$file" 2> "$file.errors" &
    WATCH=$!
    soon 'it watches' grep -q watching "$file"
}
interrupt() { # PID: it ends with code 0
    local code=0
    kill -"${2-INT}" "$1"
    wait "$1" || code=$?
    expect_equal 'interrupted' 0 "$code"
}
clusters() { "$KINFS" clusters --members --json "$MNT" || [[ $? = 1 ]]; }
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
expect_code 3 "$KINFS" watch "$SOURCE"
expect_code 2 "$KINFS" watch --near=0.4 "$SOURCE"
expect_code 2 "$KINFS" watch --exec=x --json "$SOURCE"
start
"$KINFS" settle "$MNT" > /dev/null

# Asked for more than is kept, the daemon says how many changes are missing; of another's cursor it knows nothing.
python3 - "$("$KINFS" status --json "$MNT" | python3 -c 'import json, sys; print(json.load(sys.stdin)["store"])')/control" "$MNT" "$KINFS" << 'END'
import json, socket, subprocess, sys
def ask(**request):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps({"command": "watch"} | request).encode() + b"\n")
        return [json.loads(line) for line in connection.makefile()]
for name in "xy": # two changes, seen by nobody
    open(sys.argv[2] + "/" + name, "w").write("".join(f"early{i}\n" for i in range(100)))
subprocess.run([sys.argv[3], "settle", sys.argv[2]], check=True, stdout=subprocess.DEVNULL)
cursor, end = ask()
assert end == {"end": {"errno": 0}} and cursor["next"] == 3, (cursor, end)
missed, again, end = ask(instance=cursor["instance"], next=1)
assert missed == {"event": "missed", "missed": cursor["next"] - 1} and again == cursor, (missed, again)
assert ask(**cursor) == [cursor, {"end": {"errno": 0}}]
(end,) = ask(instance=cursor["instance"] + 1, next=1)
assert end["end"]["errno"] == 116, end
END
rm "$MNT/x" "$MNT/y"
"$KINFS" settle "$MNT" > /dev/null

# Of very many that come together some are told at a time, each once, and the answer says that there are more.
python3 - "$("$KINFS" status --json "$MNT" | python3 -c 'import json, sys; print(json.load(sys.stdin)["store"])')/control" "$MNT" "$KINFS" << 'END'
import json, os, socket, subprocess, sys
def ask(**request):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        connection.sendall(json.dumps({"command": "watch"} | request).encode() + b"\n")
        *events, cursor, end = [json.loads(line) for line in connection.makefile()]
        assert end == {"end": {"errno": 0}}, end
        return events, cursor
N = 700
_, cursor = ask()
os.mkdir(sys.argv[2] + "/many")
for i in range(N):
    open(f"{sys.argv[2]}/many/{i}", "w").write("".join(f"word{n}\n" for n in range(300)) + f"own{i}\n")
subprocess.run([sys.argv[3], "settle", sys.argv[2]], check=True, stdout=subprocess.DEVNULL)
joined, answers, near = [], 0, 0
while True:
    events, cursor = ask(instance=cursor["instance"], next=cursor["next"])
    answers += 1
    joined += [event["path"] for event in events if event["event"] == "joined"]
    near += sum(event["event"] == "near" for event in events)
    assert all(event["event"] in ("joined", "near") for event in events), events[:9]
    assert len(events) <= 1500, len(events)
    if not cursor.get("more"):
        break
assert sorted(joined) == sorted(f"many/{i}" for i in range(N)), len(joined)
assert answers >= 2 and near >= N / 2, (answers, near)
END
rm -r "$MNT/many"
"$KINFS" settle "$MNT" > /dev/null

# Each event, as a line.
watch lines "$MNT"
expect_equal 'the first line' $'watching\t'"$MNT" "$(cat lines)"
words 1 100 > "$MNT/b"
soon 'near' grep -qx $'near\tb\ta\t1.0000\t[0-9]*' lines
cluster=$(cut -f 1 <<< "$("$KINFS" clusters "$MNT")")
expect_match 'joined' $'\njoined\tb\t[ab]\t1.0000\t'"$cluster"$'\n' "$(cat lines)"
soon 'the other one' grep -qx $'joined\ta\t[ab]\t1.0000\t'"$cluster" lines
# Written anew in its cluster it neither leaves nor joins.
words 1 101 > "$MNT/b"
soon 'near again' grep -qx $'near\tb\ta\t0.98[0-9]*\t'"$cluster" lines
expect_equal 'nothing left' 0 "$(grep -c left lines || true)"
expect_equal 'joined once' 1 "$(grep -c $'^joined\tb\t' lines)"
# Less alike than --near (0.95) is not near.
words 1 120 > "$MNT/c"
soon 'c' grep -q $'^joined\tc\tc\t1.0000\t' lines
expect_equal 'not near' 0 "$(grep -c $'^near\tc' lines || true)"
rm "$MNT/c"
soon 'left' grep -qx $'left\tc\t[ab]\t-\t'"$cluster" lines
rm "$MNT/b"
soon 'a is alone' grep -qx $'left\ta\t-\t-\t'"$cluster" lines
expect_equal 'b is gone' $'left\tb\t-\t-\t'"$cluster" "$(grep $'^left\tb' lines)"
# However far down it was: the committer has noted where its last directories begin.
deep=$(seq -s / 1 40)
mkdir -p "$MNT/$deep"
words 1 101 > "$MNT/$deep/d"
soon 'far down' grep -q $'^joined\t'"$deep/d"$'\t' lines
rm "$MNT/$deep/d"
soon 'far down, and gone' grep -q $'^left\t'"$deep/d"$'\t' lines
for i in 1 2; do words 30001 100 > "$MNT/left$i"; done
for i in 1 2 3; do words 30061 100 > "$MNT/right$i"; done
soon 'two clusters' grep -q $'^joined\tright3' lines
from=$("$KINFS" clusters --json "$MNT/left1" | sed -n '1s/.*"cluster": *\([0-9]*\).*/\1/p')
words 30001 160 > "$MNT/bridge"
to=$("$KINFS" clusters --json "$MNT/bridge" | sed -n '1s/.*"cluster": *\([0-9]*\).*/\1/p')
soon 'merged' grep -qx $'merged\tclusters/'"$from"$'\tclusters/'"$to" lines
interrupt $WATCH TERM
expect_equal 'no complaint' '' "$(cat lines.errors)"

# Absolute paths; another threshold; odd names, which no shell sees, to a program that is never run twice at a time.
watch absolute -a --near=0.6 "$MNT"
odd=$'-rf $(touch pwned) "\n\xff'
cat > program <<'END'
#!/bin/bash
mkdir running || echo twice >> twice
printf '%s\0' "$#" "$@" >> ran
rmdir running
[[ $1 != near ]] || exit 7
END
chmod +x program
"$KINFS" watch --exec=./program "$MNT" 2> program.errors &
program=$!
soon 'it watches' grep -qsz watching ran
words 50001 100 > "$MNT/plain"
words 50001 100 > "$MNT/$odd"
soon 'near with a program' grep -qz "near" ran
soon 'both joined' bash -c '[[ $(grep -cz ^joined ran) = 2 ]]'
soon 'absolute' grep -q "^joined"$'\t'"$MNT/plain" absolute
python3 - "$MNT" "$odd" << 'END'
import os, sys
fields = open(b"ran", "rb").read().split(b"\0")[:-1]
events = []
while fields:
    n = int(fields[0])
    events.append(fields[1:n + 1])
    fields = fields[n + 1:]
assert events.pop(0) == [b"watching", os.fsencode(sys.argv[1]), b"", b""], events
assert all(len(event) == 4 for event in events), events
odd = os.fsencode(sys.argv[1]) + b"/" + os.fsencode(sys.argv[2])
plain = os.fsencode(sys.argv[1]) + b"/plain"
assert [b"near", odd, plain, b"1.0000"] in events or [b"near", plain, odd, b"1.0000"] in events, events
assert {event[1] for event in events if event[0] == b"joined"} == {odd, plain}, events
END
[[ ! -e pwned && ! -e twice ]] || fail 'a shell, or two at a time'
soon 'how it ended' grep -q 'ended with code 7' program.errors
interrupt $program TERM
interrupt $WATCH
expect_code 3 timeout 60 "$KINFS" watch --exec=/no/such/program "$MNT"
expect_match 'no such program' '/no/such/program: No such file' "$OUT"

# A history, replayed. More watch than the daemon answers at a time: none has a thread of it for long.
mkdir "$MNT/early"
for i in 1 2 3; do words 70001 $((100 + i)) > "$MNT/early/$i"; done
"$KINFS" settle "$MNT" > /dev/null
clusters > before
watch events --json "$MNT"
first=$WATCH
watch others "$MNT"
others=("$WATCH")
for ((n = 0; n < 70; n++)); do
    "$KINFS" watch "$MNT" > /dev/null &
    others+=($!)
done
for seed in 1 2 3; do
    python3 "$HISTORY" change "$MNT" "$SOURCE" $seed 60
    "$KINFS" settle "$MNT" > /dev/null
    clusters > after
    soon "history $seed" python3 "$HISTORY" compare before events after
done
rm -r "$MNT/early"
"$KINFS" settle "$MNT" > /dev/null
clusters > after
soon 'what was there before' python3 "$HISTORY" compare before events after
expect_code 0 "$KINFS" status "$MNT"
expect_equal 'kinds' 'joined left watching' "$(sed -n 's/.*"event": *"\([^"]*\)".*/\1/p' events | grep -vE 'merged|near' | sort -u | xargs)"
soon 'two are told the same' bash -c '[[ $(grep -c joined events) = $(grep -c joined others) ]]'

# One that was stopped while the mount ended, and another began, ends; as all do with the mount.
kill -STOP "$first"
stop
for pid in "${others[@]}"; do
    wait "$pid" || fail "ended with the mount: $?"
done
start
kill -CONT "$first"
wait "$first" || fail "another mount: $?"
stop
start -o nosketch
expect_code 3 "$KINFS" watch "$MNT"
expect_match 'without sketches' nosketch "$OUT"
stop
