#!/usr/bin/env python3
"""Changes a tree beside the mount and asks at once, without waiting: beside.py KINFS SOURCE MNT ROUNDS [NOISE]

What is asked about is SOURCE/report, or what resembles it: in turn by a view, an attribute, a question
written to .kinfs/query and a command, so that each comes first after each kind of change. Says how many
answers of which kind were not those of the tree as it was; exit code 1 if any was. With NOISE another process
goes on changing other files of the tree all the while.
"""
import collections, errno, itertools, os, shutil, signal, subprocess, sys

KINFS, SOURCE, MNT, ROUNDS = *sys.argv[1:4], int(sys.argv[4])
NOISE = sys.argv[5:] == ["noise"]
OUTSIDE = SOURCE + ".outside"


def words(first, count):
    return "".join(f"word{i}\n" for i in range(first, first + count)).encode()


REPORT = words(1, 100)


def write(path, content):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(fd, content)
    os.close(fd)


# -- ways to ask for the documents that resemble the report, as paths --

def by_view():
    directory = f"{MNT}/similar/report"
    return {os.path.normpath(os.path.join("similar/report", os.readlink(f"{directory}/{name}")))
            for name in os.listdir(directory)}


def by_attribute():
    try:
        lines = os.getxattr(f"{MNT}/report", "user.kinfs.similar").decode()
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        return set()
    return {line.split("\t")[1] for line in lines.splitlines()}


def documents():
    """All but what makes the noise."""
    return [os.path.relpath(f"{directory}/{name}", SOURCE)
            for directory, _, names in os.walk(SOURCE) if directory != f"{SOURCE}/noise" for name in names]


def by_own_attribute():
    """Asked of each document itself, by its name in the mount, which the kernel may know as another's."""
    found = set()
    for path in documents():
        try:
            lines = os.getxattr(f"{MNT}/{path}", "user.kinfs.similar").decode().splitlines()
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
            continue
        if "report" in {line.split("\t")[1] for line in lines}:
            found.add(path)
    return found


def by_question():
    fd = os.open(f"{MNT}/.kinfs/query/q", os.O_RDWR | os.O_CREAT)
    os.write(fd, REPORT)
    os.lseek(fd, 0, os.SEEK_SET)
    answer = os.read(fd, 1 << 16).decode()
    os.close(fd)
    return {line.split("\t")[1] for line in answer.splitlines()} - {"report"}


def by_command():
    done = subprocess.run([KINFS, "similar", "-n", "0", f"{MNT}/report"], stdout=subprocess.PIPE, text=True)
    return {line.split("\t")[1] for line in done.stdout.splitlines()}


def by_clusters():
    """All of the members of all clusters."""
    done = subprocess.run([KINFS, "clusters", MNT], stdout=subprocess.PIPE, text=True)
    members = set()
    for line in done.stdout.splitlines():
        done = subprocess.run([KINFS, "clusters", "-i", line.split("\t")[0], MNT],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        members |= {row.split("\t")[1] for row in done.stdout.splitlines()}
    return members - {"report"}


WAYS = (by_view, by_attribute, by_question, by_command, by_view, by_own_attribute, by_question, by_clusters)


# -- a round: each step changes one thing, and says which documents resemble the report then --

def steps(i):
    def at(name):
        return f"{SOURCE}/{name}"

    copy, moved, back = f"copy{i}", f"moved{i}", f"back{i}"
    write(f"{OUTSIDE}/twin", REPORT)

    yield "write", lambda: write(at(copy), REPORT), {copy}
    yield "rename", lambda: os.rename(at(copy), at(moved)), {moved}
    yield "move out", lambda: os.rename(at(moved), f"{OUTSIDE}/{copy}"), set()
    yield "move in", lambda: os.rename(f"{OUTSIDE}/{copy}", at(back)), {back}
    yield "rewrite", lambda: write(at(back), words(10000 * (i + 1), 90)), set()

    def save():
        write(at(f".{back}"), REPORT)
        os.rename(at(f".{back}"), at(back))
    yield "save as editors do", save, {back}
    yield "delete", lambda: os.unlink(at(back)), set()
    yield "link", lambda: os.link(f"{OUTSIDE}/twin", at(copy)), {copy}
    yield "unlink", lambda: os.unlink(at(copy)), set()

    def new_directories():
        os.makedirs(at(f"d{i}/e/f"))
        write(at(f"d{i}/e/f/inside"), REPORT)
    yield "write in new directories", new_directories, {f"d{i}/e/f/inside"}
    yield "rename a directory", lambda: os.rename(at(f"d{i}/e"), at(f"d{i}/g")), {f"d{i}/g/f/inside"}
    yield "move a directory out", lambda: os.rename(at(f"d{i}"), f"{OUTSIDE}/d{i}"), set()
    yield "move a directory in", lambda: os.rename(f"{OUTSIDE}/d{i}", at(f"h{i}")), {f"h{i}/g/f/inside"}
    yield "write in a directory of before", lambda: write(at(f"h{i}/also"), REPORT), {f"h{i}/g/f/inside", f"h{i}/also"}
    yield "remove a directory", lambda: shutil.rmtree(at(f"h{i}")), set()


def make_noise():
    for i in itertools.count():
        write(f"{SOURCE}/noise/a", words(1000000 + i, 20))
        os.rename(f"{SOURCE}/noise/a", f"{SOURCE}/noise/b")
        os.mkdir(f"{SOURCE}/noise/a")
        os.rmdir(f"{SOURCE}/noise/a")
        os.unlink(f"{SOURCE}/noise/b")


def begin_noise():
    os.makedirs(f"{SOURCE}/noise", exist_ok=True)
    child = os.fork()
    if child == 0:
        try:
            make_noise()
        finally:
            os._exit(1)
    return child


def main():
    os.makedirs(OUTSIDE, exist_ok=True)
    noise = begin_noise() if NOISE else 0
    try:
        ask_all()
    finally:
        if noise:
            os.kill(noise, signal.SIGKILL)
            status = os.waitpid(noise, 0)[1]
            if os.WIFEXITED(status):
                sys.exit("the noise ended before the questions")


def ask_all():
    missed, first = collections.Counter(), {}
    for i in range(ROUNDS):
        for step, (what, change, expected) in enumerate(steps(i)):
            way = WAYS[(i + step) % len(WAYS)]
            if way is by_own_attribute:
                for path in documents():
                    os.stat(f"{MNT}/{path}")  # so that the kernel knows them
            change()
            try:
                got = way()
            except OSError as error:
                got = {str(error)}
            if got != expected:
                missed[what] += 1
                first.setdefault(what, f"first in round {i}, {way.__name__}: {sorted(got)}, not {sorted(expected)}")
    for what, count in missed.items():
        print(f"{what}: {count} of {ROUNDS} missed; {first[what]}")
    sys.exit(bool(missed))


main()
