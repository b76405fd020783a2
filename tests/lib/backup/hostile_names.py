#!/usr/bin/env python3
"""hostile_names.py make TREE | hostile_names.py left TREE COPY FORMAT REFUSED | hostile_names.py unsaid FORMAT | hostile_names.py
kept TREE COPY FORMAT REFUSED

make: a document in TREE, equal ones of it whose names backup tools read in ways of their own, and beside each of these others
(decoys), with texts of their own, whose names a pattern for it could hit as well.
left: whether COPY, made of TREE by a backup tool with the list of kinfs skip, has all of TREE but the equal ones that FORMAT can
name; REFUSED is what kinfs skip said of those that it cannot.
unsaid: how many FORMAT cannot name.
kept: whether COPY, made with the list of kinfs skip --keep, has all of TREE, of any kind, with mode and time, but the equal ones and
what FORMAT cannot name; REFUSED is what kinfs skip said of that.
"""
import os
import re
import shutil
import stat
import sys

NAMES = [
    b" lead", b"trail ", b"trail\t", b"two  blanks", b"st*r", b"*", b"**", b"qu?stion", b"?", b"[class]", b"a[b]c", b"a[!x]",
    b"[[:alpha:]]", b"]x", b"{a,b}", b"a}b", b"!bang", b"#hash", b";semicolon", b"$HOME", b"dollar$", b"$$", b"${x}", b"back\\slash",
    b"ends\\", b"\\*", b"new\nline", b"ends\n", b"cr\rx", b"ends\r", b"tab\tx", b"ends\v", b"double\"x", b"'single'", b"\"both\"",
    b"bad\xff", b"\xfe\xff mid", b"half\xc3", "\u00e9".encode(), "nbsp\u00a0".encode(), "nel\u0085".encode(),
    "ideographic\u3000".encode(), b"-dash", b"+ plus", b"- minus", b"~tilde", b"a" * 250, b"re:^x", b"pf:x", b"sh:x", b"ignorecase:x",
    b"^caret", b"%41", b"\x01first", b"esc\x1b", b"del\x7f", "picture\u240a".encode(), "replaced\ufffd".encode(),
    "emoji\U0001f600".encode(), b"..dots", b"x#y !z",
]
DIRECTORY = b" odd $x [dir]* {y} \\ #"
SPECIAL = re.compile(rb"[^A-Za-z0-9]")


def decoys(name):
    for match in SPECIAL.finditer(name):
        for other in (b"", b"x", b"\t", b"\x0b", b"\x0c", b"\n", b" ", b"_", b"\\" + match[0], b"\xfd", "\u2401".encode()):
            yield name[:match.start()] + other + name[match.end():]
    yield name + b"x"
    yield name + b" "
    yield b"x" + name
    yield name.strip()
    yield name[:-1]


def words(first, n):
    return "".join(f"word{i}\n" for i in range(first, first + n))


def paths():
    """Of the equal ones, and of the decoys."""
    equal = [directory + b"/" + name for directory in (b"plain", DIRECTORY) for name in NAMES]
    taken, other = set(equal), []
    for directory in (b"plain", DIRECTORY):
        for name in NAMES:
            for decoy in decoys(name):
                path = directory + b"/" + decoy
                if decoy not in (b"", b".", b"..") and len(decoy) < 256 and path not in taken:
                    taken.add(path)
                    other.append(path)
    equal.append(b"emptied/copy")
    return equal, other


