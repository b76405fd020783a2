#!/usr/bin/env bash
# A process that waits in a view can be frozen at once, as for a suspend, and when it is thawed it has
# an answer, not EINTR; a stopped daemon keeps its callers waiting, killable, and serves when it goes on.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "freezing needs root"
needs python3

[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
printf '[extractor "image/png"]\ncommand = /bin/sleep 1000\nseconds = 1000\n' > kinfs.conf
start -o "settle_ms=100000,config=$PWD/kinfs.conf"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/long"

# The daemon is stopped: a caller can be killed, and all goes on afterwards.
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
kill -STOP "$pid"
stat "$MNT/none" > /dev/null 2>&1 &
stat=$!
until [[ $(cat "/proc/$stat/wchan") = request_wait_answer ]]; do
    kill -0 "$stat" 2> /dev/null || break
done
kill -KILL "$stat"
kill -CONT "$pid"
wait "$stat" && fail 'an answer of a stopped daemon' || true
expect_equal 'goes on' 29 "$(stat -c %s "$MNT/long")"

# A process frozen while it waits for the index.
group=
for parent in /sys/fs/cgroup/freezer /sys/fs/cgroup /sys/fs/cgroup/unified; do
    [[ -d $parent ]] && mkdir "$parent/kinfs-test.$$" 2> /dev/null || continue
    group=$parent/kinfs-test.$$
    [[ ! -e $group/freezer.state && ! -e $group/cgroup.freeze ]] || break
    rmdir "$group"
    group=
done
[[ $group ]] || skip "no cgroup that freezes here"
trap 'rmdir "$group"' EXIT
freeze() { # 1 or 0
    if [[ -e $group/cgroup.freeze ]]; then
        echo "$1" > "$group/cgroup.freeze"
        until grep -q "^frozen $1" "$group/cgroup.events"; do :; done
    else
        [[ $1 = 1 ]] && echo FROZEN > "$group/freezer.state" || echo THAWED > "$group/freezer.state"
        until grep -q "$([[ $1 = 1 ]] && echo FROZEN || echo THAWED)" "$group/freezer.state"; do :; done
    fi
}
(echo "$BASHPID" > "$group/cgroup.procs"; exec python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.kinfs.state").decode())' "$MNT/long") > out 2>&1 &
asking=$!
until [[ $(cat "/proc/$asking/wchan") = request_wait_answer ]]; do
    kill -0 "$asking" 2> /dev/null || fail 'did not wait for the index'
done
freeze 1
freeze 0
wait "$asking" || fail "exit code $? after thawing: $(cat out)"
expect_equal 'what is known' pending "$(cat out)"
trap - EXIT
rmdir "$group"
rm "$MNT/long"
stop
