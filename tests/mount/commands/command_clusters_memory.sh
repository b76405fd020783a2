#!/usr/bin/env bash
# A cluster of very many documents, whose paths are as long as paths can be, takes no memory of the daemon's for what is not shown.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
! grep -q __asan_init "$KINFS" || skip 'a sanitizer keeps memory that was freed'

mkdir -p "$SOURCE"
python3 - "$SOURCE" << 'EOF'
import os, sys

document = " ".join(f"w{i}" for i in range(20))
os.chdir(sys.argv[1])
for _ in range(15):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for i in range(16000):
    with open(f"{i:06}" + "x" * 200, "w") as out:
        out.write(document)
EOF
start
"$KINFS" settle "$MNT" > /dev/null
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)

# All paths have 62 MB.
cat > held.py << 'EOF'
import subprocess, sys

daemon, *command = sys.argv[1:]


def of(name):
    with open(f"/proc/{daemon}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


with open(f"/proc/{daemon}/clear_refs", "w") as forget:
    forget.write("5")
before = of("VmRSS:")
said = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
more = of("VmHWM:") - before
assert more < 40 << 20, f"{' '.join(command[1:])}: {more >> 20} MiB"
print(len(said.splitlines()))
EOF
held() { python3 held.py "$daemon" "$KINFS" "$@"; }

held similar --limit=1 "$MNT"/"$(cd "$SOURCE" && find . -type f -print -quit)" > /dev/null # what an index keeps of documents is in memory
expect_equal 'clusters' 1 "$(held clusters "$MNT")"
id=$("$KINFS" clusters "$MNT" | cut -f 1)
expect_equal 'the picture is made' 0 "$(held map "$id" -o picture.svg "$MNT")"
expect_match 'and shows' '16000 documents, of which 40 are shown' "$(grep -o '16000 documents[^<]*' picture.svg)"
expect_equal 'all members' 16000 "$(held clusters --id="$id" "$MNT")"
expect_equal 'the page is made' 0 "$(held report -o page.html "$MNT")"
stop
