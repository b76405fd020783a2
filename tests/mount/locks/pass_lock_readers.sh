#!/usr/bin/env bash
# Who locks a file that is not the user's to write has it open for reading alone: it can be executed, and leased to readers.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
for name in not_his his group; do
    cp /bin/true "$SOURCE/$name"
    chmod 755 "$SOURCE/$name"
done
chown 54321 "$SOURCE/his"
chgrp 54400 "$SOURCE/group"
chmod 775 "$SOURCE/group"
start -o allow_other,views=none
python3 - "$SOURCE" "$MNT" << 'PYTHON' || fail 'see above'
import fcntl, os, subprocess, sys
source, mnt = sys.argv[1:]
USER, GROUP = 54321, 54400


def as_user(work):
    """Does work in a process of the user that stays until the pipe is closed."""
    ready, keep = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(keep[1])
        os.setgroups([GROUP])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        try:
            work()
            os.write(ready[1], b"y")
        except OSError as error:
            print(error, file=sys.stderr)
            os.write(ready[1], b"n")
        os.read(keep[0], 1)
        os._exit(0)
    os.close(keep[0])
    assert os.read(ready[0], 1) == b"y"
    return lambda: (os.close(keep[1]), os.waitpid(pid, 0))


def lock_for_reading(name):
    fcntl.lockf(os.open(f"{mnt}/{name}", os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)


def lock_both_ways(name):
    lock_for_reading(name)
    fcntl.lockf(os.open(f"{mnt}/{name}", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)


end = as_user(lambda: lock_for_reading("not_his"))
with open(f"{source}/not_his", "rb+") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise AssertionError("it is not locked")
    except BlockingIOError:
        pass
assert subprocess.run([f"{source}/not_his"]).returncode == 0
with open(f"{source}/not_his", "rb") as file:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    end()
    # a lease is not broken by who only locks either
    end = as_user(lambda: lock_for_reading("not_his"))
    assert fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_RDLCK
end()
for name in "his", "group":
    as_user(lambda: lock_both_ways(name))()
PYTHON
stop
