#!/usr/bin/env bash
# More long documents than there is room for, which somebody makes in no time, keep the scan from nothing; those there was no room
# for are read when there is. Of very many that are packed few stand before what is written next.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs getfattr python3

state() { getfattr --absolute-names -n user.kinfs.state --only-values "$MNT/$1"; }
# Not of one that is named: who asks for the state of a document has it looked at.
are_read() { (($("$KINFS" status --json "$MNT" | sed -n 's/.*"documents": *\([0-9]*\).*/\1/p') >= $1)); }
is_current() { [[ $(state "$1") = current ]]; }
pending() { # "", _scan or _slow
    "$KINFS" status --json "$MNT" | sed -n "s/.*\"pending$1\": *\([0-9]*\).*/\1/p"
}
# Of one owner: half of what there may be in all.
share=65536
is_full() { (($(pending _slow) == share)); }

# make_crowd FIRST LAST BYTES: documents with a hole.
make_crowd() {
    python3 - "$SOURCE/z/crowd" "$@" << 'EOP' || skip 'no room for long sparse files here'
import os, sys

directory, first, last, size = sys.argv[1:]
os.makedirs(directory, exist_ok=True)
for i in range(int(first), int(last) + 1):
    fd = os.open(f"{directory}/{i:06}", os.O_WRONLY | os.O_CREAT, 0o644)
    os.ftruncate(fd, int(size))
    os.close(fd)
EOP
}

# make_many DIRECTORY: so many documents that a scan has to find them, be the directory an old or a new one.
make_many() {
    mkdir -p "$1"
    words 1 60000 | (cd "$1" && split -l 50 -a 4 -d - d)
}

# In memory, where tens of thousands of files are made and removed in a moment.
mkdir disk
((EUID != 0)) || mount -t tmpfs none disk
SOURCE=$SCRATCH/disk/source
# The scan looks at the last name of a directory first, and at the names in a directory in their order.
make_crowd 1 66000 $((60 << 30))
make_crowd 66001 66010 $((100 << 20))
make_many "$SOURCE/other"
start -o workers=2
soon 'what the scan comes to after them is read' are_read 1200
soon 'as many as one owner may have' is_full
expect_equal 'there is no room for it' pending "$(state z/crowd/066001)"
make_many disk/new
mv disk/new "$SOURCE/new"
soon 'and what comes then' are_read 2400

# Once most of them are gone, and not before, there is.
for ((i = 66001; i <= 66010; i++)); do expect_equal "$i" pending "$(state "z/crowd/0$i")"; done
find "$SOURCE/z/crowd" \( -name '0[0-5]*' -o -name '06[0-5]*' \) -delete
rm "$SOURCE/z/crowd/066000"
"$KINFS" settle "$MNT" > /dev/null
for ((i = 66001; i <= 66010; i++)); do expect_equal "$i" current "$(state "z/crowd/0$i")"; done
expect_code 0 "$KINFS" check "$MNT"

# What is packed, and takes a while; there all at once, however busy the machine is.
mkdir disk/packed
python3 - disk/packed "$SOURCE" << 'EOP'
import bz2, os, sys

made, source = sys.argv[1:]
packed = bz2.compress(bytes(32 << 20))
for i in range(2000):
    with open(f"{made}/{i}", "wb") as file:
        file.write(packed)
for i in range(2000):
    os.rename(f"{made}/{i}", f"{source}/packed{i}")
EOP
are_waiting() { (($(pending _slow) > 1000)); }
soon 'they wait to be read' are_waiting
are_few() { (($(pending "") <= 32)); }
soon 'few of them are waited for' are_few
(($(pending _slow) > 1000)) || fail 'they were read meanwhile'
words 1 200 > "$MNT/a.txt"
soon 'what is written next' is_current a.txt
rm "$MNT"/packed*
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'all is read' '0 0' "$(pending "") $(pending _scan)"
stop
