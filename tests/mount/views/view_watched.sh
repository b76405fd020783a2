#!/usr/bin/env bash
# Watches (inotify), which the kernel grants by the rights it is shown: on nothing of the views that the user could not
# list in the tree, whether modes or access control lists say so; who may list may use the views, by lists too.
. "${0%/mount/*}/lib/shell/mount.sh"
needs setpriv setfacl
python=/usr/bin/python3 # which others may run
[[ -x $python ]] || skip "$python is not installed"
[[ $EUID = 0 ]] || skip 'only root can become another user'
NAMED=54321 MEMBER=54322 GROUP=54323
as_named() { setpriv --reuid=$NAMED --regid=$NAMED --clear-groups "$@"; }
as_member() { setpriv --reuid=$MEMBER --regid=$MEMBER --groups=$GROUP "$@"; }

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{open,closed/below,blind/below,listed/below}
words 1 100 | tee "$SOURCE/open/a" "$SOURCE/open/secret" "$SOURCE/open/listed" "$SOURCE/closed/below/c" \
    "$SOURCE/blind/below/d" "$SOURCE/listed/below/e" > "$SOURCE/listed/b"
chmod 600 "$SOURCE/open/secret"
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
# Of the group's bits of the mode, which are the mask, the group itself has none.
chgrp $GROUP "$SOURCE/listed" "$SOURCE/open/listed"
setfacl -m "u:$NAMED:rx,g::-,m::rx,o::-" "$SOURCE/listed" 2> /dev/null || skip 'the file system has no access control lists'
setfacl -m "u:$NAMED:r,g::-,m::r,o::-" "$SOURCE/open/listed"
expect_equal 'shown of the list' '750 640' "$(stat -c %a "$SOURCE/listed" "$SOURCE/open/listed" | xargs)"
start -o allow_other
"$KINFS" settle "$MNT"

# watch PATH...: watches each below the mount that it may; says "ready", and at the end of its input the names it was told.
cat > watch << EOF
#!$python
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
watcher = libc.inotify_init1(os.O_NONBLOCK)
for path in sys.argv[1:]:
    if libc.inotify_add_watch(watcher, os.fsencode("$MNT/" + path), 0xFFF) >= 0:
        print("may watch", path)
print("ready", flush=True)
sys.stdin.read()
names = set()
while True:
    try:
        events = os.read(watcher, 1 << 16)
    except BlockingIOError:
        break
    while events:
        length = struct.unpack_from("=iIII", events)[3]
        names.add(events[16:16 + length].rstrip(b"\0").decode())
        events = events[16 + length:]
print("told:", *sorted(names - {""}))
EOF
chmod 755 watch
paths=()
for view in similar .kinfs/similar; do
    paths+=($view/open $view/open/{a,secret,listed} $view/closed $view/blind $view/blind/below $view/listed)
done
paths+=(.kinfs/query)

# learnt AS...: what a user is told while root goes everywhere, and another asks.
learnt() {
    local said end
    exec {said}< <(exec "$@" ./watch "${paths[@]}" < to_watcher)
    exec {end}> to_watcher
    while read -r -u "$said" line && [[ $line != ready ]]; do echo "$line"; done
    find "$MNT/similar" "$MNT/.kinfs" -type d -exec ls -a {} + > /dev/null
    setpriv --reuid=54399 --regid=54399 --clear-groups bash -c 'exec 3<> "$1/.kinfs/query/asked"' - "$MNT"
    exec {end}>&-
    cat <&"$said"
    exec {said}<&-
}
mkfifo to_watcher
views() { for name in "$@"; do echo "may watch similar/$name"; done; for name in "$@"; do echo "may watch .kinfs/similar/$name"; done; }
expect_equal 'by the list' "$(views open open/a open/listed blind/below listed; echo 'told: a b below d listed secret')" \
    "$(learnt setpriv --reuid=$NAMED --regid=$NAMED --clear-groups)"
expect_equal 'of the group' "$(views open open/a blind/below; echo 'told: a d listed secret')" \
    "$(learnt setpriv --reuid=$MEMBER --regid=$MEMBER --groups=$GROUP)"
expect_equal 'of no directory that is closed' '500 511' "$(stat -c %a "$MNT"/similar/{closed,blind} | xargs)"
expect_equal 'of documents' '555 500' "$(stat -c %a "$MNT"/similar/open/{a,secret} | xargs)"

# Who may read by a list has the views.
expect_equal 'a directory' 'b below' "$(as_named ls "$MNT/similar/listed" | xargs)"
expect_equal 'its document' '100-a' "$(as_named ls "$MNT/similar/listed/b" | grep -x '100-a')"
expect_equal 'a document' '100-a' "$(as_named ls "$MNT/similar/open/listed" | grep -x '100-a')"
as_named cmp "$MNT/similar/open/listed/100-a" "$SOURCE/open/a" || fail 'a link is not followed'
! as_member ls "$MNT/similar/listed" 2> /dev/null || fail 'the mask counts as the group'
! as_member ls "$MNT/similar/open/listed" 2> /dev/null || fail 'the mask counts as the group, of a document'
# As the list is now.
setfacl -m "g::rx" "$SOURCE/listed"
expect_equal 'the group, as it is let in' 'b below' "$(as_member ls "$MNT/similar/listed" | xargs)"
setfacl -b "$SOURCE/listed"
! as_named ls "$MNT/similar/listed" 2> /dev/null || fail 'a list that is gone counts'

# Questions are asked by all, and seen by none.
! as_named ls "$MNT/.kinfs/query" 2> /dev/null || fail 'questions are listed'
expect_equal 'by their owner' '' "$(ls -A "$MNT/.kinfs/query")"
expect_match 'an answer' 'open/a' "$(as_named bash -c 'exec 3<> "$1/.kinfs/query/x" && cat "$1/open/a" >&3 && cat <&3' - "$MNT")"
stop
