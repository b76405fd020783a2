#!/usr/bin/env bash
# What documents were is told to root and the owner of the mount alone: no name, no answer and no error differs for any other user,
# by command, lookup, listing and in a directory that was opened; and what one user does takes nothing of another's.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs setpriv
((EUID == 0)) || skip 'needs root'

other=65534
as_other() { setpriv --reuid=$other --regid=$other --clear-groups "$@"; }
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
chmod 1777 "$SOURCE"
words 1 300 > "$SOURCE/mine"
start -o allow_other
expect_code 0 "$KINFS" settle "$MNT"
as_other bash -c "$(declare -f words); words 2000 300 > '$MNT/theirs'"
expect_code 0 "$KINFS" settle "$MNT"
cp "$MNT/mine" "$MNT/kept"
cp "$MNT/theirs" "$MNT/kept2"
rm "$MNT/mine" "$MNT/theirs"
expect_code 0 "$KINFS" settle "$MNT"
expect_equal 'root' $'1.0000\tkept' "$("$KINFS" lost "$MNT/mine")"

# Each is refused alike: what was theirs, what was not, and what never was.
for path in mine theirs never kept a/b; do
    for command in lost history changes; do
        expect_code 3 as_other "$KINFS" "$command" "$MNT/$path"
        [[ $(wc -l <<< "$OUT") -eq 1 ]] || fail "$command $path: $OUT"
    done
    for view in lost .kinfs/lost; do
        expect_match "$view/$path" 'Permission denied' "$(as_other stat "$MNT/$view/$path" 2>&1 || true)"
        expect_match "$view/$path" 'Permission denied' "$(as_other ls "$MNT/$view/$path/" 2>&1 || true)"
    done
done
expect_match 'a listing' 'Permission denied' "$(as_other ls "$MNT/lost" 2>&1 || true)"
# A link whose name is known, and a directory that root has looked up a moment ago.
link=$(ls "$MNT/lost/mine")
expect_match 'a known link' 'Permission denied' "$(as_other readlink -v "$MNT/lost/mine/$link" 2>&1 || true)"
# By the user's own handle, which cannot be opened and so not be handed on to a program with other rights: neither for reading
# nor, as a path alone, for names in it.
expect_match 'a handle' 'Permission denied' "$(as_other bash -c "exec 3< '$MNT/lost'" 2>&1 || true)"
cat > handle.py <<'PY'
import os, sys
fd = os.open(sys.argv[1] + '/lost', os.O_PATH)
for name in 'mine', 'theirs', 'never':
    try:
        os.open(name, os.O_RDONLY, dir_fd=fd)
        sys.exit(f'{name} is opened')
    except PermissionError:
        pass
try:
    os.listdir(os.open('.', os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd))
    sys.exit('it is listed')
except PermissionError:
    pass
PY
chmod 644 handle.py
as_other python3 handle.py "$MNT"
cat > handed.py <<'PY'
import os, sys
fd = os.open(sys.argv[1] + '/lost', os.O_PATH)
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
try:
    os.open('mine', os.O_RDONLY, dir_fd=fd)
    sys.exit('a handle of root is good for another user')
except PermissionError:
    pass
PY
python3 handed.py "$MNT"

# A user who makes and removes documents and directories of the same names by the hundred.
as_other bash -c "
    for i in {1..300}; do
        mkdir -p '$MNT/d'; echo \"\$i some words that are theirs alone here and now\" > '$MNT/d/mine'; rm -r '$MNT/d'
    done
    for i in {1..40}; do
        for j in 1 2; do echo \"\$i \$j more words of theirs\" > '$MNT/mine'; done; rm '$MNT/mine'
    done"
expect_code 0 "$KINFS" settle "$MNT"
"$KINFS" history --json "$MNT/mine" > all
grep -q "\"size_bytes\":$(stat -c %s "$MNT/kept")," all || fail "what was mine is not remembered: $(cat all)"

# A file that others may write is linked by one of them under hundreds of names, which go all at once.
words 5000 300 > "$MNT/writable"
chmod 666 "$MNT/writable"
as_other mkdir "$MNT/d"
expect_code 0 "$KINFS" settle "$MNT"
for round in 1 2; do
    as_other python3 -c '
import os, sys
for i in range(600):
    os.link(sys.argv[1] + "/writable", f"{sys.argv[1]}/d/{sys.argv[2]}-{i}")' "$MNT" $round
    expect_code 0 "$KINFS" settle "$MNT"
    as_other rm -r "$MNT/d"
    as_other mkdir "$MNT/d"
    expect_code 0 "$KINFS" settle "$MNT"
done
n=$("$KINFS" changes --json --since=3d "$MNT" | python3 -c '
import json, sys
print(sum(json.loads(row).get("moved", 0) for row in sys.stdin))')
[[ $n -ge 2 && $n -le 16 ]] || fail "$n events of one document"
expect_code 0 "$KINFS" check "$MNT"
stop
