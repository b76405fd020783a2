"""Callers with capabilities, alone and in user namespaces, for tests/mount/users/pass_user_namespace.sh: what each change becomes in a
plain directory and through the mount."""

import ctypes, errno, fcntl, itertools, os, signal, struct, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
CHOWN, DAC_OVERRIDE, FOWNER, FSETID = 0, 1, 3, 4
FULL = (1 << 41) - 1
CLONE_NEWUSER = 0x10000000
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, NODUMP = 0x80086601, 0x40086602, 0x40
N_IDS = 1000  # of the namespace
BASE = 200000 + os.getpid() % 100000 * N_IDS  # of no other process: what its root may stop is of this test
USER, OTHER = 54321, 5000  # ordinary ones


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call")


def set_capabilities(effective, permitted=None):
    permitted = effective if permitted is None else permitted
    header = struct.pack("<Ii", 0x20080522, 0)
    low, high = 0xffffffff, 32
    data = struct.pack("<6I", effective & low, permitted & low, 0, effective >> high, permitted >> high, 0)
    checked(libc.capset(header, data))


def become(uid, groups=(), capabilities=0):
    """An ordinary user who keeps these capabilities."""
    os.setgroups(groups)
    os.setresgid(uid, uid, uid)
    checked(libc.prctl(8, 1, 0, 0, 0))  # PR_SET_KEEPCAPS
    os.setresuid(uid, uid, uid)
    set_capabilities(capabilities)


def enter_namespace(uid=BASE, groups=()):
    """Root of a namespace of N_IDS ids from BASE, which root outside has mapped: as newuidmap(1) does for who has subordinate ids."""
    there, told = os.pipe()
    child = os.getpid()
    mapped, tell = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.read(there, 1)
        for name in "uid_map", "gid_map":
            with open(f"/proc/{child}/{name}", "w") as out:
                out.write(f"0 {BASE} {N_IDS}")
        os.write(tell, b"x")
        os._exit(0)
    os.setgroups(groups)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    checked(libc.unshare(CLONE_NEWUSER))
    os.write(told, b"x")
    assert os.read(mapped, 1) == b"x"
    os.waitpid(mapper, 0)


