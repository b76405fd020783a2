#!/usr/bin/env python3
"""crowd.py DIRECTORY [--beside BACKING] [--processes N] [--operations N] [--seed S]
   crowd.py --same [--but-access-times] MOUNT BACKING

Processes that create, write, read, rename, exchange, link, unlink and list in the same directories,
each as many operations as asked, in an order of its own. What others did meanwhile is no failure:
names that are gone or taken. ESTALE, EIO and everything else is, and so is a file whose content is not
whole: each is written in one go, and says its length and who wrote it.

With --beside every other process does so in BACKING, beside the mount, and files are written over and
cut short, too: nobody says what a reader finds then.

--same compares two ways to one tree, name by name: types, attributes, contents, numbers, times. Access
times that reading beside the mount moves nobody tells of: --but-access-times.
"""
import argparse
import errno
import hashlib
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from operations.kernel import EXCHANGE, NOREPLACE, link_descriptor, renameat2  # noqa: E402
from operations.trial import attributes_of, identity, paths_below  # noqa: E402

EXPECTED = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.EINVAL,
            errno.ELOOP, errno.EMLINK, errno.ENODATA, errno.EPERM}
N_DIRECTORIES, N_NAMES = 4, 25

WEIGHTS = {"create": 8, "save": 8, "nameless": 2, "read": 10, "hold": 3, "rename": 6, "noreplace": 2, "exchange": 4,
           "link": 3, "symlink": 1, "unlink": 5, "mkdir": 2, "rmdir": 2, "move_directory": 2, "chmod": 2,
           "attribute": 2, "times": 1, "look": 6, "list": 3}
TWO_SIDED = {"overwrite": 4, "cut": 3, "append": 3, "exchange_directories": 2}


class Failure(Exception):
    pass


