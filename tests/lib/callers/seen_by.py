#!/usr/bin/env python3
"""All that a mount's views, attributes and answers tell a user, as lines of text to be compared.

seen_by.py MOUNT UID [QUESTION...]

Names in the order and with the offsets in which they are listed, types, inode numbers, link
targets, attributes with their values or errors, and the answers to questions, whose texts are files
that root reads. Times are not of the views: they are those of the tree.
"""
import ctypes
import os
import stat
import sys


class Entry(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("size", ctypes.c_ushort),
                ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


libc = ctypes.CDLL(None, use_errno=True)
libc.fdopendir.restype = ctypes.c_void_p
libc.readdir64.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]
libc.readdir64.restype = ctypes.POINTER(Entry)
ATTRIBUTES = ["state", "cluster", "cluster.size", "cluster.near", "cluster.tight", "representative",
              "resemblance", "resemblance.error", "nearest", "similar", "related", "topic", "topic.size", "words", "size",
              "resemblance.min", "resemblance.mean", "documents", "clusters", "pending", "store", "version", "policy"]


def entries(path):
    directory = libc.fdopendir(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
    found = []
    while entry := libc.readdir64(directory):
        entry = entry.contents
        found.append((os.fsdecode(entry.name), entry.off, entry.ino, entry.type))
    libc.closedir(directory)
    return found


def tell(*what):
    print(*what)


def attempt(what, work):
    try:
        tell(what, work())
    except OSError as error:
        tell(what, error.strerror)


def tell_attributes(path):
    attempt(f"{path} listxattr", lambda: sorted(os.listxattr(path, follow_symlinks=False)))
    for name in ATTRIBUTES:
        attempt(f"{path} {name}", lambda: os.getxattr(path, f"user.kinfs.{name}", follow_symlinks=False))


def tell_view(path, with_offsets):
    """A directory of the views and all below it."""
    tell_attributes(path)
    try:
        listed = entries(path)
    except OSError as error:
        tell(path, error.strerror)
        return
    for name, offset, ino, kind in listed:
        if name == "..":
            continue
        tell(path, name, offset if with_offsets else "", ino, kind)
        if name == ".":
            continue
        below = os.path.join(path, name)
        try:
            st = os.lstat(below)
        except OSError as error:
            tell(below, error.strerror)
            continue
        tell(below, oct(st.st_mode), st.st_ino, st.st_nlink, st.st_size if not stat.S_ISDIR(st.st_mode) else "")
        if stat.S_ISLNK(st.st_mode):
            tell(below, os.readlink(below))
        elif stat.S_ISDIR(st.st_mode):
            tell_view(below, with_offsets)


def tell_tree(path):
    tell_attributes(path)
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        tell(path, error.strerror)
        return
    for name in names:
        below = os.path.join(path, name)
        if name in ("similar", "contains", "within", "passages", "related", "topics", "clusters", ".kinfs", "CACHEDIR.TAG"):
            continue
        if os.path.isdir(below) and not os.path.islink(below):
            tell_tree(below)
        else:
            tell_attributes(below)


def ask(mount, text, form):
    with open(f"{mount}/.kinfs/query/q{form}", "w+b", buffering=0) as question:
        question.write(text)
        question.seek(0)
        return question.read(1 << 20)


def main():
    mount, uid = sys.argv[1], int(sys.argv[2])
    questions = [open(path, "rb").read() for path in sys.argv[3:]]
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.chdir(mount)
    # The mirror of the tree has the offsets of its directories, which are the tree's to tell.
    for view in "similar", "contains", "within", "passages":
        if os.path.isdir(view):
            tell_view(view, False)
    tell_view("clusters", True)
    tell_tree(".")
    for i, text in enumerate(questions):
        for form in ("", ",containing", ",containing,threshold=0.1", ",contained", ",contained,threshold=0", ",records,threshold=0", ",passages", ",passages,records", ",limit=2"):
            attempt(f"question {i}{form}", lambda: ask(mount, text, form))


main()
