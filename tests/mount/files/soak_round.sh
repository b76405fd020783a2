#!/usr/bin/env bash
# A tree under everything at once: processes that create, rename, exchange, link, lock, map and remove in
# the same directories, one that reads the views, one that edits the source beside the mount; the
# daemon killed amid it, unmounted, told to scan, its caches dropped. Afterwards mount and source are
# the same, and the index answers as one made anew.
#
# SOAK_SEED (1) decides what is done and when; SOAK_CYCLES (4) times SOAK_OPERATIONS (150) in each
# process; SOAK_VIEWS= leaves the views out.
# Runs alone: it makes the kernel forget what others have looked up as well.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
churn=$LIB/work/churn.py
seed=${SOAK_SEED:-1} cycles=${SOAK_CYCLES:-4} operations=${SOAK_OPERATIONS:-150}
[[ ${SOAK_VIEWS-yes} ]] && views=views || views=
RANDOM=$seed
echo "seed $seed"

daemon() { sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder; }

state_of() { # DIRECTORY
    (cd "$1" && find work beside -printf '%p %y %m %n %s %T@ %U:%G %l\n' | sed -E '/ d /s/( d [0-9]+ [0-9]+) [0-9]+/\1/' |
        LC_ALL=C sort)
    (cd "$1" && find work beside -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# Of all clusters and documents, in an order that does not depend on what came first.
answers() {
    local rest
    "$KINFS" clusters --members "$MNT" | cut -f 1,2,5 | LC_ALL=C sort |
        awk -F '\t' '$1 != id { if (id) print ""; id = $1 } { printf "%s %s ", $2, $3 } END { print "" }' | LC_ALL=C sort
    while IFS= read -r -d '' rest; do
        echo "$rest"
        "$KINFS" similar -t 0 -n 0 "$MNT/$rest" | LC_ALL=C sort || true
    done < <(cd "$SOURCE" && find work beside -type f -print0 | LC_ALL=C sort -z)
}

for ((cycle = 0; cycle < cycles; cycle++)); do
    option=$( ((RANDOM % 3)) && echo passthrough || echo nopassthrough)
    # In turn: each of the four comes within four cycles, the killing too.
    event=$(((seed + cycle) % 4)) when=$((RANDOM % operations + 1))
    mountpoint -q "$MNT" 2> /dev/null || start -o "$option"
    mkfifo progress
    # One process edits the same kind of tree from outside; what it makes is read through the mount.
    mkdir -p "$SOURCE/beside"
    python3 "$churn" "$SOURCE/beside" $((seed * 1000 + cycle + 500)) 1 "$operations" > /dev/null &
    beside=$!
    python3 "$churn" "$MNT" $((seed * 1000 + cycle)) 3 "$operations" $views > progress &
    inside=$!
    n=0
    while read -r _; do
        n=$((n + 1))
        [[ $n = "$when" ]] || continue
        case $event in
            0) kill -KILL "$(daemon)" ;;
            1) "$KINFS" scan "$MNT" > /dev/null ;;
            2) [[ $UID != 0 ]] || echo 2 > /proc/sys/vm/drop_caches ;;
            3) "$KINFS" settle "$MNT" > /dev/null || true ;;
        esac
    done < progress
    wait "$inside" || fail "inside, cycle $cycle of seed $seed"
    wait "$beside" || fail "beside, cycle $cycle of seed $seed"
    rm progress
    # A mount that was killed is cleaned away by the next.
    if [[ $event = 0 ]]; then
        start -o "$option"
    elif ((RANDOM % 2)); then
        stop
        start -o "$option"
    fi
done
stop
start
"$KINFS" settle "$MNT" > /dev/null
state_of "$SOURCE" > source.state
state_of "$MNT" > mount.state
diff -u source.state mount.state > difference || fail "mount and source differ, seed $seed: $(head -n 20 difference)"
if [[ $views ]]; then
    answers > lived
    stop
    "$KINFS" rebuild "$SOURCE" > /dev/null
    start
    "$KINFS" settle "$MNT" > /dev/null
    answers > rebuilt
    diff -u rebuilt lived > difference || fail "the index answers otherwise than one made anew, seed $seed: $(head -n 40 difference)"
    [[ $(wc -l < lived) -gt 20 ]] || fail "no answers at all"
fi
stop
