#!/usr/bin/env bash
# A file system that decides by itself who may have or set an attribute is asked as the caller, with his groups and without the
# daemon's rights; and the daemon, which acts as others for a moment, is itself afterwards.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs_fuse
needs python3 setpriv
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/nested"
echo text > "$SOURCE/plain"
chmod 666 "$SOURCE/plain"
"$LIB/file_systems/asked_fs.py" "$SOURCE/nested" > ready &
soon 'the nested file system' grep -q ready ready

as() { # UID GID GROUPS PYTHON-EXPRESSION
    python3 - "$MNT" "$@" << 'EOP'
import errno, os, sys
mount, uid, gid, groups, expression = sys.argv[1:]
f, plain = f"{mount}/nested/f", f"{mount}/plain"
os.setgroups([int(group) for group in groups.split()])
os.setegid(int(gid))
os.seteuid(int(uid))
try:
    said = eval(expression)
    print(said.decode() if isinstance(said, bytes) else "done")
except OSError as error:
    print(errno.errorcode[error.errno])
EOP
}
as_user() { as 12345 12346 '777 888' "$@"; } # PYTHON-EXPRESSION
as_another() { as 23456 23456 '' "$@"; }

who_serves() { # what the daemon's threads are, each once
    sed -n '/^\(Uid\|Gid\|Groups\|CapEff\|CapAmb\):/p' "/proc/$pid/task/"*/status | sort -u
}

start -o allow_other,watch=none,views=none
pid=$(pgrep -n -f "mount.*$MNT") || fail 'no daemon'
as_user 'os.stat(f)' > /dev/null
before=$(who_serves)

# For the file system to decide: it sees the caller alone.
expect_equal 'get' '12345 12346 [777 888] 0' "$(as_user 'os.getxattr(f, "system.who")')"
expect_equal 'set' 'done' "$(as_user 'os.setxattr(f, "system.own", b"x")')"
expect_equal 'set as' 'system.own 12345 12346 [777 888] 0' "$(as_user 'os.getxattr(f, "system.last")')"
expect_equal 'removed' 'done' "$(as_user 'os.removexattr(f, "system.own")')"
expect_equal 'removed as' 'system.own 12345 12346 [777 888] 0' "$(as_user 'os.getxattr(f, "system.last")')"
expect_equal 'set by another' EACCES "$(as_another 'os.setxattr(f, "system.own", b"x")')"
expect_equal 'removed by another' EACCES "$(as_another 'os.removexattr(f, "system.own")')"
expect_equal 'no such attribute' ENOTSUP "$(as_user 'os.getxattr(plain, "system.nope")')"
expect_equal 'no such attribute to set' ENOTSUP "$(as_user 'os.setxattr(plain, "system.nope", b"x")')"

# Those the kernel has decided about are the caller's too.
expect_equal 'set' 'done' "$(as_user 'os.setxattr(f, "user.x", b"x")')"
expect_match 'set as' '^user\.x 12345 12346 ' "$(as_user 'os.getxattr(f, "system.last")')"
expect_equal 'set where it is kept' 'done' "$(as_user 'os.setxattr(plain, "user.x", b"x")')"
expect_equal 'and removed' 'done' "$(as_user 'os.removexattr(plain, "user.x")')"
expect_equal "root's are root's" '0 0' "$(as 0 0 '' 'os.getxattr(f, "system.who")' | cut -d' ' -f1,2)"
expect_equal 'itself afterwards' "$before" "$(who_serves)"
stop

# A daemon that cannot act as others says no, but of what is not there what there is to say.
setpriv --bounding-set=-setuid --inh-caps=-setuid "$KINFS" mount -o allow_other,watch=none,views=none "$SOURCE" "$MNT"
expect_equal 'get' EACCES "$(as_user 'os.getxattr(f, "system.who")')"
expect_equal 'set' EACCES "$(as_user 'os.setxattr(f, "system.own", b"x")')"
expect_equal 'no such attribute' ENOTSUP "$(as_user 'os.getxattr(plain, "system.nope")')"
expect_equal 'the owner has it' 'done' "$(as_user 'os.setxattr(plain, "user.x", b"x")')"
stop

# What a supervisor gave the daemon for all programs is not for those it runs: extractors.
setpriv --inh-caps=+sys_ptrace --ambient-caps=+sys_ptrace "$KINFS" mount -o watch=none "$SOURCE" "$MNT"
pid=$(pgrep -n -f "mount.*$MNT") || fail 'no daemon'
expect_equal 'ambient capabilities' 'CapAmb:	0000000000000000' "$(who_serves | grep CapAmb)"
stop
umount "$SOURCE/nested"

# Of whom it cannot know the groups the daemon shows nothing: a group may be denied what others may.
chmod 704 "$SOURCE/plain"
mkdir "$MNT" 2> /dev/null || true
unshare -pf --kill-child "$KINFS" mount -f -o allow_other,watch=none "$SOURCE" "$MNT" &
soon 'mounted' mountpoint -q "$MNT"
expect_equal 'unknown groups' EACCES "$(as_user 'os.stat(f"{mount}/similar/plain")')"
expect_equal "root's are not known to be root's" EACCES "$(as 0 0 '' 'os.stat(f"{mount}/similar/plain")')"

# What needs no groups of who owns the file is done without.
touch "$SOURCE/own"
chown 12345:23456 "$SOURCE/own"
own='f"{mount}/own"'
expect_equal 'to the same group' 'done' "$(as_user "os.chown($own, -1, 23456)")"
expect_equal 'and owner' 'done' "$(as_user "os.chown($own, 12345, -1)")"
expect_equal 'to the group of the caller' 'done' "$(as_user "os.chown($own, 12345, 12346)")"
expect_equal 'to another of unknown ones' EACCES "$(as_user "os.chown($own, -1, 777)")"
expect_equal 'is of' 12345:12346 "$(stat -c %u:%g "$SOURCE/own")"
umount "$MNT"
wait

# However many groups there are: the sgid bit of a file without x of the group stays for who is of it.
start -o allow_other,watch=none,views=none
as_of_many() { as 12345 12346 "$(seq -s ' ' 1000 1299)" "$1"; }
acl='bytes.fromhex("02000000 01000600ffffffff 04000000ffffffff 20000400ffffffff")' # what the mode says
for path in "$SOURCE/many" "$MNT/many"; do
    touch "$SOURCE/many"
    chown 12345:1299 "$SOURCE/many"
    chmod 2604 "$SOURCE/many"
    expect_equal "$path: a list" 'done' "$(as_of_many "os.setxattr('$path', 'system.posix_acl_access', $acl)")"
    expect_equal "$path: as it was" '2604 1299' "$(stat -c '%a %g' "$SOURCE/many")"
    expect_equal "$path: given to the same group" 'done' "$(as_of_many "os.chown('$path', -1, 1299)")"
    expect_equal "$path: as it was" '2604 1299' "$(stat -c '%a %g' "$SOURCE/many")"
    expect_equal "$path: given to another group" 'done' "$(as_of_many "os.chown('$path', -1, 1000)")"
    expect_equal "$path: as it was" '2604 1000' "$(stat -c '%a %g' "$SOURCE/many")"
    rm "$SOURCE/many"
done
stop
