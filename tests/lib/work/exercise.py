#!/usr/bin/env python3
"""exercise.py FILE [BACKING_FILE] [--operations N] [--seed S]

Random operations on one file through two descriptors and a mapping, each checked against a model in
memory: reading, writing, appending, storing, truncating, allocating, punching, zeroing, copying
within, seeking for data, closing and opening again. What is read by any way must be what the model
holds; so must, in the end and now and then, what the backing tree has. Exits 1 at the first
difference, having printed the seed and the last operations.
"""
import argparse
import collections
import errno
import mmap
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from operations.kernel import KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE, fallocate  # noqa: E402

LARGEST = 256 * 1024  # small, so that operations meet


class Difference(Exception):
    pass


class File:
    def __init__(self, path, backing, rng):
        self.path, self.backing, self.rng = path, backing, rng
        self.model = bytearray()
        self.fds = [os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644), os.open(path, os.O_RDWR)]
        self.memory = None

    def offset(self, beyond=False):
        edge = LARGEST if beyond else len(self.model)
        at = self.rng.randrange(edge + 1)
        return at if self.rng.random() < 0.5 else min(edge, at // 4096 * 4096 + self.rng.choice((-1, 0, 1)) if at else 0)

    def length(self, at):
        n = self.rng.choice((1, 7, 100, 4095, 4096, 4097, 10000, 50000))
        return max(1, min(n, LARGEST - at))

    def data(self, n):
        start = self.rng.randrange(256)
        return bytes((start + i * 7) & 255 for i in range(256)) * (n // 256 + 1)

    def fd(self):
        return self.rng.choice(self.fds)

    def grow(self, size):
        if size > len(self.model):
            self.model += bytes(size - len(self.model))

    def same(self, what, at, got, n):
        wanted = bytes(self.model[at:at + n])
        if got != wanted:
            first = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
            raise Difference(f"{what}: of {n} at {at} byte {at + first} differs, {len(wanted)} and {len(got)} bytes")

    # -- operations; each returns what to print of it --

    def write(self):
        at = max(0, self.offset(beyond=self.rng.random() < 0.3))
        data = self.data(n := self.length(at))[:n]
        if os.pwrite(self.fd(), data, at) != n:
            raise Difference("short write")
        self.grow(at)
        self.model[at:at + n] = data
        return at, n

    def append(self):
        data = self.data(n := self.length(len(self.model)))[:n]
        if len(self.model) + n > LARGEST:
            return None
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        os.write(fd, data)
        os.close(fd)
        self.model += data
        return n

    def read(self):
        at = max(0, self.offset(beyond=True))
        n = self.length(at)
        self.same("read", at, os.pread(self.fd(), n, at), n)
        return at, n

    def store(self):
        if not self.mapped():
            return None
        at = max(0, min(self.offset(), len(self.model) - 1))
        n = min(self.length(at), len(self.model) - at)
        data = self.data(n)[:n]
        self.memory[at:at + n] = data
        self.model[at:at + n] = data
        if self.rng.random() < 0.2:
            self.memory.flush()
        return at, n

    def load(self):
        if not self.mapped():
            return None
        at = max(0, min(self.offset(), len(self.model) - 1))
        n = min(self.length(at), len(self.model) - at)
        self.same("load", at, bytes(self.memory[at:at + n]), n)
        return at, n

    def truncate(self):
        size = max(0, self.offset(beyond=self.rng.random() < 0.5))
        if self.rng.random() < 0.5:
            os.ftruncate(self.fd(), size)
        else:
            os.truncate(self.path, size)
        del self.model[size:]
        self.grow(size)
        return size

    def can(self, mode, at, n):
        """Whether the file system below has the mode."""
        try:
            fallocate(self.fd(), mode, at, n)
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            return False
        return True

    def allocate(self):
        at = max(0, self.offset(beyond=True))
        n, mode = self.length(at), self.rng.choice((0, KEEP_SIZE))
        if self.can(mode, at, n) and not mode:
            self.grow(at + n)
        return at, n, mode

    def punch(self):
        return self.zeroed(PUNCH_HOLE | KEEP_SIZE)

    def zero(self):
        return self.zeroed(self.rng.choice((ZERO_RANGE, ZERO_RANGE | KEEP_SIZE)))

    def zeroed(self, mode):
        at = max(0, self.offset(beyond=True))
        n = self.length(at)
        if not self.can(mode, at, n):
            return None
        if not mode & KEEP_SIZE:
            self.grow(at + n)
        end = min(at + n, len(self.model))
        if end > at:
            self.model[at:end] = bytes(end - at)
        return at, n, mode

    def copy(self):
        if len(self.model) < 2:
            return None
        source = self.rng.randrange(len(self.model))
        n = min(self.length(source), len(self.model) - source)
        target = self.rng.randrange(LARGEST - n)
        if source < target + n and target < source + n:
            return None
        n = os.copy_file_range(self.fd(), self.fd(), n, source, target)
        data = bytes(self.model[source:source + n])
        self.grow(target)
        self.model[target:target + n] = data
        return source, target, n

    def seek(self):
        """What is said to be a hole reads as zeros; data is found where bytes are not zero."""
        at = max(0, self.offset())
        if at >= len(self.model):
            return None
        try:
            data = os.lseek(self.fd(), at, os.SEEK_DATA)
        except OSError:
            data = len(self.model)
        if any(self.model[at:data]):
            raise Difference(f"no data is said to be from {at} to {data}")
        hole = os.lseek(self.fd(), at, os.SEEK_HOLE)
        if not at <= hole <= len(self.model):
            raise Difference(f"a hole is said to be at {hole}")
        return at, data, hole

    def size(self):
        for st in (os.fstat(self.fd()), os.stat(self.path)):
            if st.st_size != len(self.model):
                raise Difference(f"size {st.st_size}, should be {len(self.model)}")
        return len(self.model)

    def sync(self):
        os.fsync(self.fd())

    def reopen(self):
        """The mapping stays, also when all else is closed for a moment."""
        i = self.rng.randrange(2)
        os.close(self.fds[i])
        if self.rng.random() < 0.3:
            os.close(self.fds[1 - i])
            self.fds[1 - i] = os.open(self.path, os.O_RDWR)
        self.fds[i] = os.open(self.path, os.O_RDWR)

    def remap(self):
        if self.memory:
            self.memory.close()
        self.memory = None
        return bool(self.mapped())

    def compare(self):
        with open(self.path, "rb") as file:
            content = file.read()
        self.same("whole", 0, content, LARGEST)
        if self.backing:
            if self.memory:
                self.memory.flush()
            os.fsync(self.fds[0])
            with open(self.backing, "rb") as file:
                self.same("backing tree", 0, file.read(), LARGEST)

    def mapped(self):
        """Of the whole file as it is now, or None while it is empty. A mapping longer than the file
        would end us where its pages are gone."""
        if self.memory and len(self.memory) > len(self.model):
            self.memory.close()
            self.memory = None
        if not self.memory and self.model:
            self.memory = mmap.mmap(self.fd(), len(self.model))
            return self.memory
        return self.memory if self.memory and len(self.memory) == len(self.model) else self.shorter()

    def shorter(self):
        if self.memory:
            self.memory.close()
        self.memory = mmap.mmap(self.fd(), len(self.model)) if self.model else None
        return self.memory


WEIGHTS = {"write": 6, "append": 2, "read": 6, "store": 4, "load": 4, "truncate": 3, "allocate": 1, "punch": 2,
           "zero": 1, "copy": 2, "seek": 2, "size": 2, "sync": 1, "reopen": 1, "remap": 1, "compare": 1}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("backing", nargs="?")
    parser.add_argument("--operations", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    rng = random.Random(options.seed)
    file, last = File(options.file, options.backing, rng), collections.deque(maxlen=12)
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    try:
        for i in range(options.operations):
            name = rng.choices(names, weights)[0]
            last.append((i, name))
            last[-1] += (getattr(file, name)(),)
        file.compare()
    except (Difference, OSError) as error:
        print(f"{options.file}: seed {options.seed}, operation {i} ({name}): {error}")
        for line in last:
            print("   ", *line)
        return 1
    print(f"{options.operations} operations, seed {options.seed}")
    return 0


sys.exit(main())
