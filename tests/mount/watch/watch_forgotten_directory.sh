#!/usr/bin/env bash
# A user keeps a directory locked for ever, in which are others whose names the kernel has forgotten: to open one of these by its key
# the kernel would look for its name in the locked one. That holds up nobody: what others write is indexed, and unique/ is listed.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
[[ -w /proc/sys/vm/drop_caches ]] || skip 'the kernel cannot be made to forget here'
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/own/{ruled/below,copies/below,beside} "$SOURCE"/third/moved/below/deep "$SOURCE/open" "$SCRATCH"/{hanging,outside}
words 1 100 > document
cp document "$SOURCE/third/moved/below/deep/document"
words 200 100 > "$SOURCE/own/copies/below/copy"
cp "$SOURCE/own/copies/below/copy" "$SOURCE/own/beside/copy"
touch -d '2020-01-01' "$SOURCE/own/copies/below/copy"
# Which of its directories comes first, nobody is told.
echo '*.o' > "$SOURCE/own/ruled/below/.kinfsignore"
ln "$SOURCE/own/ruled/below/.kinfsignore" "$SOURCE/own/beside/rules"
chown -R 54321:54321 "$SOURCE/own" "$SCRATCH/outside"
chown -R 54322:54322 "$SOURCE/open"
chown -R 54323:54323 "$SOURCE/third"
chmod 777 "$SOURCE/third" "$SOURCE/third/moved"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null

# One that is moved away beside the mount is found to be gone by a scan, with what was in it: it is another's, for whom no scan
# stands at what this one has locked.
python3 - "$SOURCE/own" "$MNT/own" "$SCRATCH" > locked << 'EOP' &
import os, sys, time
from locker import Locker

tree, mount, scratch = sys.argv[1:]
locker = Locker(54321, f"{scratch}/hanging/f")
os.rename(f"{tree}/../third/moved", f"{scratch}/outside/moved")
for directory in f"{tree}/ruled", f"{tree}/copies", f"{scratch}/outside/moved":
    locker.lock_directory(directory)
print("locked", flush=True)
while not os.path.exists(f"{tree}/beside/forgotten"):
    time.sleep(0.05)
with open(f"{mount}/beside/rules", "a") as file:
    file.write("*.a\n")
print("written", flush=True)
locker.wait()
EOP
locker=$!
await_locks "$locker"
echo 2 > /proc/sys/vm/drop_caches
touch "$SOURCE/own/beside/forgotten"
soon 'the rules are written' grep -q written locked

code=0
timeout 60 "$KINFS" skip --json "$MNT" > skipped || code=$?
((code < 2)) || fail "what unique/ leaves out is not told: $code"

is_current() { [[ $(timeout 20 "$KINFS" status "$MNT/$1") == *current* ]]; }
cp document "$MNT/open/new"
soon "another's document is known" is_current open/new

timeout 60 "$KINFS" scan "$MNT" > /dev/null || fail 'a scan does not end'
cp document "$MNT/open/newer"
soon "another's document is known after a scan" is_current open/newer

end_locks "$locker"
"$KINFS" settle "$MNT" > /dev/null
! is_current third/moved/below/deep/document || fail 'what was moved away is known'
expect_code 0 "$KINFS" check --deep "$MNT"
stop
