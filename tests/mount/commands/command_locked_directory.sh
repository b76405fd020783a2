#!/usr/bin/env bash
# kinfs cluster stands at a directory that its user keeps locked, but not beyond a signal, which a name looked up there would be. What has
# a name there is left out by kinfs group, and kinfs pairs and copies end at it.
# Begins early: it mostly waits, three times for 20 s.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked"
words 1 100 | tee "$SOURCE/a" > "$SOURCE/own/b"
cp "$SOURCE/a" "$SOURCE/own/locked/c"
words 3 98 > "$SOURCE/own/locked/near"
chown -R 54321:54321 "$SOURCE/own"
expect_code 0 "$KINFS" scan --store="$SCRATCH/store" "$SOURCE"
serve_hanging
"$LIB/greed/keep_locked.py" 54321 "$SCRATCH/hanging/f" "$SOURCE/own/locked" > locked &
await_locks $!

"$KINFS" cluster "$SOURCE" > /dev/null 2>&1 &
command=$!
stands() { # a system call that does not come to its end, twice the same
    local first
    first=$(< "/proc/$command/syscall")
    sleep 0.2
    [[ $first != running && $first = "$(< "/proc/$command/syscall")" ]]
}
soon 'it stands' stands
kill -KILL $command
soon 'it ends' has_ended $command
wait $command || true

# The kernel knows these names no more, so that each has to be looked up.
[[ -w /proc/sys/vm/drop_caches ]] || skip 'the kernel cannot be made to forget here'
echo 2 > /proc/sys/vm/drop_caches
asks() { # CODE ARGUMENT...: what it says, in the file `out`
    local code=$1
    shift
    "$KINFS" "$@" > out 2>&1 < names &
    command=$!
    await_end $command || fail "kinfs $1 hangs"
    expect_code "$code" wait $command
}
printf '%s\n' "$SOURCE"/{a,own/b,own/../own/locked/c} > names
asks 0 group --store="$SCRATCH/store"
expect_match 'kinfs group' "^kinfs: $SOURCE/own/../own/locked/c: .* not answered for 20 s.*"$'\n'"$SOURCE/(a|own/b)"$'\n'"$SOURCE/own/../own/locked/c$" "$(< out)"
echo 2 > /proc/sys/vm/drop_caches # what was used since the last time stays for once
asks 3 pairs --exact --store="$SCRATCH/store"
expect_match 'kinfs pairs' "^kinfs: $SOURCE/own/locked/.*not answered for 20 s" "$(< out)"
echo 2 > /proc/sys/vm/drop_caches
asks 3 copies --store="$SCRATCH/store" "$SOURCE/a"
expect_match 'kinfs copies' "kinfs: $SOURCE/own/locked/.*not answered for 20 s" "$(< out)"
