#!/usr/bin/env python3
"""The ways editors save a file, by hand: editor_saves.py names them; editor_saves.py NAME FILE TEXT
saves the content of TEXT in FILE."""
import fcntl
import mmap
import os
import shutil
import sys
import tempfile


def put(path, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, sync=True):
    fd = os.open(path, flags, 0o666)
    while text:
        text = text[os.write(fd, text):]
    if sync:
        os.fsync(fd)
    os.close(fd)


def temporary_beside(path, text):
    """New file, synced, with the old one's attributes."""
    fd, name = tempfile.mkstemp(prefix=".new-", dir=os.path.dirname(path))
    os.write(fd, text)
    shutil.copystat(path, name)
    os.fsync(fd)
    os.close(fd)
    return name


def truncate_in_place(path, text):  # nano, ed, cat >
    put(path, text)


def overwrite_then_cut(path, text):  # no moment without content
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, text, 0)
    os.ftruncate(fd, len(text))
    os.fdatasync(fd)
    os.close(fd)


def rename_over(path, text):  # GLib, Qt, most of what was written since
    os.rename(temporary_beside(path, text), path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)


def backup_by_rename(path, text):  # emacs, first save of a buffer
    os.rename(path, path + "~")
    put(path, text, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    shutil.copymode(path + "~", path)


def backup_by_copy(path, text):  # emacs with backup-by-copying
    shutil.copy2(path, path + "~")
    put(path, text)


def backup_by_link(path, text):  # joe, jed
    os.link(path, path + "~")
    os.rename(temporary_beside(path, text), path)


def emacs_lock(path, text):  # a dangling symbolic link says who edits; auto-save beside
    lock = os.path.join(os.path.dirname(path), ".#" + os.path.basename(path))
    auto = os.path.join(os.path.dirname(path), "#" + os.path.basename(path) + "#")
    os.symlink("user@host.1234:1", lock)
    assert os.readlink(lock) == "user@host.1234:1"
    put(auto, text)
    put(path, text)
    os.unlink(auto)
    os.unlink(lock)


def office_lock(path, text):  # LibreOffice: .~lock.NAME#, made exclusively, locked
    lock = os.path.join(os.path.dirname(path), ".~lock." + os.path.basename(path) + "#")
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(fd, b",user,host,today;")
    try:
        os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        sys.exit("the lock file was made twice")
    except FileExistsError:
        pass
    document = os.open(path, os.O_RDWR)
    fcntl.lockf(document, fcntl.LOCK_EX | fcntl.LOCK_NB)
    name = temporary_beside(path, text)
    shutil.copyfile(name, path + ".bak")
    with open(name, "rb") as new:  # copied over, so that links and owner stay
        os.ftruncate(document, 0)
        os.pwrite(document, new.read(), 0)
    os.fsync(document)
    os.close(document)
    os.unlink(name)
    os.unlink(path + ".bak")
    os.close(fd)
    os.unlink(lock)


def tmpfile_link(path, text):  # O_TMPFILE, named when whole
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, text)
    os.fsync(fd)
    # Only with a directory given does Python ask for the link to be followed.
    os.link(f"/proc/self/fd/{fd}", path + ".tmp", src_dir_fd=directory, follow_symlinks=True)
    os.close(directory)
    os.close(fd)
    os.rename(path + ".tmp", path)


def by_mapping(path, text):
    fd = os.open(path, os.O_RDWR)
    os.ftruncate(fd, len(text))
    with mmap.mmap(fd, len(text)) as mapping:
        mapping[:] = text
        mapping.flush()
    os.close(fd)


def append_and_collapse(path, text):  # log-like: written behind, the front cut off by copying
    old = os.stat(path).st_size
    put(path, text, os.O_WRONLY | os.O_APPEND)
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, os.pread(fd, len(text), old), 0)
    os.ftruncate(fd, len(text))
    os.close(fd)


WAYS = [truncate_in_place, overwrite_then_cut, rename_over, backup_by_rename, backup_by_copy, backup_by_link,
        emacs_lock, office_lock, tmpfile_link, by_mapping, append_and_collapse]
if len(sys.argv) == 1:
    print("\n".join(way.__name__ for way in WAYS))
else:
    with open(sys.argv[3], "rb") as file:
        {way.__name__: way for way in WAYS}[sys.argv[1]](sys.argv[2], file.read())
