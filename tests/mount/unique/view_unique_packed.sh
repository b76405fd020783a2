#!/usr/bin/env bash
# Packed documents are compared in full as far as what they unpack to is in proportion to what they take: a file of a kilobyte
# that unpacks to hundreds of megabytes is shown, and takes nobody's time but its own.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
UNIQUE=$MNT/unique
mkdir -p "$SOURCE"
python3 - "$SOURCE" << 'PY'
import bz2, gzip, os, sys
os.chdir(sys.argv[1])
for i in range(4):
    for name, blank in (("near", b""), ("far", b" " * (40 << 20))):
        text = [f"{name}{k}" for k in range(2000)]
        text[100 * i] = "other" # ten shingles of some four thousand are others
        data = " ".join(text).encode() + blank
        for end, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
            with open(f"{name}{i}{end}", "wb") as file:
                file.write(pack(data))
            os.utime(f"{name}{i}{end}", (10**9 + i, 10**9 + i))
PY
start
"$KINFS" settle "$MNT" > /dev/null
cat "$UNIQUE/.kinfs-skipped.tsv" > list
expect_equal 'what is shown of what unpacks to little' 'near0.bz2' "$(ls "$UNIQUE" | grep near | xargs)"
# Texts that are equal are one, however long the blanks in them are; of each one name is left, and it is shown.
expect_equal 'how many are shown of what unpacks to much' 4 "$(ls "$UNIQUE" | grep -c far)"
expect_equal 'what they stand in for' 4 "$(grep -c $'^far[^\t]*\tfar' list)"
while IFS=$'\t' read -r name other _; do
    [[ ${name::3} != far || ${name::4} = "${other::4}" ]] || fail "$name is left out for $other"
done < list
stop
