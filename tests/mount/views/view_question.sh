#!/usr/bin/env bash
# D4: what resembles a document that is in no tree, asked through .kinfs/query and by kinfs similar,
# mounted and not: as if it were in the tree.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/a" "$SOURCE/closed"
for i in 0 10 20 30; do words $((1 + i)) 200 > "$SOURCE/a/v$i"; done
words 1 60000 > "$SOURCE/a/long"
words 1 200 > "$SOURCE/closed/twin"
words 700000 200 > "$SOURCE/other"
: > "$SOURCE/a/empty"
chmod 700 "$SOURCE/closed"
words 6 200 > "$SCRATCH/asked"
gzip -k "$SCRATCH/asked"
printf '<p>%s</p>' "$(words 6 200 | tr a-z A-Z)" > "$SCRATCH/page"

start -o allow_other
"$KINFS" settle "$MNT"
query=$MNT/.kinfs/query
ask() { # NAME FILE
    (exec 3<> "$query/$1" && cat "$2" >&3 && cat <&3)
}

# Two routes: the document in the tree, and beside it.
cp "$SCRATCH/asked" "$MNT/now-in-the-tree"
in_tree=$("$KINFS" similar "$MNT/now-in-the-tree")
contained=$("$KINFS" similar --containing "$MNT/now-in-the-tree")
rm "$MNT/now-in-the-tree"
"$KINFS" settle "$MNT"
expect_match 'there is an answer' $'\ta/v0' "$in_tree"
expect_equal 'written and read' "$in_tree" "$(ask any "$SCRATCH/asked")"
expect_equal 'what it is contained in' "$contained" "$(ask any,containing "$SCRATCH/asked")"
expect_equal 'compressed' "$in_tree" "$(ask any "$SCRATCH/asked.gz")"
expect_equal 'another form of the same words' "$in_tree" "$(ask any "$SCRATCH/page")"
expect_equal 'no more than' "$(head -n 2 <<< "$in_tree")" "$(ask any,limit=2 "$SCRATCH/asked")"
expect_equal 'at least' '' "$(ask any,threshold=0.99 "$SCRATCH/asked")"
expect_equal 'nothing like it' '' "$(words 900000 100 > lonely; ask any lonely)"
expect_equal 'the empty document' $'1.0000\ta/empty' "$(ask any /dev/null)"

expect_equal 'the command, mounted' "$in_tree" "$("$KINFS" similar --tree "$MNT" "$SCRATCH/asked")"
expect_equal 'from a pipe' "$in_tree" "$(cat "$SCRATCH/asked" | "$KINFS" similar -T "$MNT" -)"
expect_equal 'in the working directory' "$in_tree" "$(cd "$MNT/a" && "$KINFS" similar - < "$SCRATCH/asked")"
expect_equal 'by the source' "$in_tree" "$("$KINFS" similar -T "$SOURCE" "$SCRATCH/asked")"
expect_equal 'containing' "$contained" "$("$KINFS" similar --containing -T "$MNT" "$SCRATCH/asked")"
expect_equal 'paths' "$MNT/$(head -n 1 <<< "$in_tree" | cut -f 2)" "$("$KINFS" similar -0 -a -n 1 -T "$MNT" "$SCRATCH/asked" | tr -d '\0')"
mounted=$("$KINFS" similar --json -T "$MNT" "$SCRATCH/asked")
code=0; "$KINFS" similar -T "$MNT" lonely || code=$?
expect_equal 'exit code without an answer' 1 "$code"

# One descriptor and more than one question, from the beginning or one behind the other; the answer
# to one is not the answer to the next; a question is seen by its opener alone.
python3 - "$query/one" "$SCRATCH/asked" lonely "$in_tree" <<'EOF'
import errno, os, sys
name, asked, lonely, answer = sys.argv[1:]
asked, lonely = open(asked, "rb").read(), open(lonely, "rb").read()
one = os.open(name, os.O_RDWR | os.O_CREAT)
two = os.open(name, os.O_RDWR | os.O_CREAT)
def whole(fd):
    text = b""
    while piece := os.read(fd, 7):
        text += piece
    return text.decode().rstrip("\n")
for way in "rewound", "behind":
    for text, wanted in (asked, answer), (lonely, ""), (asked, answer):
        for at in range(0, len(text), 1000):
            assert os.write(one, text[at:at + 1000]) == len(text[at:at + 1000])
        if way == "rewound":
            os.lseek(one, 0, os.SEEK_SET)
        assert whole(one) == wanted, (way, wanted)
        if way == "rewound":
            assert os.pread(one, 6, 0).decode() == answer[:6] or not wanted
            os.lseek(one, 0, os.SEEK_SET)
