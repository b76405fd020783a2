#!/usr/bin/env bash
# A user who keeps directories of the tree locked for ever holds up what comes to be known of these, and nothing of others'; once
# they are free, all that is in them is known.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/known" "$SOURCE/open"
words 1 100 > document
cp document "$SOURCE/own/known/document"
chown -R 54321:54321 "$SOURCE/own"
chown 54322:54322 "$SOURCE/open"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null

# What is made beside the mount nobody knows of, until it is moved by the mount: by then it is locked. And a document is
# gone, which is found when it is looked at again: then its name is looked up, which the kernel does not know any more.
python3 - "$SOURCE/own" "$MNT/own" "$SCRATCH/hanging/f" "$(cat document)" > locked << 'EOP' &
import os, sys
from locker import Locker

tree, mount, hanging, content = sys.argv[1:]
locker = Locker(54321, hanging)
for i in range(12):
    os.makedirs(f"{tree}/aside/top/{i}")
    with open(f"{tree}/aside/top/{i}/document", "w") as file:
        file.write(content)
    locker.lock_directory(f"{tree}/aside/top/{i}")
written = open(f"{mount}/known/document", "a")
written.write(content)
written.flush()
os.unlink(f"{tree}/known/document")
locker.lock_directory(f"{tree}/known")
written.close()
os.rename(f"{mount}/aside/top", f"{mount}/top")
locker.wait()
EOP
locker=$!
await_locks "$locker"

# What is mounted elsewhere is no reason to scan the tree, which would stand at the locked directories.
mkdir "$SCRATCH/elsewhere"
mount -t tmpfs none "$SCRATCH/elsewhere"
"$KINFS" status "$MNT/open" > /dev/null
umount "$SCRATCH/elsewhere"

# Another's directory, which has to be read as well, and what is made after that.
is_current() { [[ $("$KINFS" status "$MNT/$1") == *current* ]]; }
python3 - "$SOURCE/open" "$MNT/open" document << 'EOP'
import os, sys
import users

tree, mount, document = sys.argv[1:]
content = open(document).read()


def make():
    os.makedirs(f"{tree}/aside/top/d")
    for name in "aside/top/d/document", "aside/top/document":
        with open(f"{tree}/{name}", "w") as file:
            file.write(content)
    os.rename(f"{mount}/aside/top", f"{mount}/top")
    with open(f"{mount}/beside", "w") as file:
        file.write(content)


users.run(54322, make)
EOP
for name in beside top/document top/d/document; do
    soon "another's document is known: $name" is_current "open/$name"
done
cp document "$MNT/open/after"
soon "another's document is known after all that" is_current open/after

end_locks "$locker"
"$KINFS" settle "$MNT" > /dev/null
for i in {0..11}; do
    is_current "own/top/$i/document" || fail "not known after all: $i"
done
! is_current own/known/document || fail 'what is gone is known'
expect_code 0 "$KINFS" check --deep "$MNT"
stop
