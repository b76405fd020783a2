#!/usr/bin/env python3
"""Edits at random, and beside them somebody who reads unique/: unique_edits.py MOUNT SOURCE EDITS SEED NEAR

One process edits documents of a few families, in the mount and beside it, another looks for names that unique/ lacks. Whenever no
edit fell into a look, what is missing must have a stand-in that is not: found by comparing all texts in full, here, by their sets of
five words in a row. Prints how many looks were so, and how many names were missing in them. Exits 1 where one had no stand-in.
"""
import errno
import mmap
import os
import random
import signal
import struct
import sys
import time

mount, source, n_edits, seed, near = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
FAMILIES, NAMES, WORDS, W = 4, 6, 120, 5
letters = "abcdefghijklmnopqrstuvwxyz"
names = [f"{directory}/{i}" for directory in ("a", "b") for i in range(FAMILIES * NAMES // 2)]
counter = mmap.mmap(-1, 8)  # edits begun and ended: odd within one


def word(i):
    return letters[i // 26 % 26] + letters[i % 26]


def text(dice):
    family, n_changes = dice.randrange(FAMILIES), dice.choice((0, 0, 0, 1, 1, 2, 3))
    words = [f"f{letters[family]}{word(i)}" for i in range(WORDS)]
    for _ in range(n_changes):
        words[dice.choice((10, 40, 70, 100))] = f"g{letters[dice.randrange(3)]}"
    return " ".join(words)


def shingles(content):
    words = content.split()
    return {tuple(words[i:i + W]) for i in range(len(words) - W + 1)}


def resemblance(a, b):
    """Of two texts with their shingles: a few words have none."""
    return 1 if a[0] == b[0] else len(a[1] & b[1]) / max(len(a[1] | b[1]), 1)


# -- who edits --

held = []  # files that are open for writing for some edits


def rewrite(dice, path):
    with open(path, "r+" if os.path.exists(path) and dice.random() < 0.5 else "w") as file:
        file.write(text(dice))
        file.truncate()


def replace(dice, path):
    with open(path + ".new", "w") as file:
        file.write(text(dice))
    os.rename(path + ".new", path)


def copy(dice, path):
    other = os.path.join(os.path.dirname(path), "..", dice.choice(names))
    with open(other) as from_file, open(path, "w") as file:
        file.write(from_file.read())


def link(dice, path):
    other = os.path.join(os.path.dirname(path), "..", dice.choice(names))
    if not os.path.samefile(other, path):
        os.unlink(path)
    os.link(other, path)


def move(dice, path):
    os.rename(path, os.path.join(os.path.dirname(path), "..", dice.choice(names)))


def remove(dice, path):
    os.unlink(path)


def hold(dice, path):
    file = open(path, "r+")
    held.append(file)
    file.write(text(dice)[:dice.randrange(1, 300)])
    file.flush()


def write_on(dice, path):
    if held:
        held[-1].write(text(dice)[:100])
        held[-1].flush()


def let_go(dice, path):
    if held:
        held.pop(0).close()


def store(dice, path):
    with open(path, "r+b") as file:
        with mmap.mmap(file.fileno(), 0) as memory:
            at = dice.randrange(max(1, len(memory) - 4))
            memory[at:at + 1] = dice.choice(b"xyz ").to_bytes(1, "little")
            memory.flush()


def change_times(dice, path):
    os.utime(path, (1000000000 + dice.randrange(100),) * 2)


EDITS = [rewrite] * 6 + [copy] * 4 + [replace, replace, link, move, remove, hold, write_on, let_go, let_go, store, change_times]
EXPECTED = {errno.ENOENT, errno.EEXIST, errno.EINVAL, errno.ESTALE}


def count():
    return struct.unpack("Q", counter[:8])[0]


def step():
    counter[:8] = struct.pack("Q", count() + 1)


def edit():
    dice = random.Random(seed)
    for _ in range(n_edits):
        root = dice.choice((mount, source))
        step()
        try:
            dice.choice(EDITS)(dice, os.path.join(root, dice.choice(names)))
        except OSError as error:
            if error.errno not in EXPECTED:
                raise
        except ValueError:
            pass  # an empty file cannot be mapped
        step()
        if dice.random() < 0.2:
            time.sleep(dice.expovariate(1 / 0.015))
    for file in held:
        file.close()


# -- who reads --

n_steady = n_missing = 0


def names_of(root):
    found = set()
    for directory in ("a", "b"):
        found |= {f"{directory}/{name}" for name in os.listdir(os.path.join(root, directory)) if not name.endswith(".new")}
    return found


def found_by_name(name):
    try:
        os.lstat(os.path.join(mount, "unique", name))
        return True
    except FileNotFoundError:
        return False


def look():
    """By a listing, or by each name."""
    before = count()
    if before % 2:
        return
    try:
        look_at(before)
    except FileNotFoundError:
        if count() == before:
            raise


def is_settled():
    """A listing of a view waits for what was changed before, for two seconds at most."""
    os.listdir(os.path.join(mount, "similar"))
    return os.getxattr(mount, "user.kinfs.pending") == b"0"


def look_at(before):
    global n_steady, n_missing
    if not is_settled():
        return  # two answers are of two states of the index
    there = names_of(source)
    shown = names_of(os.path.join(mount, "unique")) if random.random() < 0.5 else {name for name in there if found_by_name(name)}
    if count() != before:
        return
    texts = {}
    for name in there:
        with open(os.path.join(source, name)) as file:
            content = file.read()
            texts[name] = (content, shingles(content))
    if count() != before:
        return
    n_steady += 1
    if not shown <= there:
        sys.exit(f"unique/ has {shown - there}, which are not there")
    for name in there - shown:
        n_missing += 1
        best = max((resemblance(texts[name], texts[other]) for other in shown if other in texts), default=0)
        if best < near:
            sys.exit(f"{name} is missing, and resembles nothing that is shown by more than {best:.4f}; after {before // 2} edits")


def main():
    for directory in ("a", "b"):
        os.makedirs(os.path.join(source, directory), exist_ok=True)
    dice = random.Random(seed + 1)
    for name in names:
        with open(os.path.join(source, name), "w") as file:
            file.write(text(dice))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            edit()
            code = 0
        finally:
            os._exit(code)
    try:
        while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
            look()
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    look()
    print(n_steady, n_missing)
    if ended[1]:
        sys.exit("the edits failed")
    if not n_missing:
        sys.exit("nothing was missing in any steady look")


main()
