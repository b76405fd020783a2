#!/usr/bin/env bash
# Who changes a file of another takes its suid bit away, whatever the views were asked before: to ask
# for others a thread takes their identity, and must not come back with more rights than it had.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs setpriv
as_other=(setpriv --reuid=12345 --regid=12345 --clear-groups)
mkdir -p "$SOURCE/d"
touch "$SOURCE/d/"{1..20}
chmod 755 "$SCRATCH" "$SOURCE"
echo text > "$SOURCE/suid"
for options in allow_other allow_other,nopassthrough; do
    start -o "$options"
    # By as many at a time as there may be threads that serve.
    for _ in {1..40}; do
        "${as_other[@]}" stat -c %F "$MNT/similar/d/"{1..20} > /dev/null &
    done
    wait
    for _ in {1..10}; do
        chmod 4777 "$SOURCE/suid"
        "${as_other[@]}" truncate -s 3 "$MNT/suid"
        expect_equal "$options: truncated" 777 "$(stat -c %a "$SOURCE/suid")"
        chmod 4777 "$SOURCE/suid"
        exec 3< "$MNT/suid" # with passthrough what this opening may, all of the file may
        "${as_other[@]}" sh -c "echo more >> '$MNT/suid'"
        exec 3<&-
        expect_equal "$options: written" 777 "$(stat -c %a "$SOURCE/suid")"
    done
    stop
done