class Worker:
    weights, expected = WEIGHTS, EXPECTED

    def __init__(self, number, seed):
        self.number, self.rng, self.n = number, random.Random(f"{seed}/{number}"), 0

    def name(self):
        directory = f"d{self.rng.randrange(N_DIRECTORIES)}"
        if self.rng.random() < 0.2:
            directory += f"/sub{self.rng.randrange(3)}"
        return f"{directory}/{self.rng.randrange(N_NAMES)}"

    def directory(self):
        return f"d{self.rng.randrange(N_DIRECTORIES)}/sub{self.rng.randrange(3)}"

    def content(self):
        """Words enough to be sketched, of few kinds, so that documents resemble each other."""
        self.n += 1
        first, n = self.rng.randrange(8) * 500, self.rng.randrange(30, 120)
        body = "\n".join(f"word{i}" for i in range(first, first + n))
        head = f"{self.number} {self.n} {len(body):06d}\n"
        return (head + body).encode()

    def check(self, path, content):
        if not content:
            return  # made, and not yet written
        head, _, body = content.partition(b"\n")
        if len(head.split()) != 3 or int(head.split()[2]) != len(body):
            raise Failure(f"{path}: not whole: {head!r} and {len(body)} bytes")

    def create(self):
        fd = os.open(self.name(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        os.write(fd, self.content())
        os.close(fd)

    def save(self):
        """As editors do; and nobody may see anything but a whole file."""
        temporary = f"tmp-{self.number}"
        fd = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
        os.write(fd, self.content())
        os.close(fd)
        os.rename(temporary, self.name())

    def nameless(self):
        fd = os.open("d0", os.O_TMPFILE | os.O_RDWR, 0o600)
        try:
            os.write(fd, self.content())
            link_descriptor(fd, self.name())
        finally:
            os.close(fd)

    def read(self):
        path = self.name()
        fd = os.open(path, os.O_RDONLY)
        try:
            content = os.pread(fd, 1 << 20, 0)
            if os.fstat(fd).st_nlink:  # else hold() may have been at it
                self.check(path, content)
        finally:
            os.close(fd)

    def hold(self):
        """A file that loses its name while it is open goes on as it is."""
        path = self.name()
        fd = os.open(path, os.O_RDWR)
        try:
            os.unlink(path)
            if os.fstat(fd).st_nlink:
                return
            before = os.pread(fd, 1 << 20, 0)
            os.pwrite(fd, before + b"more", 0)
            if os.fstat(fd).st_size < len(before) + 4 or os.pread(fd, 4, len(before)) != b"more":
                raise Failure(f"{path}: changed without a name")
        finally:
            os.close(fd)

    def rename(self):
        os.rename(self.name(), self.name())

    def noreplace(self):
        renameat2(self.name(), self.name(), NOREPLACE)

    def exchange(self):
        renameat2(self.name(), self.name(), EXCHANGE)

    def link(self):
        os.link(self.name(), self.name())

    def symlink(self):
        os.symlink(str(self.rng.randrange(N_NAMES)), self.name())

    def unlink(self):
        os.unlink(self.name())

    def mkdir(self):
        os.mkdir(f"{os.path.dirname(self.name())}/sub{self.rng.randrange(3)}")

    def rmdir(self):
        os.rmdir(self.directory())

    def move_directory(self):
        os.rename(self.directory(), self.directory())

    def chmod(self):
        os.chmod(self.name(), self.rng.choice((0o600, 0o644, 0o640)))

    def attribute(self):
        os.setxattr(self.name(), "user.worker", str(self.number).encode(), follow_symlinks=False)

    def times(self):
        os.utime(self.name(), ns=(self.rng.randrange(10**18), self.rng.randrange(10**18)))

    def look(self):
        if os.lstat(self.name()).st_ino == 0:  # no links is what an unlink in between leaves
            raise Failure("a name of no inode")

    def list(self):
        for entry in os.scandir(os.path.dirname(self.name())):
            try:
                entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                pass

    def work(self, n_operations):
        names, weights = list(self.weights), list(self.weights.values())
        done = 0
        for i in range(n_operations):
            name = self.rng.choices(names, weights)[0]
            try:
                getattr(self, name)()
                done += 1
            except OSError as error:
                if error.errno not in self.expected:
                    raise Failure(f"operation {i} ({name}): {error}") from error
        return done


class TwoSidedWorker(Worker):
    # Of directories that are moved beside the mount all the time the kernel says ESTALE by itself.
    weights, expected = WEIGHTS | TWO_SIDED, EXPECTED | {errno.ESTALE}

    def check(self, path, content):
        pass

    def overwrite(self):
        fd = os.open(self.name(), os.O_WRONLY)
        os.write(fd, self.content())
        os.close(fd)

    def cut(self):
        os.truncate(self.name(), self.rng.randrange(1, 600))

    def append(self):
        fd = os.open(self.name(), os.O_WRONLY | os.O_APPEND)
        os.write(fd, self.content())
        os.close(fd)

    def hold(self):
        fd = os.open(self.name(), os.O_RDWR)
        try:
            os.unlink(self.name())
            os.pwrite(fd, b"more", 0)
        finally:
            os.close(fd)

    def exchange_directories(self):
        renameat2(self.directory(), self.directory(), EXCHANGE)


def crowd(options):
    os.umask(0o022)
    for i in range(N_DIRECTORIES):
        os.makedirs(os.path.join(options.paths[0], f"d{i}"), exist_ok=True)
    children = []
    for number in range(options.processes):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                beside = options.beside and number % 2
                os.chdir(options.beside if beside else options.paths[0])
                worker = (TwoSidedWorker if options.beside else Worker)(number, options.seed)
                done = worker.work(options.operations)
                code = 0 if done > options.operations // 5 else 1
                if code:
                    print(f"worker {number}: only {done} of {options.operations} succeeded")
            except Failure as failure:
                print(f"worker {number}, seed {options.seed}: {failure}")
            finally:
                sys.stdout.flush()
                os._exit(code)
        children.append(pid)
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in children)
    print(f"{options.processes} processes, {options.operations} operations each, seed {options.seed}: {failed} failed")
    return bool(failed)


def content_of(path):
    if os.path.islink(path):
        return os.readlink(path)
    if os.path.isfile(path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    return None


def same(mount, backing, but_access_times):
    paths = paths_below(mount)
    mine, real = identity(mount, paths), identity(backing, paths)
    if but_access_times:
        for st in [*mine.values(), *real.values()]:
            if isinstance(st, dict):
                del st["accessed"]
    differing = [f"{path}: {real[path]} there, {mine[path]} here" for path in paths if mine[path] != real[path]]
    if sorted(paths) != sorted(paths_below(backing)):
        differing.append(f"only in one of them: {sorted(set(paths) ^ set(paths_below(backing)))}")
    for path in paths:
        here, there = os.path.join(mount, path), os.path.join(backing, path)
        if content_of(here) != content_of(there):
            differing.append(f"{path}: other content")
        if attributes_of(here) != attributes_of(there):
            differing.append(f"{path}: {attributes_of(there)} there, {attributes_of(here)} here")
    print("\n".join(differing) if differing else f"{len(paths)} names, all the same")
    return bool(differing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--beside", metavar="BACKING")
    parser.add_argument("--but-access-times", action="store_true")
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--operations", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    return same(*options.paths, options.but_access_times) if options.same else crowd(options)


sys.exit(main())
