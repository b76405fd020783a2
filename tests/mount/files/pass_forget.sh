#!/usr/bin/env bash
# The kernel forgets inodes while others look them up, open them and lose their names.
# Runs alone: it makes the kernel forget what others have looked up as well.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $UID = 0 ]] || skip "only root can make the kernel forget"
[[ -w /proc/sys/vm/drop_caches ]] || skip "the kernel cannot be made to forget here"
start -o nosketch
mkdir "$MNT/d"
for i in $(seq 200); do
    echo "$i" > "$MNT/d/$i"
done

look() { # NUMBER: until told to end
    local i n=0
    until [[ -e $SCRATCH/end ]]; do
        for i in $(seq "$1" 3 200); do
            [[ $(< "$MNT/d/$i") = "$i" ]] || fail "content of $i"
        done
        [[ $(find "$MNT/d" -type f | wc -l) -ge 200 ]] || fail "names are missing"
        echo "$MNT" > "$MNT/d/own-$1"
        mv "$MNT/d/own-$1" "$MNT/d/moved-$1"
        rm "$MNT/d/moved-$1"
        n=$((n + 1))
        echo "$n" > "$SCRATCH/rounds-$1"
    done
}

looking=()
for i in 1 2 3; do
    look "$i" &
    looking+=($!)
done
# Each of them has been through all names while the kernel forgot, several times.
until [[ $(cat rounds-* 2> /dev/null | sort -n | head -1) -ge 3 && $(ls rounds-* | wc -l) = 3 ]]; do
    echo 2 > /proc/sys/vm/drop_caches
    for i in "${looking[@]}"; do
        kill -0 "$i" || fail "one who looked has failed"
    done
done
touch end
for i in "${looking[@]}"; do
    wait "$i" || fail "one who looked has failed"
done
expect_equal "names in the end" "$(find "$SOURCE/d" | wc -l)" "$(find "$MNT/d" | wc -l)"
stop
