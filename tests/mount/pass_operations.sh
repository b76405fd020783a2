#!/usr/bin/env bash
# Every operation gives on the mount what it gives on a plain directory, with kernel passthrough and
# without.
. "$(dirname "$0")/../lib/mount.sh"
needs python3
ops=$(cd "$(dirname "$0")/../lib" && pwd)/tree_ops.py
mkdir plain
chmod 755 "$SCRATCH" # other users take part
python3 "$ops" plain > plain.out

for option in passthrough nopassthrough; do
    start -o "$option"
    mkdir "$MNT/$option"
    python3 "$ops" "$MNT/$option" > "$option.out" || fail "$(tail -n 3 "$option.out")"
    diff -u plain.out "$option.out" || fail "with $option an operation differs"
    stop
done
