"""Documents that come, go and change, and what kinfs watch said of it against what the index says.

    watched_history.py change MOUNT SOURCE SEED STEPS    documents of five families are written, written anew, removed;
                                                 directories are removed, and, beside the mount, moved to SOURCE.out
    watched_history.py compare BEFORE EVENTS AFTER    what `kinfs clusters --members --json` printed before, `kinfs watch --json`
                                                 said since, and the former says now: 0 where the one leads to the other
"""
import errno
import json
import os
import random
import shutil
import sys


def text(family, first, n):
    return "".join(f"family{family}word{i}\n" for i in range(first, first + n))


def step(tree, source, out, chance):
    name = f"d{chance.randrange(4)}"
    directory = os.path.join(tree, name)
    act = chance.randrange(12)
    known = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    if act == 0 and known:
        shutil.rmtree(directory)
    elif act == 1 and known:
        # Not to be found at its old path, nor to be come by again.
        os.rename(os.path.join(source, name), out)
    elif act < 4 and known:
        os.unlink(os.path.join(directory, chance.choice(known)))
    else:
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"n{chance.randrange(8)}"), "w") as file:
            # The families hang together in some lengths alone, so that clusters merge and split.
            file.write(text(chance.randrange(5), 20 * chance.randrange(6), chance.choice((60, 60, 80, 160))))


def change(tree, source, seed, steps):
    chance = random.Random(seed)
    out = f"{source}.out{seed}"
    os.makedirs(out)
    for at in range(steps):
        try:
            step(tree, source, os.path.join(out, f"{at}"), chance)
        except OSError as error:
            # For some milliseconds the kernel has a directory there that was moved away beside the mount.
            if error.errno not in (errno.ENOENT, errno.ESTALE, errno.EEXIST):
                raise


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def members(path):
    return {(row["path"], row["cluster"]) for row in rows(path)}


def compare(before, events, after):
    state = members(before)
    paths = {}  # of documents
    for event in rows(events):
        if event["event"] not in ("joined", "left"):
            continue
        document, cluster = event["document"], event["cluster"]
        path = event.get("path") or paths.get((document, cluster))
        if event["event"] == "joined":
            assert path, event
            assert (path, cluster) not in state, ("joined twice", event)
            state.add((path, cluster))
            paths[document, cluster] = path
        elif path is None:
            raise AssertionError(("no path is known", event))
        else:
            assert (path, cluster) in state, ("left, and was not there", event)
            state.remove((path, cluster))
    now = members(after)
    if state != now:
        print("too many:", sorted(state - now), "too few:", sorted(now - state))
    return 0 if state == now else 1


if __name__ == "__main__":
    if sys.argv[1] == "change":
        change(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        sys.exit(compare(*sys.argv[2:5]))