def in_child(work):
    """Begins work in a process; returns what ends it: whether it went well."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            import traceback
            traceback.print_exc()
            os._exit(1)

    def end():
        return os.waitpid(pid, 0)[1] == 0
    end.pid = pid
    return end


def outcome(call):
    try:
        call()
        return 0
    except OSError as error:
        return errno.errorcode[error.errno]


def acl(uid, gid):
    entry = lambda tag, rights, who=0xffffffff: struct.pack("<HHI", tag, rights, who)
    return struct.pack("<I", 2) + entry(1, 6) + entry(2, 6, uid) + entry(4, 4) + entry(8, 2, gid) + entry(16, 6) + entry(32, 0)


def set_flags(path, flags):
    fd = os.open(path, os.O_RDONLY)
    try:
        old, = struct.unpack("i", fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack("i", old | flags))
    finally:
        os.close(fd)


def get_flags(path):
    fd = os.open(path, os.O_RDONLY)
    flags = fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4))
    os.close(fd)
    return struct.unpack("i", flags)[0] & NODUMP


# By ids of the namespace, or of the ordinary user's world.
def changes(first, second, unmapped):
    return {
        "mode": lambda path: os.chmod(path, 0o640),
        "suid": lambda path: os.chmod(path, 0o4755),
        "sgid": lambda path: os.chmod(path, 0o2775),
        "owner": lambda path: os.chown(path, second, -1),
        "owner and group": lambda path: os.chown(path, first, second),
        "group": lambda path: os.chown(path, -1, second),
        "root": lambda path: os.chown(path, 0, 0),
        "unmapped": lambda path: os.chown(path, unmapped, unmapped),
        "link": lambda path: os.chown(path + ".link", second, second, follow_symlinks=False),
        "times": lambda path: os.utime(path, (1, 2)),
        "now": lambda path: os.utime(path),
        "list": lambda path: os.setxattr(path, "system.posix_acl_access", acl(first, second)),
        "list of another": lambda path: os.setxattr(path, "system.posix_acl_access", acl(unmapped, second)),
        "attribute": lambda path: os.setxattr(path, "user.a", b"1"),
        "no attribute": lambda path: os.removexattr(path, "user.old"),
        "flags": lambda path: set_flags(path, NODUMP),
        "name": lambda path: os.unlink(path),
        "another name": lambda path: os.rename(path, path + ".new"),
    }


FILES = {  # owner, group, mode
    "roots": (0, 0, 0o644),
    "first": (BASE, BASE, 0o644),
    "second": (BASE + 5, BASE + 6, 0o600),
    "suid": (BASE + 5, BASE + 6, 0o6755),
    "sgid": (BASE + 5, BASE + 6, 0o2644),
    "half": (BASE + 5, OTHER, 0o644),
    "half the other way": (OTHER, BASE + 5, 0o666),
    "another's": (OTHER, OTHER, 0o666),
    "user's": (USER, USER, 0o644),
}


def make(source):
    os.mkdir(source)
    os.chmod(source, 0o1777)
    for name, (uid, gid, mode) in FILES.items():
        path = f"{source}/{name}"
        with open(path, "w") as out:
            out.write("text")
        os.symlink("nowhere", path + ".link")
        os.setxattr(path, "user.old", b"1")
        os.chown(path, uid, gid)
        os.lchown(path + ".link", uid, gid)
        os.chmod(path, mode)
        os.utime(path, (1000, 1000))


def state(path):
    if not os.path.exists(path):
        return os.path.exists(path + ".new")
    st, link = os.stat(path), os.lstat(path + ".link")
    times = [time if time < 2000 else "now" for time in (int(st.st_atime), int(st.st_mtime))]
    attributes = {name: os.getxattr(path, name) for name in sorted(os.listxattr(path))}
    return st.st_uid, st.st_gid, oct(st.st_mode), times, link.st_uid, link.st_gid, attributes, get_flags(path)


def run(seen, enter, ids):
    """What the caller is told of each change of each file, below a directory for each change."""
    read, write = os.pipe()

    def work():
        enter()
        for change, call in changes(*ids).items():
            for name in FILES:
                os.write(write, f"{outcome(lambda: call(f'{seen}/{change}/{name}'))}\n".encode())
    assert in_child(work)()
    os.close(write)
    with os.fdopen(read) as told:
        return told.read().split()


def compare(source, mnt, who, enter, ids):
    """All changes of all files by one caller: the same in a plain directory, and through the mount."""
    cases = list(itertools.product(changes(*ids), FILES))
    stories = []
    for place, seen in (f"{source}/plain", f"{source}/plain"), (f"{source}/tree", f"{mnt}/tree"):
        os.mkdir(f"{place}/{who}")
        for change in changes(*ids):
            make(f"{place}/{who}/{change}")
        results = run(f"{seen}/{who}", enter, ids)
        assert len(results) == len(cases)
        stories.append([(result, state(f"{place}/{who}/{change}/{name}")) for result, (change, name) in zip(results, cases)])
    for case, plain, tree in zip(cases, *stories):
        assert plain == tree, f"{who}: {case}: {plain}, through the mount {tree}"
    results = {result for result, _ in stories[0]}
    assert "0" in results and results & {"EPERM", "EACCES"}, (who, results)


def compare_all(source, mnt):
    in_namespace = (3, 5, N_IDS + 7)
    outside = (USER, OTHER, OTHER + 1)
    compare(source, mnt, "root of a namespace", enter_namespace, in_namespace)
    compare(source, mnt, "its root with groups", lambda: enter_namespace(BASE, [BASE + 6, OTHER]), in_namespace)
    compare(source, mnt, "one of it with all rights", lambda: enter_namespace(BASE + 9), in_namespace)
    for name, capabilities in {
        "nothing": 0,
        "chown": 1 << CHOWN,
        "fowner": 1 << FOWNER,
        "fowner, fsetid": 1 << FOWNER | 1 << FSETID,
        "dac_override": 1 << DAC_OVERRIDE,
        "chown, fowner": 1 << CHOWN | 1 << FOWNER,
    }.items():
        def enter():
            enter_namespace()
            set_capabilities(capabilities)
        compare(source, mnt, f"{name} in a namespace", enter, in_namespace)
        compare(source, mnt, f"{name} alone", lambda: become(USER, [OTHER + 9], capabilities), outside)


def threads(source, mnt):
    """Of a process each thread may what it may itself."""
    make(f"{source}/tree/threads")
    path = f"{mnt}/tree/threads/another's"
    results = {}
    become(USER, [], 1 << FOWNER)

    def less():
        set_capabilities(0)
        results["less"] = outcome(lambda: os.chmod(path, 0o606))

    thread = threading.Thread(target=less)
    thread.start()
    thread.join()
    results["more"] = outcome(lambda: os.chmod(path, 0o606))
    set_capabilities(0)
    results["no more"] = outcome(lambda: os.chmod(path, 0o600))
    assert results == {"less": "EPERM", "more": 0, "no more": "EPERM"}, results


def given_away(source, mnt):
    """Root of a namespace goes on changing a file that root outside takes."""
    attacks = {
        "mode": lambda name: os.chmod(name, 0o4755),
        "owner": lambda name: os.chown(name, 3, 3),
        "flags": lambda name: set_flags(name, NODUMP),
        "attribute": lambda name: os.setxattr(name, "user.a", b"1"),
    }
    for attack, call in attacks.items():
        for n in range(6):
            path, name = f"{source}/tree/{attack}{n}", f"{mnt}/tree/{attack}{n}"
            with open(path, "w") as out:
                out.write("text")
            os.chown(path, BASE + 5, BASE + 5)
            begun, begin = os.pipe()

            def keep_changing():
                enter_namespace()
                call(name)
                os.write(begin, b"x")
                while True:
                    try:
                        call(name)
                    except OSError:
                        break

            ended = in_child(keep_changing)
            assert os.read(begun, 1) == b"x"
            os.chown(path, 0, 0)
            os.chmod(path, 0o700)
            before = os.stat(path).st_mode, sorted(os.listxattr(path))
            assert ended(), attack
            st = os.stat(path)
            assert (st.st_uid, st.st_gid, st.st_mode) == (0, 0, 0o100700), f"{attack}: {st}"
            os.close(begun)
            os.close(begin)


def may_see(pid):
    """Whether the memory of a process is to be had: of an address there is none at, EFAULT says so."""
    here = ctypes.create_string_buffer(8)
    local, remote = (ctypes.c_void_p * 2)(ctypes.addressof(here), 8), (ctypes.c_void_p * 2)(4096, 8)
    return libc.process_vm_readv(pid, local, 1, remote, 1, 0) >= 0 or ctypes.get_errno() == errno.EFAULT


def power_over_child(source, mnt):
    """Root of a namespace has power over what enters it: it stops that, and wants its memory."""
    path, name = f"{source}/tree/stopped", f"{mnt}/tree/stopped"
    with open(path, "w"):
        pass
    os.chown(path, BASE + 5, BASE + 5)

    def attack_all():
        enter_namespace()

        def change():
            for n in range(1500):
                result = outcome(lambda: os.chmod(name, 0o600 + n % 8))
                assert result in (0, "EPERM"), result

        changer = in_child(change)
        seen, known = [], {*os.listdir("/proc"), str(changer.pid)}
        while os.waitpid(changer.pid, os.WNOHANG) == (0, 0):
            seen += [pid for pid in set(os.listdir("/proc")) - known if pid.isdigit() and may_see(int(pid))]
            os.kill(-1, signal.SIGSTOP)
            os.kill(changer.pid, signal.SIGCONT)
        assert not seen, "memory of another can be read"

    assert in_child(attack_all)()
    # Nobody is left behind.
    def change_once():
        enter_namespace()
        os.chmod(name, 0o640)
    assert in_child(change_once)()
    assert os.stat(path).st_mode == 0o100640


def main():
    source, mnt = sys.argv[1:]
    os.umask(0)
    for place in "plain", "tree":
        os.mkdir(f"{source}/{place}")
    compare_all(source, mnt)
    assert in_child(lambda: threads(source, mnt))()
    given_away(source, mnt)
    power_over_child(source, mnt)


main()
