#!/usr/bin/env bash
# While documents are edited, in the mount and beside it, unique/ lacks none at any moment that has no stand-in there.
# Begins early: it makes thousands of edits.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
edits=$((10000 / ${REPEAT_SHARE:-1}))
mkdir -p "$SOURCE"/{a,b}
for option in watch=auto,near=0.9 watch=auto,near=0.85,representative=newest,nopassthrough; do
    start -o "$option"
    near=${option#*near=}
    python3 "$LIB/work/unique_edits.py" "$MNT" "$SOURCE" $((edits / 2)) $RANDOM "${near%%,*}" > looks
    cat looks
    "$KINFS" settle "$MNT" > /dev/null
    # At rest the list says the same as the names, and `kinfs compare` of each line what the list says.
    while IFS=$'\t' read -r path other resemblance _; do
        [[ ! -e $MNT/unique/$path && -e $MNT/unique/$other ]] || fail "$path is said to be left out for $other"
        if [[ $resemblance = 1.0000 ]]; then
            cmp -s "$SOURCE/$path" "$SOURCE/$other" || fail "$path and $other are not equal"
        else
            expect_match "$path and $other" "^resemblance +$resemblance" "$("$KINFS" compare --exact "$SOURCE/$path" "$SOURCE/$other" | head -n 1)"
        fi
    done < "$MNT/unique/.kinfs-skipped.tsv"
    "$KINFS" check "$MNT" > /dev/null || fail 'the store is damaged'
    stop
done
