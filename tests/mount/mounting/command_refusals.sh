#!/usr/bin/env bash
# Bad input: one line that says what is wrong and what to do, exit code 3, nothing mounted.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
trap 'umount -l "$SCRATCH/small" 2>/dev/null || true' EXIT

refused() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    expect_code 3 "$KINFS" mount "$@"
    expect_match "mount $*" "^kinfs: [^"$'\n'"]*$pattern[^"$'\n'"]*$" "$OUT"
    ! grep -q "$SCRATCH.* fuse.kinfs " /proc/self/mountinfo || fail "mount $*: left a mount"
}

mkdir -p "$SOURCE/inside" "$MNT" "$SCRATCH/other"
words 1 50 > "$SOURCE/a"

refused 'no such source; ' "$SCRATCH/missing" "$MNT"
refused 'not a directory; ' "$SOURCE/a" "$MNT"
refused 'no such mount point; ' "$SOURCE" "$SCRATCH/missing"
refused 'not a directory; ' "$SOURCE" "$SOURCE/a"
refused 'inside the source' "$SOURCE" "$SOURCE/inside"
refused 'hide its own source' "$SOURCE" "$SCRATCH"
refused 'store would be inside the mount' -o "store=$MNT/store" "$SOURCE" "$MNT"
refused 'store would be inside the mount' -o "store=$SOURCE/store" "$SOURCE"
refused 'log would be inside' -o "log=$MNT/log" "$SOURCE" "$MNT"

# Somebody else's directory is left as it is; so is one of the tree's.
mkdir -p "$SCRATCH/mine/db.new" "$SCRATCH/copy"
for name in policy holder control db.new/file; do
    echo "$name" > "$SCRATCH/mine/$name"
done
cp -a "$SCRATCH/mine/." "$SCRATCH/copy"
refused 'holds other files' -o "store=$SCRATCH/mine" "$SOURCE" "$MNT"
expect_code 3 "$KINFS" scan --store="$SCRATCH/mine" "$SOURCE"
expect_match 'scan' 'holds other files' "$OUT"
expect_code 3 "$KINFS" rebuild --store="$SCRATCH/mine" "$SOURCE"
expect_equal 'untouched' '' "$(diff -r "$SCRATCH/mine" "$SCRATCH/copy")"
expect_code 3 "$KINFS" scan --store="$SOURCE" "$SOURCE"
expect_match 'the tree' 'the tree itself' "$OUT"
expect_code 3 "$KINFS" scan --store="$SOURCE/inside" "$SOURCE"
expect_match 'in the tree' 'a directory of the tree' "$OUT"

# A store that is no store, and one that is damaged.
: > "$SCRATCH/file"
refused "$SCRATCH/file" -o "store=$SCRATCH/file" "$SOURCE" "$MNT"
store=$SCRATCH/damaged
"$KINFS" scan --store="$store" "$SOURCE" > /dev/null
find "$store" -type f -name '*MANIFEST*' -exec sh -c 'head -c 100 /dev/urandom > "$1"' _ {} \;
refused 'check --repair' -o "store=$store" "$SOURCE" "$MNT"
expect_code 0 "$KINFS" rebuild --store="$store"
expect_code 0 "$KINFS" mount -o "store=$store" "$SOURCE" "$MNT"

# A store in use, by name of who uses it.
expect_code 3 "$KINFS" mount -o "store=$store" "$SOURCE" "$SCRATCH/other"
expect_match 'in use' "mounted on $MNT \(process [0-9]+\); .*kinfs umount" "$OUT"
expect_code 3 "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'mounted twice' 'mounted here already' "$OUT"
expect_code 3 "$KINFS" mount "$MNT" "$SCRATCH/other"
expect_match 'a mount of a mount' 'unmount that first' "$OUT"
"$KINFS" umount "$MNT"

# Another tree's store, another policy's.
refused "$store" -o "store=$store" "$SCRATCH/other" "$MNT"
refused "$store" -o "store=$store,policy=broder1997" "$SOURCE" "$MNT"

