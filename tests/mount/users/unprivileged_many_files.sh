#!/usr/bin/env bash
# 20,000 files known to the kernel, with 1,024 descriptors and no file handles.
. "${0%/mount/*}/lib/shell/unprivileged.sh"
SCRATCH_IN_MEMORY=1 become_ordinary_user
. "${0%/mount/*}/lib/shell/mount.sh"
# Of which the daemon keeps a few hundred open.
N_DIRECTORIES=100 N_FILES=200

mkdir -p "$SOURCE/top"
for ((d = 0; d < N_DIRECTORIES; d++)); do
    mkdir -p "$SOURCE/top/$d/deep"
    (cd "$SOURCE/top/$d/deep" && seq "$N_FILES" | xargs touch)
done
ulimit -n 1024
start -o nosketch
pid=$(pgrep -n -f "mount.*$MNT") || fail 'no daemon'

count() { # DIRECTORY...: its files; each is looked up
    find "$@" -type f -printf '%s\n' | wc -l
}
expect_equal 'walked' $((N_DIRECTORIES * N_FILES)) "$(count "$MNT/top")"
few_descriptors() { (($(ls "/proc/$pid/fd" | wc -l) < 512)); }
soon 'few descriptors' few_descriptors # of what was closed the daemon is told a moment later
expect_equal 'handles' false "$("$KINFS" status --json "$MNT" | sed -n 's/.*"handles": *\([a-z]*\).*/\1/p')"
mv "$MNT/top" "$MNT/renamed"
expect_equal 'after a directory above was renamed' $((2 * N_FILES)) "$(count "$MNT/renamed"/{1,99})"

# Each known, none asked for by name.
for ((d = 0; d < N_DIRECTORIES; d++)); do
    echo "$d" > "$MNT/renamed/$d/deep/7"
    ln "$MNT/renamed/$d/deep/7" "$MNT/renamed/$d/link"
done
mv "$MNT/renamed" "$MNT/again"
for ((d = 0; d < N_DIRECTORIES; d++)); do
    expect_equal 'written' "$d" "$(cat "$MNT/again/$d/link")"
    expect_equal 'on the disk' "$d" "$(cat "$SOURCE/again/$d/deep/7")"
done

# As many open as the limit leaves: those that only save an opening make room.
for ((i = 1; i <= 800; i++)); do
    exec {fd}< "$MNT/again/$((i % N_DIRECTORIES))/deep/$((i / N_DIRECTORIES + 1))" || fail "open file $i"
    fds[i]=$fd
done
expect_equal 'beside open files' "$N_FILES" "$(count "$MNT/again/3/deep")"
for fd in "${fds[@]}"; do
    exec {fd}<&-
done

# A shell in a directory that is removed, and one in a directory that others push out.
cd "$MNT/again/5/deep"
inode=$(stat -c %i .)
count "$MNT/again/6" > /dev/null
expect_equal 'working directory' "$inode" "$(stat -c %i .)"
rm -r "$MNT/again/5"
count "$MNT/again/6" > /dev/null
expect_equal 'removed working directory' "$inode 0" "$(stat -c '%i %h' .)"
cd "$SCRATCH"

rm -r "$MNT/again"
expect_equal 'removed' '' "$(ls -A "$SOURCE")"
stop
