#!/usr/bin/env bash
# What a forged store, or a socket in it, makes a command print is text: no character of it is obeyed by a terminal, in JSON either.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/doc"
STORE=$SCRATCH/store
"$KINFS" scan --store="$STORE" "$SOURCE" > /dev/null

mkfifo alive ready
python3 "$LIB/callers/forged_daemon.py" "$STORE" < alive > ready &
exec 9> alive
read -r said < ready && [[ $said = ready ]] || fail 'no daemon'

# shown TEXT: whether all of it is printable, with newlines and tabs, and some of it is the forged text.
shown() {
    python3 -c '
import sys
text = open(sys.argv[1], "rb").read().decode()
bad = sorted({hex(ord(c)) for c in text if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0})
sys.exit("prints %s: %r" % (bad, text) if bad else 0 if "owned" in text else "not asked: %r" % text)' "$1" || fail "$2"
}

for arguments in "status $SOURCE/doc" "settle $SOURCE" "check $SOURCE" "similar $SOURCE/doc" "copies $SOURCE/doc" "basis $SOURCE/doc" "mirrors $SOURCE" \
    "clusters $SOURCE" "watch $SOURCE" "map 1 -o - $SOURCE"; do
    # One that goes on for ever is ended by the time.
    [[ $arguments = watch* ]] && KINFS_RUN=(timeout 2 "$KINFS") || KINFS_RUN=("$KINFS")
    # shellcheck disable=SC2086
    "${KINFS_RUN[@]}" ${arguments%% *} --store="$STORE" ${arguments#* } > out 2>&1 || true
    shown out "$arguments"
    "${KINFS_RUN[@]}" ${arguments%% *} --json --store="$STORE" ${arguments#* } > out 2> /dev/null || true
    [[ ! -s out ]] && continue # there is nothing but a message
    shown out "$arguments as JSON"
    [[ $arguments = map* ]] && continue # what it prints is a picture
    python3 -c '
import json, sys
text = json.dumps([json.loads(line) for line in open(sys.argv[1])], ensure_ascii=False)
sys.exit(0 if "\x9b31m\x7f" in text else "another text: %r" % text)' out || fail "$arguments as JSON"
done
exec 9>&-
wait

# -- the name of the tree, in what is to be typed --

tree=$SCRATCH/$'a tree\e[2J'
mkdir "$tree"
words 1 100 > "$tree/doc"
"$KINFS" scan --store="$SCRATCH/other" "$tree" > /dev/null
mkfifo alive2
python3 "$LIB/callers/forged_daemon.py" "$SCRATCH/other" < alive2 > ready &
exec 9> alive2
read -r said < ready && [[ $said = ready ]] || fail 'no daemon'
"$KINFS" check --store="$SCRATCH/other" "$tree" > out 2>&1 || true
shown out 'check of a tree with such a name'
grep -qF 'a\ tree\033[2J;' out || fail "the remedy does not name the tree: $(cat -v out)"
exec 9>&-
wait
