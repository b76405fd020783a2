#!/usr/bin/env bash
# A walk through unique/ is not ended by signals that its process handles, and shows what is still read.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
UNIQUE=$MNT/unique
mkdir -p "$SOURCE"/{a,b}
for i in {1..40}; do
    words $((i * 10000)) 3000 | tee "$SOURCE/a/$i" > "$SOURCE/b/$i"
    { words $((i * 10000)) 2990; words 1 $((i % 9)); } > "$SOURCE/b/version $i"
done
touch -d @1000000000 "$SOURCE"/a/*
printf '[extractor "image/png"]\ncommand = /bin/sleep 1000\nseconds = 1000\n' > kinfs.conf
start -o "config=$SCRATCH/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null

# The first walk compares, with signals all the time.
python3 "$LIB/work/interrupted_walk.py" "$UNIQUE" 1 | sort > interrupted || fail 'a signal ended the walk'
(cd "$UNIQUE" && find . -type f -printf '%P\n' | sort) > walked
expect_equal 'names' "$({ echo .kinfs-skipped.tsv; printf 'a/%s\n' {1..40}; } | sort)" "$(cat walked)"
expect_equal 'names that are lacking with signals' '' "$(comm -13 interrupted walked)"
diff walked <(python3 "$LIB/work/interrupted_walk.py" "$UNIQUE" 1 | sort) > difference || fail "known already: $(cat difference)"

# While a document is read for a long time it is shown.
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$MNT/long"
for i in {1..40}; do
    words $((i * 10000)) 3000 > "$SOURCE/a/new $i"
done
find "$UNIQUE" -type f > walked
grep -q 'unique/long$' walked || fail 'what is not read yet is not shown'
stop
