#!/usr/bin/env bash
# A daemon that is stopped: no command waits for it for ever, each says what is wrong and what helps; let go on it answers again.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/a"
mkdir "$SCRATCH/other"
words 1 90 > "$SCRATCH/other/x"
start
holder=$(echo "$KINFS_STATE_DIR"/*/holder)
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$holder")
expect_code 0 "$KINFS" status "$MNT"
# umount(8), by which a test that failed cleans up, waits for ever.
trap 'kill -CONT "$pid" 2> /dev/null || true' EXIT

# asks NUMBER ARGUMENT...: the command in the background; what it says, and its exit code, in files of that number.
asks() {
    local number=$1 code=0
    shift
    timeout -s KILL 120 "$KINFS" "$@" > "$SCRATCH/said.$number" 2>&1 < /dev/null || code=$?
    echo "$code" > "$SCRATCH/code.$number"
}

# Wherever a command takes a path, and where the mount is below it.
cd "$SCRATCH"
kill -STOP "$pid"
asks store status -s "${holder%/*}" &
of_store=$!
n=0
while read -r arguments; do
    n=$((n + 1))
    said[n]=$arguments
    # shellcheck disable=SC2086 # words
    asks "$n" $arguments &
    asking[n]=$!
done << EOF
cluster mnt
cluster .
cluster other $SCRATCH
cluster other mnt/a
cluster -c mnt/a other
cluster --keep=mnt/k other
cluster --scratch=mnt other
compare mnt/a other/x
compare -e mnt/a other/x
compare -e other/x mnt/a
compare --resample mnt/a other/x
compare --sketch=bottom-k mnt/a other/x
similar mnt/none
similar --tree=other mnt/a
similar --tree=mnt other/x
similar -s ${holder%/*} --tree=source other/x
mount source mnt
mount mnt other
mount -o store=mnt/s other
mount -o log=mnt/l other
scan mnt
scan -s mnt/s other
settle mnt
umount mnt
umount --force mnt/none/b
umount --lazy mnt/none/b
status source
similar source/a
check mnt
check --deep mnt/a
rebuild mnt
clusters mnt
clusters mnt/a
shingles mnt
EOF
for ((i = 1; i <= n; i++)); do
    wait "${asking[i]}"
    expect_equal "the exit code of kinfs ${said[i]}: $(< "$SCRATCH/said.$i")" 3 "$(< "$SCRATCH/code.$i")"
    expect_match "kinfs ${said[i]}" "the mount $MNT has not answered.*kill -CONT.*umount --force" "$(< "$SCRATCH/said.$i")"
done
wait "$of_store"
expect_equal "the exit code of a question by the store: $(< "$SCRATCH/said.store")" 3 "$(< "$SCRATCH/code.store")"
expect_match 'a question by the store' "daemon \(process $pid\) is stopped; kill -CONT $pid" "$(< "$SCRATCH/said.store")"
kill -CONT "$pid"
expect_code 0 "$KINFS" status "$MNT"

kill -STOP "$pid"
expect_code 0 "$KINFS" umount --force "$MNT"
kill -CONT "$pid"
await_end "$pid" || fail "the daemon does not end"