# No room, no right to write.
if [[ $(id -u) = 0 ]] && mkdir "$SCRATCH/small" && mount -t tmpfs -o size=64k none "$SCRATCH/small" 2>/dev/null; then
    head -c 65536 /dev/zero > "$SCRATCH/small/full" 2>/dev/null || true
    refused 'small' -o "store=$SCRATCH/small/store" "$SOURCE" "$MNT"
    rm -rf "$SCRATCH/small"/*
    mount -o remount,ro "$SCRATCH/small"
    refused 'small' -o "store=$SCRATCH/small/store" "$SOURCE" "$MNT"
fi

# Questions without an answer.
expect_code 3 "$KINFS" similar "$SCRATCH/other"
expect_code 3 "$KINFS" status "$SCRATCH/other"
expect_match 'unknown tree' 'kinfs scan' "$OUT"
expect_code 3 "$KINFS" umount "$SCRATCH/other"
expect_match 'no mount' 'not a mount point of kinfs' "$OUT"
expect_code 3 "$KINFS" status --store="$SCRATCH/nowhere"
says() { # CODE PATTERN COMMAND...: one line that matches
    local code=$1 pattern=$2
    shift 2
    expect_code "$code" "$KINFS" "$@"
    expect_match "$*" "^kinfs: [^"$'\n'"]*$pattern[^"$'\n'"]*$" "$OUT"
}
mkdir "$SCRATCH/gone"
words 1 50 > "$SCRATCH/gone/a"
"$KINFS" scan --store="$SCRATCH/st" "$SCRATCH/gone" > /dev/null
says 3 'gone: not a document of the tree; name' similar -s "$SCRATCH/st" "$SCRATCH/gone"
says 3 'nosuch: no such file or directory; ' status nosuch
# A pipe or a socket by a path, of which no table of mounts has the mount: what it is, and how to ask about it.
stream() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    says 3 "$pattern" "$@" < <(cat "$SCRATCH/gone/a")
    if command -v python3 > /dev/null; then
        expect_code 3 python3 -c 'import os, socket, sys; a = socket.socketpair(); os.dup2(a[0].fileno(), 0); os.execvp(sys.argv[1], sys.argv[1:])' "$KINFS" "$@"
        expect_match "a socket: $*" "$pattern" "$OUT"
    fi
}
stream 'stdin: not a regular file; a pipe is asked about as -' similar -s "$SCRATCH/st" --tree="$SCRATCH/gone" /dev/stdin
stream 'stdin: a pipe, a socket or a removed file, which is in no tree; .*kinfs similar -' similar /dev/stdin
stream 'stdin: a pipe, a socket or a removed file, which is in no tree; ' status /dev/stdin
stream 'stdin: not a regular file; name a document' compare -e --shingle=5 "$SCRATCH/gone/a" /dev/stdin
stream 'stdin: neither a file nor a directory' cluster /dev/stdin
stream 'stdin: no such directory; ' scan /dev/stdin
# Whoever reads JSON reads what goes wrong as JSON, too: the same text, and nothing else.
if command -v python3 > /dev/null; then
    for command in "status nosuch" "similar $SCRATCH/other" "clusters nosuch" "compare nosuch $SOURCE/a" "cluster nosuch" "shingles nosuch" \
        "settle nosuch" "pairs nosuch" "explain nosuch $SOURCE/a" "restore-list nosuch $SOURCE" "bag nosuch"; do
        # shellcheck disable=SC2086 # words
        expect_code 3 "$KINFS" $command
        # shellcheck disable=SC2086 # words
        expect_equal "$command" "$OUT" "$("$KINFS" $command --json 2>&1 | python3 -c '
import json, sys
for line in sys.stdin:
    error = json.loads(line)
    assert list(error) == ["error"], error
    print("kinfs: " + error["error"])')"
    done
fi
# A name may be anybody's: nothing of it is a command to the terminal, be it one of two bytes.
says 3 'a\?\?1m\?b\?é: no such file or directory; ' status $'a\xc2\x9b1m\eb\x7f\xc3\xa9'
says 3 'a\?1m: no such file or directory; ' status $'a\x9b1m'
for option in $'--a\e\x9b1m' $'-\e' --shingle=$'\e\x9b1m' $'--s\e\x9b1m'; do
    expect_code 2 "$KINFS" compare "$option" "$SOURCE/a" "$SOURCE/a"
    expect_equal "$option" '' "$(LC_ALL=C tr -d '\n -~' <<< "$OUT")"
done
says 3 'nosuch: no such file or directory; ' compare -s "$SCRATCH/st" "$SCRATCH/gone/a" "$SCRATCH/gone/nosuch"
says 3 'nosuch: no such file; ' compare -e --shingle=5 "$SOURCE/a" nosuch
says 3 'nosuch: no such directory; ' scan nosuch
for n in -1 0 10001; do
    expect_code 2 "$KINFS" shingles --top=$n
    expect_match "--top=$n" "--top takes a number from 1 to 10000, not '$n'" "$OUT"
done
expect_code 2 "$KINFS" clusters --id=0
expect_match '--id=0' "--id takes a number from 1 to [0-9]+, not '0'" "$OUT"
says 2 'kinfs mount --help' mount
says 2 'kinfs mount --help' mount -o nonsense "$SOURCE" "$MNT"
says 2 '-o policy=nonsense: no such policy; there are: default, broder1997' mount -o policy=nonsense "$SOURCE" "$MNT"
for command in "scan $SOURCE" "cluster $SOURCE"; do
    # shellcheck disable=SC2086
    expect_code 2 "$KINFS" $command --policy=nonsense
    expect_match "$command" '--policy=nonsense: no such policy; there are: default, broder1997' "$OUT"
done
says 2 'kinfs mount --help' mount "$SOURCE" "$MNT" more

# Without the file that says who had it last, the store itself says which tree it is of.
for damage in 'rm' ': >'; do
    eval "$damage $SCRATCH/st/holder"
    "$KINFS" status --store="$SCRATCH/st" > status
    expect_match 'the tree of a store' "tree +$SCRATCH/gone" "$(cat status)"
    eval "$damage $SCRATCH/st/holder"
    expect_code 1 "$KINFS" similar --store="$SCRATCH/st" "$SCRATCH/gone/a"
done
"$KINFS" mount -o "store=$SCRATCH/st" "$SCRATCH/gone" "$MNT"
rm "$SCRATCH/st/holder"
expect_match 'of a mount' "mounted on +$MNT" "$("$KINFS" status --store="$SCRATCH/st")"
expect_code 1 "$KINFS" similar --store="$SCRATCH/st" "$MNT/a"
"$KINFS" umount "$MNT"
# By the file that is gone umount would have known when the daemon has ended.
while [[ $("$KINFS" status --store="$SCRATCH/st") == *"$MNT"* ]]; do sleep 0.05; done
rm -r "$SCRATCH/gone"
says 3 "tree of store $SCRATCH/st; " status --store="$SCRATCH/st"

# A store that is taken away under its mount.
"$KINFS" mount -o "store=$SCRATCH/away" "$SOURCE" "$MNT"
rm -rf "$SCRATCH/away"
says 3 "$SCRATCH/away, has been removed; " status "$MNT"
"$KINFS" umount "$MNT" || true
expect_equal 'the tree is as it was' "$(printf '%s\n' a inside)" "$(ls "$SOURCE")"

# No process for the daemon.
if command -v strace > /dev/null; then
    # Under strace leaks cannot be looked for.
    expect_code 3 env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
        strace -o /dev/null -e 'inject=?clone,?clone3,?fork:error=EAGAIN' "$KINFS" mount "$SOURCE" "$MNT"
    expect_match 'no process' '^kinfs: no process for the daemon: [^;]*; see what ulimit -u' "$OUT"
fi

# Where there is no FUSE: what root can do about it; and of a store nothing was made for good.
if [[ $UID = 0 && $SCRATCH != /dev/* ]] && unshare --mount --propagation private true 2> /dev/null; then
    # shellcheck disable=SC2016
    expect_code 3 unshare --mount --propagation private bash -c '
        findmnt -rno TARGET -t fuse.kinfs | while IFS= read -r target; do umount -l "$(printf %b "$target")"; done
        mount -t tmpfs none /dev
        exec "$@"' - "$KINFS" mount -o "store=$SCRATCH/unused" "$SOURCE" "$MNT"
    expect_match 'no device' "^kinfs: cannot mount on $MNT: [^"$'\n'"]*; root loads the module with modprobe fuse$" "$OUT"
    [[ ! -e $SCRATCH/unused ]] || fail 'a store was left behind'
fi
