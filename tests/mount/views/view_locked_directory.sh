#!/usr/bin/env bash
# A user who exchanges directories of documents for ones that are locked for ever, or mounts what never answers over them, keeps
# nobody who asks waiting: neither those who are answered with such documents, nor those who list such a directory, nor others.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
[[ -w /proc/sys/vm/drop_caches ]] || skip 'the kernel cannot be made to forget here'
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/open/{closed,unsearchable} "$SOURCE"/own/{A,B,L,C} "$SCRATCH/hanging"
words 1 100 > "$SOURCE/open/doc"
cp "$SOURCE/open/doc" "$SOURCE/open/copy"
cp "$SOURCE/open/doc" "$SOURCE/open/closed/copy"
cp "$SOURCE/open/doc" "$SOURCE/open/unsearchable/copy"
words 500 100 > "$SOURCE/open/other"
cp "$SOURCE/open/other" "$SOURCE/open/another"
for i in {0..39}; do
    cp "$SOURCE/open/doc" "$SOURCE/own/A/$i"
    cp "$SOURCE/open/doc" "$SOURCE/own/B/$i"
done
chown -R 54321:54321 "$SOURCE/own"
chmod 700 "$SOURCE/open/closed"
chmod 744 "$SOURCE/open/unsearchable" # with rights for a group the kernel asks for a list, too
servers=()
end_servers() {
    local server
    for server in "${servers[@]}"; do
        kill -9 "$server" 2> /dev/null || true
        wait "$server" || true
    done
    servers=()
}
trap 'end_servers; umount -l "$SCRATCH/hanging" "$SOURCE/own/B" 2> /dev/null || true' EXIT
hang() { # DIRECTORY [OPTION]
    rm -f said # of the one before
    "$LIB/file_systems/hanging_fs.py" "$1" 54321 "${@:2}" > said &
    servers+=($!)
    soon 'a file system that does not answer' grep -q ready said
}
hang "$SCRATCH/hanging"
start -o allow_other,watch=none,limit=0
"$KINFS" settle "$MNT" > /dev/null

cat > ask.py << 'EOP'
import errno, os, signal, sys
import users

mnt, what, *uids = sys.argv[1:]


def attribute(name, path):
    try:
        return os.getxattr(f"{mnt}/{path}", f"user.kinfs.{name}").decode()
    except OSError as error:
        return errno.errorcode[error.errno]


def kin(path):
    lines = attribute("similar", path).splitlines()
    assert all("\t" in line for line in lines), lines
    return {line.split("\t")[1] for line in lines}


def listed(directory):
    try:
        return os.listdir(f"{mnt}/similar/{directory}")
    except OSError as error:
        return error


def ask():
    signal.alarm(100)
    compared = attribute("resemblance:open/unsearchable/copy", "open/doc")
    assert compared == "ENODATA", compared
    if what == "list":
        return print(listed("own/A"))
    assert kin("open/other") == {"open/another"}, kin("open/other")
    found = kin("open/doc")
    assert "open/copy" in found, found
    assert not {"open/closed/copy", "open/unsearchable/copy"} & found, found
    in_own = {path for path in found if path.startswith("own/")}
    assert len(in_own) == (80 if what == "all" else 0), in_own
    assert {"doc", "copy", "other", "another", "closed", "unsearchable"} == set(listed("open")), listed("open")


asking = [users.begin(int(uid), ask) for uid in uids]
codes = [end() for end in asking]
assert what == "list" or codes == [0] * len(codes), f"{what}: {codes}"
assert all(code >= 0 for code in codes), f"{what}: was not answered: {codes}"
EOP

# What the kernel has forgotten, it is asked for again, as who asks.
echo 2 > /proc/sys/vm/drop_caches
python3 ask.py "$MNT" all 54331 54332

# Names that it does not know, in a directory that is locked.
python3 - "$SOURCE/own" "$SCRATCH/hanging/f" > locked << 'EOP' &
import sys
import users
from locker import Locker

tree, hanging = sys.argv[1:]
locker = Locker(54321, hanging)
locker.lock_directory(f"{tree}/L")
users.renameat2(f"{tree}/A", f"{tree}/L", 2)
locker.wait()
EOP
locker=$!
await_locks "$locker"
hang "$SOURCE/own/B" allow_other
kill -USR1 "${servers[1]}"

python3 ask.py "$MNT" rest {54331..54342}
python3 ask.py "$MNT" list {54331..54342} > listed
python3 ask.py "$MNT" rest {54331..54342}
expect_equal 'what the mount was asked' ready "$(cat said)"

end_servers
wait "$locker"
umount -l "$SOURCE/own/B"
python3 - "$SOURCE/own" << 'EOP'
import sys, users
users.renameat2(f"{sys.argv[1]}/A", f"{sys.argv[1]}/L", 2)
EOP
"$KINFS" settle "$MNT" > /dev/null # what was covered is scanned again
python3 ask.py "$MNT" all 54331 54332
expect_code 0 "$KINFS" check --deep "$MNT"
stop