os.lseek(two, 1 << 30, os.SEEK_SET)
os.write(two, b"the first byte of a document need not be at 0")
try:
    os.pwrite(two, b"so far, and no further", (2 << 30) - 5)
    raise SystemExit("no bound")
except OSError as error:
    assert error.errno == errno.EFBIG, error
os.close(two)
two = os.open(name, os.O_RDWR | os.O_CREAT)
assert os.write(two, lonely) and whole(two) == ""
assert os.fstat(one).st_mode & 0o170000 == 0o100000
for bad in "x,what", "x,limit=", "x,threshold=2":
    try:
        os.open(os.path.dirname(name) + "/" + bad, os.O_RDWR | os.O_CREAT)
        raise SystemExit(bad + ": opened")
    except OSError as error:
        assert error.errno == 22, error
try:
    os.open(name, os.O_RDWR)
    raise SystemExit("found by another")
except FileNotFoundError:
    pass
EOF
# Of one name and not of one file: neither what the kernel takes for the end, nor what it keeps in
# memory for who maps it, is another's.
python3 - "$query/same" "$SCRATCH/asked" lonely "$in_tree" <<'EOF'
import os, sys
name, asked, lonely, answer = sys.argv[1:]
asked, lonely = open(asked, "rb").read(), open(lonely, "rb").read()
one, two = (os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND) for _ in range(2))
half = len(asked) // 2
assert os.write(one, asked[:half]) == half
assert os.write(two, lonely) == len(lonely)
assert os.write(one, asked[half:]) == len(asked) - half
assert os.pread(one, 1 << 20, 0).decode().rstrip("\n") == answer
assert os.pread(two, 1 << 20, 0) == b""
EOF

# Nobody fills the store's disk with questions, or takes all descriptors: what is too much is refused, and
# there again when it was closed.
python3 - "$query" "$SCRATCH/asked" <<'EOF'
import errno, os, sys, time
def open_one(i):
    return os.open("%s/x%d" % (sys.argv[1], i), os.O_RDWR | os.O_CREAT)
def refused(what, wanted):
    try:
        what()
    except OSError as error:
        assert error.errno == wanted, error
    else:
        raise SystemExit("not refused: " + errno.errorcode[wanted])
def granted(what, meanwhile): # the kernel tells of a close a moment after it, here and for who asked before
    for i in range(5000):
        try:
            return what()
        except OSError as error:
            assert error.errno == meanwhile, error
            time.sleep(0.02)
    raise SystemExit("not given back: " + errno.errorcode[meanwhile])
held = [granted(lambda: open_one(i), errno.EMFILE) for i in range(64)]
refused(lambda: open_one(64), errno.EMFILE)
os.close(held.pop())
held.append(granted(lambda: open_one(64), errno.EMFILE))
refused(lambda: open_one(65), errno.EMFILE)
for fd in held:
    os.close(fd)
def write(fd, piece, offset):
    assert granted(lambda: os.pwrite(fd, piece, offset), errno.EDQUOT) == len(piece)
one, two, three = (granted(lambda: open_one(i), errno.EMFILE) for i in range(3))
for fd in one, two: # a document counts up to its last byte, though all else of it is a hole
    write(fd, b"a", 0)
    write(fd, b"b" * 7, (1 << 30) - 7)
for i in range(3): # and each byte once
    assert os.pwrite(one, b"a" * (1 << 20), 1000) == 1 << 20
refused(lambda: os.write(three, b"a"), errno.EDQUOT)
os.close(one)
asked = open(sys.argv[2], "rb").read()
write(three, asked, 0)
four = open_one(3)
assert os.write(four, b"a") == 1
refused(lambda: os.pwrite(four, b"a", (1 << 30) - len(asked)), errno.EDQUOT)
assert os.pwrite(four, b"a", (1 << 30) - len(asked) - 1) == 1
refused(lambda: os.pwrite(three, b"a", len(asked)), errno.EDQUOT)
# What is answered counts as well, and the document still when it was asked, until the next is begun.
refused(lambda: os.pread(three, 1 << 16, 0), errno.EDQUOT)
os.close(two)
granted(lambda: os.pread(three, 1 << 16, 0), errno.EDQUOT)
two = open_one(1)
write(two, b"a", 0)
refused(lambda: os.pwrite(two, b"b", (1 << 30) - 1), errno.EDQUOT)
assert os.pwrite(three, b"a", 0) == 1
assert os.pwrite(two, b"b", (1 << 30) - 1) == 1
EOF

