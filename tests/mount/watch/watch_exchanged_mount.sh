#!/usr/bin/env bash
# A user who has mounts in a directory, and gives its name to one that is locked for ever and back, all the time, does not hold up the reader of
# events, who looks at the mounts: the name that one was at is not looked for in the other.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
case $(uname -m) in
x86_64) openat=257 ;;
aarch64) openat=56 ;;
*) skip 'the number of openat(2) is not known' ;;
esac
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked" "$SOURCE/own/sub/mounted" "$SOURCE/open/mounted"
chown -R 54321:54321 "$SOURCE/own"
serve_hanging "$SOURCE"/own/{sub,locked}/mounted "$SOURCE/open/mounted"
mount -t tmpfs none "$SOURCE/own/sub/mounted"
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null
daemon=$(pgrep -f "^$KINFS mount .*$SOURCE $MNT")
"$LIB/greed/keep_locked.py" 54321 "$SCRATCH/hanging/f" "$SOURCE/own/locked" > locked &
locker=$!
await_locks "$locker"

python3 "$LIB/greed/exchange.py" "$SOURCE/own/sub" "$SOURCE/own/locked" &
exchange=$!
for i in $(seq 400); do # each time mounts are looked at
    mount -t tmpfs none "$SOURCE/open/mounted"
    umount -l "$SOURCE/open/mounted" # which kinfs may be looking at
done
kill "$exchange"
wait "$exchange" || true
# Others of its threads look for names that are to be known, and may stand, by openat2(2).
stands() { cat "/proc/$daemon/task"/*/syscall | grep -q "^$openat "; }
n=0
while stands && ((n++ < 20)); do sleep 0.1; done
! stands || fail 'a name is looked for in the locked directory'

end_locks "$locker"
stop
