#!/usr/bin/env python3
"""compare.py NOUN on|off PLAIN MOUNT SOURCE [--known]

Does every operation of a noun in the directory PLAIN and in the directory MOUNT, of a mount with
kernel passthrough on or off, whose backing directory is SOURCE. Exit 1: something differs that is
not said to differ, or is said to differ and, where the file system is known to have it all, does not.
"""
import importlib
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from operations import trial  # noqa: E402

PATIENCE_S = 60
noun, passthrough, plain, mount, source = sys.argv[1:6]
is_known = sys.argv[6:] == ["--known"]


def run(operation, user, place):
    """The steps of an operation in a new directory of a place, done by a child."""
    os.mkdir(place)
    os.chmod(place, 0o755)
    if user == "user":
        os.chown(place, trial.USER, trial.USER)
    this = trial.Trial()

    def part(inner):
        signal.alarm(PATIENCE_S)
        os.chdir(place)
        os.umask(0o022)
        operation.function(inner)

    uid = os.getuid() if user != "user" or os.getuid() != 0 else trial.USER
    if os.getuid() == 0:
        this.as_user(uid, part)
    else:
        this.in_child(part)  # of its own too, that numbers of descriptors are the same
    return this.steps


def differences(operation, native, mounted):
    """Lines that say what is not as it should be."""
    expected = dict(operation.differs)
    if passthrough == "off":
        expected.update(operation.off)
    if os.getuid() == 0:
        expected.update(operation.root)
    if [label for label, _ in native] != [label for label, _ in mounted]:
        yield f"other steps: {native} {mounted}"
        return
    shown = {label for label, _ in native}
    for label in expected:
        if label not in shown and label != "afterwards":
            yield f"{label}: said to differ, and not tried"
    for (label, wanted), (_, got) in zip(native, mounted):
        if label.startswith(trial.ESCAPED):
            yield f"{label}: {wanted} natively"
        if label in expected:
            stated, why = expected[label]
            if got != repr(stated):
                yield f"{label}: natively {wanted}, here {got}, should be {stated!r} ({why})"
            elif got == wanted and is_known:
                yield f"{label}: {got} natively too, though it is said to differ ({why})"
        elif wanted != got:
            yield f"{label}: natively {wanted}, here {got}"


def compare_dicts(what, wanted, got):
    for path in sorted(set(wanted) | set(got)):
        if wanted.get(path) != got.get(path):
            a, b = wanted.get(path), got.get(path)
            if isinstance(a, dict) and isinstance(b, dict):
                a, b = ({key: x[key] for key in a if a[key] != b[key]} for x in (a, b))
            yield f"{what} {path[-40:]!r}: {a} there, {b} here"


def compare(operation, user):
    name = f"{operation.name}-{user}"
    there, here, below = (os.path.join(base, name) for base in (plain, mount, source))
    native, mounted = run(operation, user, there), run(operation, user, here)
    lines = list(differences(operation, native, mounted))
    paths = trial.paths_below(here)  # before: it moves access times
    seen = trial.identity(here, paths)
    lines += compare_dicts("backing tree", trial.identity(below, paths), seen)
    if "afterwards" not in operation.differs and not (
            passthrough == "off" and "afterwards" in operation.off):
        lines += compare_dicts("afterwards", trial.portable(there), trial.portable(here))
    for line in lines:
        trial.complain(f"{noun}: {operation.name} as {user}, passthrough {passthrough}: {line}")
    return not lines


importlib.import_module(f"operations.{noun}")
users = ("root", "user") if os.getuid() == 0 else ("user",)
good = 0
tried = 0
for operation in trial.registered:
    for user in users:
        if user in operation.users:
            tried += 1
            good += compare(operation, user)
print(f"{noun}: {good} of {tried} operations as natively, passthrough {passthrough}")
sys.exit(good != tried or not tried)