def make(tree):
    equal, other = paths()
    os.makedirs(tree + b"/plain")
    for directory in (DIRECTORY, b"emptied", b"# empty ", b"# empty /;empty"):
        os.mkdir(tree + b"/" + directory)
    os.symlink(b"nowhere\n", tree + b"/#link")
    os.mkfifo(tree + b"/;pipe", 0o600)
    with open(tree + b"/original", "w") as file:
        file.write(words(0, 200))
    os.utime(tree + b"/original", (1e9, 1e9))
    for path in equal:
        shutil.copy(tree + b"/original", tree + b"/" + path)
    for i, path in enumerate(other):
        with open(tree + b"/" + path, "w") as file:
            file.write(words(1000 + 20 * i, 20))
    os.chmod(tree + b"/" + DIRECTORY, 0o750)
    os.utime(tree + b"/" + DIRECTORY, (1e9 + 1, 1e9 + 1))
    print(len(equal))


CANNOT = {
    "restic": lambda path: False,
    "borg": lambda path: False,
    "rsync": lambda path: False,
    "plain0": lambda path: False,
    "tar": lambda path: b"\n" in path,
    "bsdtar": lambda path: b"\n" in path or b"\r" in path,
    "rclone": lambda path: not is_text(path) or re.search("[\ufffd\u201b\u2400-\u2421]", path.decode()),
    "duplicity": lambda path: not is_text(path) or b"\r" in path,
    "kopia": lambda path: not is_text(path) or re.search("[\0-\x1f\x7f-\x9f]", path.decode()) or path.decode().rstrip() != path.decode(),
}


def is_text(path):
    try:
        path.decode()
        return True
    except UnicodeDecodeError:
        return False


def entries(tree):
    """Of each its mode, time in seconds and what it leads to."""
    found = {}
    for at, directories, names in os.walk(tree):
        for path in (at + b"/" + name for name in directories + names):
            st = os.lstat(path)
            leads = os.readlink(path) if stat.S_ISLNK(st.st_mode) else b""
            found[os.path.relpath(path, tree)] = (st.st_mode, int(st.st_mtime), leads)
    return found


def files(tree):
    return {path for path, (mode, *_) in entries(tree).items() if stat.S_ISREG(mode)}


def left(tree, copy, form, refused):
    equal, other = paths()
    unsaid = {path for path in equal if CANNOT[form.decode()](path)}
    wanted = {b"original"} | set(other) | unsaid
    assert files(tree) == {b"original"} | set(other) | set(equal)
    got = files(copy)
    if form == b"duplicity":  # its patterns hit what has the end of a line behind the name, too
        also = {path + b"\n" for path in equal}
        got, wanted = got - also, wanted - also
    tell(wanted, got, len(unsaid), refused)


def tell(wanted, got, n_unsaid, refused):
    with open(refused, "rb") as file:
        n_refused = sum(b"cannot be said" in line for line in file)
    for path in sorted(set(wanted) - set(got)):
        print("left out, and should not be:", path)
    for path in sorted(set(got) - set(wanted)):
        print("there, and should not be:", path)
    if n_refused != n_unsaid:
        print(f"{n_refused} are refused, and {n_unsaid} cannot be said")
    sys.exit(set(wanted) != set(got) or n_refused != n_unsaid)


CANNOT_KEEP = {b"borg": lambda path: b"\r" in path}


def kept(tree, copy, form, refused):
    equal, _ = paths()
    unsaid = CANNOT_KEEP.get(form, lambda path: False)
    stays = {path: what for path, what in entries(tree).items() if path not in equal}
    n_unsaid = sum(unsaid(path) for path in stays)
    wanted = {path: what for path, what in stays.items() if not unsaid(path)}
    if form == b"restic":  # it would take the directory with all that is in it
        del wanted[b"emptied"]
    got = entries(copy)
    for path in sorted(set(wanted) & set(got)):
        if wanted[path] != got[path]:
            print("is another:", path, wanted[path], got[path])
            n_unsaid = -1
    tell(wanted, got, n_unsaid, refused)


def unsaid(form):
    print(sum(bool(CANNOT[form.decode()](path)) for path in paths()[0]))


what, *arguments = [os.fsencode(argument) for argument in sys.argv[1:]]
{b"make": make, b"left": left, b"unsaid": unsaid, b"kept": kept}[what](*arguments)
