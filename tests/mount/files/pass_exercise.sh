#!/usr/bin/env bash
# Thousands of random reads, writes, stores, truncations, allocations and copies on one file leave in it
# what a model says, by every way of looking. EXERCISE_SEED repeats a failure, EXERCISE_OPERATIONS
# makes it longer.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
exercise() { # FILE [BACKING]
    python3 "$LIB/work/exercise.py" "$@" --operations "${EXERCISE_OPERATIONS:-2500}" \
        --seed "${EXERCISE_SEED:-$((RANDOM * 32768 + RANDOM))}"
}
exercise plain
for option in passthrough nopassthrough; do
    start -o "$option"
    for i in 1 2; do
        exercise "$MNT/file$i" "$SOURCE/file$i"
    done
    stop
done
