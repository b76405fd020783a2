#!/usr/bin/env bash
# What a thread found by a name is not given to it in the place of another file that it asks for, once the first is forgotten.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root serves other users'
needs python3
rounds=30
chmod 755 "$SCRATCH"
for option in passthrough nopassthrough watch=none; do
    mkdir -p "$SOURCE"/{own,others}
    chown 54321:54321 "$SOURCE/own"
    for ((i = 0; i < rounds; i++)); do
        mkdir "$SOURCE/others/$i"
        (cd "$SOURCE/others/$i" && umask 077 && for ((n = 100; n < 160; n++)); do echo "not yours" > "f$n"; done)
    done
    start -o "views=none,allow_other,$option"
    python3 "$LIB/beside/reused_inode.py" "$MNT" "$SOURCE" 54321 "$rounds" || fail "see above, $option"
    stop
    ! grep -rq changed "$SOURCE/others" || fail "files of others were changed, $option"
    find "$SOURCE" -mindepth 1 -delete
done
