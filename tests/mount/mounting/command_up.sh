#!/usr/bin/env bash
# tools/up with relative names: what it advises works from anywhere, and does nothing that is in a name. (In a checkout that is
# built.)
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs ninja

mkdir -p checkout/tools checkout/.deps checkout/build/tools
cp "$LIB/../../tools/up" checkout/tools/
printf '#!/bin/sh\n' > checkout/tools/deps
chmod +x checkout/tools/deps
: > checkout/.deps/env
echo 'build all: phony' > checkout/build/build.ninja
ln -s "$KINFS" checkout/build/tools/kinfs

mkdir -p source/d anywhere
words 1 100 > 'source/d/a;>ran'
words 11 100 > 'source/d/b;>ran'
for again in '' ' already'; do
    advice=$(checkout/tools/up source mnt)
    expect_match 'mounted' "$SOURCE (is mounted )?on $MNT$again" "$advice"
    cd anywhere
    for try in "$(sed -n 's/^Try: //p' <<< "$advice")" "$(sed -n 's/^ *getfattr/getfattr/p' <<< "$advice")"; do
        [[ -n $try && -n $(bash -c "$try") ]] || fail "says nothing: $try"
    done
    cd "$SCRATCH"
done
bash -c "$(sed -n '$s/^ *//p' <<< "$advice")"
[[ ! -e mnt/d ]] || fail "still mounted"
[[ ! -e anywhere/ran ]] || fail "a name was run"
