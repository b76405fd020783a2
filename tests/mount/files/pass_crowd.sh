#!/usr/bin/env bash
# Many processes create, rename, exchange, remove, write and read in the same directories. Nobody sees
# ESTALE or half a file; then the mount shows what the backing tree holds, name by name, and the index
# answers as one made anew. CROWD_SEED repeats a failure, CROWD_OPERATIONS makes it longer.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/answers.sh"
needs python3
crowd=$LIB/work/crowd.py

for option in passthrough nopassthrough; do
    start -o "views=none,$option"
    python3 "$crowd" "$MNT" --operations "${CROWD_OPERATIONS:-800}" --seed "${CROWD_SEED:-$((RANDOM * 32768 + RANDOM))}"
    python3 "$crowd" --same "$MNT" "$SOURCE"
    "$KINFS" settle "$MNT" > settled
    stop
    clusters_of "$SOURCE" > "followed_$option"
    "$KINFS" rebuild "$SOURCE" > rebuilt
    clusters_of "$SOURCE" > "rebuilt_$option"
    [[ -s rebuilt_$option ]] || fail "no clusters to compare"
    diff "followed_$option" "rebuilt_$option" || fail "the index is not that of a rebuild"
done
