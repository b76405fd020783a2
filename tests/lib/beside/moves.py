#!/usr/bin/env python3
"""moves.py MOUNT SOURCE

Exchanges names beside the mount and then, after a while that grows from nothing past what it takes until
the kernel is told, moves one of them through it. Soon the mount has the same files by the same names.
"""
import os
import shutil
import stat
import sys
import time

from operations.kernel import EXCHANGE, renameat2

mount, source = sys.argv[1:]
N, STEP_S = 24, 0.003


def make(path, is_directory):
    if is_directory:
        os.mkdir(path)
        open(f"{path}/inside {os.path.basename(path)}", "w").close()
    else:
        open(path, "w").close()


def rename(i):
    os.rename(f"{mount}/a{i}", f"{mount}/b{i}")


def rename_twice(i):
    rename(i)
    os.rename(f"{mount}/b{i}", f"{mount}/d/c{i}")


def exchange(i):
    renameat2(f"{mount}/a{i}", f"{mount}/x{i}", EXCHANGE)


def exchange_back(i):
    renameat2(f"{mount}/x{i}", f"{mount}/a{i}", EXCHANGE)


def what(root, name):
    try:
        st = os.lstat(f"{root}/{name}")
        return st.st_ino, os.listdir(f"{root}/{name}") if stat.S_ISDIR(st.st_mode) else None
    except OSError as error:
        return error.errno


def differing(names):
    return [f"{name}: {what(source, name)} there, {what(mount, name)} here" for name in names
            if what(source, name) != what(mount, name)]


os.mkdir(f"{source}/d")
for is_directory in False, True:
    for move in rename, rename_twice, exchange, exchange_back:
        names = [f"{name}{i}" for i in range(N) for name in ("a", "o", "x", "b", "d/c")]
        for i in range(N):
            for name in "aox":
                make(f"{source}/{name}{i}", is_directory)
        end = time.monotonic() + 40
        while differing(names) and time.monotonic() < end:
            time.sleep(0.05)
        for i in range(N):
            os.stat(f"{mount}/a{i}")
            renameat2(f"{source}/a{i}", f"{source}/o{i}", EXCHANGE)
            time.sleep(i * STEP_S)
            move(i)
        end = time.monotonic() + 40
        while differing(names) and time.monotonic() < end:
            time.sleep(0.05)
        if differing(names):
            sys.exit("\n".join([f"{move.__name__}:", *differing(names)]))
        for name in os.listdir(source):
            shutil.rmtree(f"{source}/{name}") if os.path.isdir(f"{source}/{name}") else os.unlink(f"{source}/{name}")
        os.mkdir(f"{source}/d")
