#!/usr/bin/env bash
# A12: extractors of the configuration make features, or text, of any kind of document; one that fails, hangs, eats
# memory or processes, writes or calls out costs its documents their sketch, and nothing else.
. "${0%/mount/*}/lib/shell/mount.sh"
# Not one of a user's own, which nobody else may reach.
python=/usr/bin/python3
[[ -x $python ]] || skip "$python is not installed"
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
# For a time by which no other test's are taken for its own.
sleeper=$(readlink -f "$(command -v sleep)")
sleeps=1000$(stat -c %i "$SCRATCH")

# As the service does, which has no right to end processes of other users.
as_service=()
((EUID != 0)) || ! command -v setpriv > /dev/null || as_service=(setpriv --bounding-set=-kill)
start_as_service() { # OPTIONS
    mkdir -p "$MNT"
    "${as_service[@]}" "$KINFS" mount -o "$1" "$SOURCE" "$MNT"
}
state() { # FILE
    getfattr -n user.kinfs.state --only-values "$MNT/$1"
}
resemblance() { # FILE OTHER
    "$KINFS" similar -t 0.01 "$MNT/$1" | awk -v name="$2" '$2 == name { print $1 }'
}
# The least that libmagic takes for the type; behind it the notes, a number a byte.
midi() { printf 'MThd\0\0\0\6\0\1\0\2\1\340MTrk'; printf '%b' "$(printf '\\x%02x' "$@")"; }
gif() { printf 'GIF89a\1\0\1\0\0\0\0'; }
png() { printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0'; }
wav() { printf 'RIFF\44\0\0\0WAVEfmt \20\0\0\0\1\0\1\0'; }
bzip2() { printf 'BZh91AY&SY'; }
flac() { printf 'fLaC\0\0\0\42\20\0'; }
flv() { printf 'FLV\1\5\0\0\0\11'; }
pdf() { printf '%%PDF-1.4\n'; words 1 "$1"; }

# Pairs of notes that follow each other. A script, in a directory that nobody else may enter.
mkdir -m 700 programs
cat > programs/notes << EOF
#!$python
import sys
notes = sys.stdin.buffer.read()[18:]
for pair in zip(notes, notes[1:]):
    print(sys.argv[1], *pair)
EOF
cat > programs/fail << 'EOF'
#!/bin/sh
echo first >&2
echo "not a \$GIF" >&2
exit 7
EOF
cat > programs/hungry << EOF
#!$python
bytearray(10 ** 9)
EOF
cat > programs/fork << EOF
#!$python
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
EOF
# Tries what it may not, and says what it could; an extractor that does nothing wrong is one of no features.
cat > programs/evil << EOF
#!$python
import os, socket, sys
scratch, document = sys.argv[1:]
def attempt(name, action):
    try:
        action()
        print("could", name)
    except OSError as error:
        print(name, error.errno)
attempt("create", lambda: open(scratch + "/evil", "w"))
attempt("create in tmp", lambda: open("/tmp/kinfs-evil-%d" % os.getpid(), "w"))
attempt("write", lambda: open(document, "r+b"))
attempt("write to the document", lambda: os.write(0, b"x"))
attempt("open it once more", lambda: open("/proc/self/fd/0", "r+b"))
attempt("truncate", lambda: os.truncate(document, 0))
attempt("mode", lambda: os.fchmod(0, 0o777))
attempt("times", lambda: os.utime(document))
attempt("attribute", lambda: os.setxattr(document, "user.evil", b""))
attempt("remove", lambda: os.unlink(document))
attempt("rename", lambda: os.rename(document, document + "2"))
attempt("link", lambda: os.symlink("/", scratch + "/evil"))
attempt("directory", lambda: os.mkdir(scratch + "/evil"))
attempt("network", lambda: socket.socket())
attempt("local socket", lambda: socket.socket(socket.AF_UNIX))
attempt("signal", lambda: os.kill(os.getppid(), 0))
attempt("group", lambda: os.setpgid(0, 0))
attempt("session", os.setsid)
attempt("lock", lambda: __import__("fcntl").flock(0, 1))
EOF
printf '#!/bin/sh\nexec %s %s\n' "$sleeper" "$sleeps" > programs/hang
# What is left behind would hold the pipe: its end is not waited for.
printf '#!/bin/sh\n%s %s &\necho left\n' "$sleeper" "$sleeps" > programs/leave
printf '#!%s\nwhile True: print("line " * 1000)\n' "$python" > programs/much
chmod 755 programs/*

cat > kinfs.conf << EOF
[extractor "audio/midi"]
command = $PWD/programs/notes 'a note'
seconds = 20
[extractor "image/gif"]
command = $PWD/programs/fail
seconds = 20
[extractor "image/png"]
command = $PWD/programs/hang
seconds = 1
[extractor "audio/x-wav"]
command = $PWD/programs/hungry
memory_mb = 200
seconds = 20
[extractor "application/x-bzip2"]
command = $PWD/programs/fork
seconds = 2
[extractor "audio/flac"]
command = $PWD/programs/evil $SCRATCH $SOURCE/evil.flac
seconds = 20
[extractor "video/*"]
command = $PWD/programs/leave
seconds = 20
[extractor "application/pdf"]
command = /bin/cat
output = text
output_mb = 1
seconds = 20
EOF
needs_fuse
mkdir -p "$SOURCE"
for name in a b; do words 1 100 > "$SOURCE/$name.txt"; done
midi $(seq 1 60) > "$SOURCE/a.mid"
midi $(seq 11 70) > "$SOURCE/b.mid"
midi $(seq 60 -1 1) > "$SOURCE/backwards.mid"
gif > "$SOURCE/fail.gif"
png > "$SOURCE/hang.png"
wav > "$SOURCE/hungry.wav"
bzip2 > "$SOURCE/fork.bz2"
flac > "$SOURCE/evil.flac"
flv > "$SOURCE/leave.flv"
pdf 100 > "$SOURCE/text.pdf"
pdf 200000 > "$SOURCE/much.pdf"
chmod 666 "$SOURCE/evil.flac"
before=$(stat -c '%a %s %y' "$SOURCE/evil.flac")
start_as_service "config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT"

# Of 59 pairs each 49 are shared: 49 of 69.
expect_equal 'features' 0.7101 "$(resemblance a.mid b.mid)"
expect_equal 'none shared' '' "$(resemblance a.mid backwards.mid)"
expect_match 'a type of its own' extracted "$("$KINFS" status "$MNT/a.mid")"
# The PDF's own mark are three words that the text has not: 96 windows of 99.
expect_equal 'text, before the built-in one' 0.9697 "$(resemblance a.txt text.pdf)"
expect_match 'more than it may put out' 'extracted, cut' "$("$KINFS" status "$MNT/much.pdf")"

expect_equal 'one that fails' 'skipped: image/gif: exit code 7: not a $GIF' "$(state fail.gif)"
expect_equal 'one that hangs' 'skipped: image/png: took longer than 1 s' "$(state hang.png)"
expect_equal 'one that eats memory' 'skipped: audio/x-wav: exit code 1: MemoryError' "$(state hungry.wav)"
expect_equal 'a fork bomb' 'skipped: application/x-bzip2: took longer than 2 s' "$(state fork.bz2)"
expect_equal 'counted' 4 "$("$KINFS" status --json "$MNT" | sed -n 's/.*"skipped": *\([0-9]*\).*/\1/p')"
expect_equal 'others' '100-b.txt' "$(ls "$MNT/similar/a.txt" | grep txt)"
expect_equal 'one that leaves something behind' current "$(state leave.flv)"

# Nothing could be done: what it said is compared with what it says where nothing is allowed it.
expect_equal 'the document is as it was' "$before" "$(stat -c '%a %s %y' "$SOURCE/evil.flac")"
[[ ! -e $SCRATCH/evil ]] || fail 'something was made'
expect_equal 'in /tmp' '' "$(find /tmp -maxdepth 1 -name 'kinfs-evil-*' 2> /dev/null || true)"
expect_equal 'said to be done' current "$(state evil.flac)"
said=$("$(dirname "$KINFS")/kinfs-extract" "$BASHPID" 20 1024 "$PWD/programs/evil" "$SCRATCH" "$SOURCE/evil.flac" < "$SOURCE/evil.flac")
expect_equal 'attempts' 19 "$(wc -l <<< "$said")"
expect_match 'the last one' 'lock 1' "$said"
[[ $said != *could* ]] || fail "$said"

# Nothing runs on, and there are no zombies.
left() {
    pgrep -a -f "^$sleeper $sleeps" || true
    ps -eo ppid,stat,args | awk -v daemon="$daemon" '$1 == daemon'
}
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
nothing_is_left() { [[ ! $(left) ]]; }
soon 'nothing is left behind' nothing_is_left # what is killed takes a moment to end
# More runs, and no more descriptors, of the documents or of pipes.
open_files() {
    readlink "/proc/$daemon/fd/"* | grep -E "^pipe:|^$SOURCE/" || true
}
none_is_read() { # of a close the daemon is told a moment later
    local fd
    for fd in "/proc/$daemon/fd/"*; do # with O_PATH it knows a file, and has it not open
        [[ $(readlink "$fd") != "$SOURCE"/* ]] || grep -qs '^flags:.*[1357].......$' "/proc/$daemon/fdinfo/${fd##*/}" || return 1
    done
}
soon 'no documents are open' none_is_read
before=$(open_files)
none_is_left_open() { [[ $(open_files) = "$before" ]]; }
for name in a b c; do midi 1 2 3 > "$MNT/$name.new.mid"; done
"$KINFS" settle "$MNT" > /dev/null
soon 'none is left open' none_is_left_open

# A daemon that is killed takes its extractors along: the one that hangs is tried again by a scan.
sed -i 's/^seconds = 1$/seconds = 1000/' kinfs.conf
stop
start_as_service "config=$PWD/kinfs.conf,settle_ms=0"
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
soon 'it runs' pgrep -f "^$sleeper $sleeps"
# Nor does anybody wait for it, be there more of them than workers.
for i in $(seq 20); do png > "$MNT/hang$i.png"; done
soon 'more of them' eval '[[ $(pgrep -c -f "^$sleeper $sleeps") -gt 1 || $(nproc) = 1 ]]'
words 1 100 > "$MNT/c.txt"
soon 'sketched meanwhile' eval '[[ $(state c.txt) = current ]]'
expect_match 'found' 'c.txt' "$(ls "$MNT/similar/a.txt")"
rm "$MNT"/hang[1-9]*.png
# An unmount does not wait for it either.
stop
soon 'stopped' nothing_is_left
start_as_service "config=$PWD/kinfs.conf,settle_ms=0"
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
soon 'it runs' pgrep -f "^$sleeper $sleeps"
kill -KILL "$daemon"
gone() { [[ ! $(pgrep -f "^$sleeper $sleeps") ]]; }
soon 'it ends with the daemon' gone
umount -l "$MNT" 2> /dev/null || fusermount3 -uz "$MNT"

# A configuration that cannot be meant: nothing is mounted, and no store is made.
rm -r "$KINFS_STATE_DIR"
echo 'seconds = soon' >> kinfs.conf
expect_code 2 "$KINFS" mount -o "config=$PWD/kinfs.conf" "$SOURCE" "$MNT"
expect_match 'file and line' "kinfs.conf:$(wc -l < kinfs.conf): seconds: " "$OUT"
expect_code 2 "$KINFS" scan --config="$PWD/kinfs.conf" "$SOURCE"
expect_code 2 "$KINFS" rebuild --config="$PWD/kinfs.conf" "$SOURCE"
expect_code 2 "$KINFS" check --repair --config="$PWD/kinfs.conf" "$SOURCE"
! mountpoint -q "$MNT" || fail 'mounted'
[[ ! -e $KINFS_STATE_DIR ]] || fail 'a store was made'
printf '[extractor "audio/midi"]\ncommand = /bin/cat\n' > kinfs.conf
expect_code 3 env KINFS_EXTRACT=/nonexistent "$KINFS" scan --config="$PWD/kinfs.conf" "$SOURCE"
expect_match 'no kinfs-extract' '/nonexistent: No such file' "$OUT"

# Without a mount, and made anew under another configuration.
KINFS_CONFIG=$PWD/kinfs.conf "$KINFS" scan "$SOURCE" > /dev/null 2>&1
expect_match 'scan' extracted "$("$KINFS" status "$SOURCE/a.mid")"
"$KINFS" rebuild "$SOURCE" > /dev/null
expect_match 'rebuild' binary "$("$KINFS" status "$SOURCE/a.mid")"
"$KINFS" rebuild -c "$PWD/kinfs.conf" "$SOURCE" > /dev/null
expect_match 'rebuild' extracted "$("$KINFS" status "$SOURCE/a.mid")"
