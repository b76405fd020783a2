#!/usr/bin/env bash
# Root of a user namespace, and who has some of root's rights without being root, change what the tree lets them change and nothing
# else, whoever takes a file away meanwhile, and get nothing of the daemon.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs python3 unshare setpriv
unshare -U true 2> /dev/null || skip 'no user namespaces here'
chmod 755 "$SCRATCH"
start -o allow_other,watch=none,views=none
pid=$(pgrep -n -f "mount.*$MNT") || fail 'no daemon'
who_serves() { sed -n '/^\(Uid\|Gid\|Groups\|CapEff\|CapPrm\):/p' "/proc/$pid/task/"*/status | sort -u; }
ls "$MNT" > /dev/null
before=$(who_serves)
namespace=$(readlink "/proc/$pid/ns/user")
python3 "$LIB/callers/user_namespace.py" "$SOURCE" "$MNT"
expect_equal 'the daemon afterwards' "$before" "$(who_serves)"
expect_equal 'its namespace' "$namespace" "$(readlink "/proc/$pid/ns/user")"
expect_equal 'children left' '' "$(pgrep -P "$pid" || true)"
stop

# Where /proc is of other processes than the kernel numbers callers by, nobody is known.
touch "$SOURCE/mine"
as_capable='setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=+fowner --ambient-caps=+fowner'
mkdir "$MNT" 2> /dev/null || true
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" unshare -pf --kill-child sh -c "'$KINFS' mount -o allow_other,watch=none,views=none '$SOURCE' '$MNT' &&
    { $as_capable chmod 640 '$MNT/mine'; echo \$?; } > '$SCRATCH/said' 2>&1; '$KINFS' umount '$MNT'" || true
expect_match 'said' '(not permitted|denied) 1$' "$(tr '\n' ' ' < "$SCRATCH/said" | sed 's/ *$//')"
expect_equal 'mode' 644 "$(stat -c %a "$SOURCE/mine")"

# Who asks cannot end before the answer, and so what /proc says of it is of who asked.
command -v mkfs.ext4 > /dev/null && command -v fsfreeze > /dev/null || exit 0
truncate -s 32M "$SCRATCH/image"
mkfs.ext4 -q -F "$SCRATCH/image"
mount -o loop "$SCRATCH/image" "$SOURCE" 2> /dev/null || exit 0
trap 'fsfreeze -u "$SOURCE" 2> /dev/null || true' EXIT
touch "$SOURCE/mine"
start -o allow_other,watch=none,views=none
pid=$(pgrep -n -f "mount.*$MNT") || fail 'no daemon'
stat "$MNT/mine" > /dev/null
fsfreeze -f "$SOURCE"
$as_capable chmod 640 "$MNT/mine" &
asker=$!
stands() { cat "/proc/$1"/task/*/status | grep -q '^State:.D'; }
soon 'the change stands' stands "$pid"
capabilities=$(grep '^CapEff' "/proc/$asker/status")
kill -9 "$asker"
soon 'who asks waits for the answer' stands "$asker"
expect_equal 'may as before' "$capabilities" "$(grep '^CapEff' "/proc/$asker/status")"
expect_match 'and that is something' '[1-9a-f]' "${capabilities#*:}"
fsfreeze -u "$SOURCE"
code=0
wait "$asker" || code=$?
expect_equal 'ended by the signal' 137 "$code"
expect_equal 'changed before' 640 "$(stat -c %a "$SOURCE/mine")"
stop
umount "$SOURCE"
