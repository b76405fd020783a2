#!/usr/bin/env bash
# An ordinary user mounts by fusermount3: what that cannot do is said once, and both ways to unmount work.
. "${0%/mount/*}/lib/shell/unprivileged.sh"
become_ordinary_user
. "${0%/mount/*}/lib/shell/mount.sh"
needs fusermount3 setpriv
mkdir -p "$SOURCE" "$MNT"
words 1 100 > "$SOURCE/a"
words 1 100 > "$SOURCE/b"

expect_code 0 "$KINFS" mount -o "log=$SCRATCH/log" "$SOURCE" "$MNT"
expect_equal 'lines said' 1 "$(wc -l <<< "$OUT")"
expect_match 'said' 'without root: reads and writes .*; other users .*user_allow_other.*; owners ' "$OUT"
grep -q 'without root' "$SCRATCH/log" || fail 'not in the log'
expect_match 'status' 'limits  *reads and writes' "$("$KINFS" status "$MNT")"
expect_match 'status' '"passthrough": *false' "$("$KINFS" status --json "$MNT")"
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'views' '100-b' "$(ls "$MNT/similar/a")"
expect_match 'mounted as' "user_id=$UID.*default_permissions" "$(grep "$MNT" /proc/self/mountinfo)"
! chown 0 "$MNT/a" 2> /dev/null || fail 'an owner was changed'
echo more >> "$MNT/a"
cmp "$MNT/a" "$SOURCE/a"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
fusermount3 -u "$MNT"
await_end "$pid"

start
stop
! grep -q "$MNT" /proc/self/mountinfo || fail 'still mounted'

# Refused by fusermount3, which says why.
expect_code 3 "$KINFS" mount -o "allow_other,store=$SCRATCH/unused" "$SOURCE" "$MNT"
[[ ! -e $SCRATCH/unused ]] || fail 'a store was left behind'
mkdir "$SCRATCH/there"
expect_code 3 "$KINFS" mount -o "allow_other,store=$SCRATCH/there" "$SOURCE" "$MNT"
[[ -d $SCRATCH/there ]] || fail 'a directory that was there is gone'
expect_code 3 "$KINFS" mount -o allow_other "$SOURCE" "$MNT"
expect_match 'allow_other' 'user_allow_other.*fusermount3 refused' "$(tr '\n' ' ' <<< "$OUT")"
expect_code 3 setpriv --no-new-privs "$KINFS" mount "$SOURCE" "$MNT"
expect_match 'no new privileges' 'fusermount3: .*fusermount3 refused' "$(tr '\n' ' ' <<< "$OUT")"
! grep -q "$MNT" /proc/self/mountinfo || fail 'mounted all the same'
expect_match 'the store of the mounts before' $'\tb$' "$("$KINFS" similar "$SOURCE/a")"