# Who waits for a turn, behind those whose answers take long, can be ended.
python3 - "$query" <<'EOF'
import errno, os, subprocess, sys, time
def begin(name, n_bytes):
    fd = os.open(sys.argv[1] + "/" + name, os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"a", 0)
    for i in range(5000): # until what was closed before is
        try:
            os.pwrite(fd, b"a", n_bytes - 1)
            break
        except OSError as error:
            assert error.errno == errno.EDQUOT, error
            time.sleep(0.02)
    return subprocess.Popen(["cat"], stdin=os.fdopen(fd), stdout=subprocess.DEVNULL)
slow = [begin("slow%d" % i, 255 << 20) for i in range(8)]
waiting = begin("waiting", 1000)
while open(f"/proc/{waiting.pid}/stat").read().split()[1:3] not in (["(cat)", "S"], ["(cat)", "D"]): # it has asked
    time.sleep(0.01)
waiting.kill()
waiting.wait()
assert None in [one.poll() for one in slow], "waited for all"
for one in slow:
    one.kill()
for one in slow:
    one.wait()
EOF
expect_equal 'nothing is listed' '' "$(ls -A "$query")"
expect_equal 'and that is' 'clusters contains lost metrics query similar unique within' "$(ls -C "$MNT/.kinfs" | xargs)"
for command in "mkdir $query/x" "ln -s x $query/x" "mkfifo $query/x" "touch $MNT/.kinfs/x" \
    "touch $MNT/clusters/x" "mv $MNT/other $query/x" "ln $MNT/other $query/x" "rmdir $query"; do
    ! $command 2> /dev/null || fail "could: $command"
done

# Others are told of what they could read.
if [[ $EUID = 0 ]] && command -v setpriv > /dev/null; then
    chmod 644 "$SCRATCH/asked"
    others=$(setpriv --reuid=54321 --regid=54321 --clear-groups "$KINFS" similar -T "$MNT" "$SCRATCH/asked")
    expect_equal 'another user' "$(grep -v closed/ <<< "$in_tree")" "$others"
    expect_match 'root' 'closed/twin' "$in_tree"
fi

# Many ask at once: all are answered.
for i in $(seq 12); do ask "x$i" "$SCRATCH/asked" > "answer$i" & done
wait $(jobs -p | tail -n 12) || fail 'not all were answered'
for i in $(seq 12); do expect_equal "answer $i" "$in_tree" "$(cat "answer$i")"; done

# A large document is sketched while others are served; who is ended does not keep it up.
head -c 300M /dev/urandom > large
(exec 3<> "$query/large" && cat large >&3 && exec timeout -s KILL 0.3 cat <&3) > out || true
expect_equal 'meanwhile and afterwards' "$in_tree" "$(ask any "$SCRATCH/asked")"

# Who is stopped, and goes on, still gets the answer.
"$KINFS" similar -T "$MNT" large > out 2> err & asker=$!
for i in 1 2 3 4 5; do
    sleep 0.1
    ! kill -STOP "$asker" 2> /dev/null || { sleep 0.02; kill -CONT "$asker"; }
done
code=0; wait "$asker" || code=$?
expect_equal 'stopped, and continued' '1 ' "$code $(cat err)"
rm large

# What an extractor cannot read.
printf '%%PDF-1.4\nnot one\n' > broken.pdf
if "$KINFS" status --json "$MNT" > /dev/null && cp broken.pdf "$MNT/broken" && "$KINFS" settle "$MNT" &&
    [[ $("$KINFS" status "$MNT/broken") == *skipped* ]]; then
    code=0; "$KINFS" similar -T "$MNT" broken.pdf 2> err || code=$?
    expect_equal 'exit code' 3 "$code"
    expect_match 'why' 'broken.pdf: cannot be sketched' "$(cat err)"
fi
rm -f "$MNT/broken"
code=0; "$KINFS" similar -T "$MNT" "$SCRATCH/missing" 2> err || code=$?
expect_equal 'exit code for what is not there' 3 "$code"
expect_match 'why not' 'missing: No such file' "$(cat err)"
"$KINFS" settle "$MNT"

stop
expect_equal 'not mounted' "$in_tree" "$("$KINFS" similar -T "$SOURCE" "$SCRATCH/asked")"
expect_equal 'not mounted, from a pipe' "$in_tree" "$(cat "$SCRATCH/asked" | "$KINFS" similar -T "$SOURCE" -)"
expect_equal 'the same rows' "$mounted" "$("$KINFS" similar --json -T "$SOURCE" "$SCRATCH/asked")"
expect_equal 'all of it' "$contained" "$("$KINFS" similar --containing -T "$SOURCE" "$SCRATCH/asked")"
