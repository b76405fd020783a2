#!/usr/bin/env python3
"""Collections with a gold standard, out of packages of the distribution that were unpacked.

    collections.py NAME UNPACKED TARGET

NAME      foldoc, python, linux, postgresql or manuals
UNPACKED  the directory into which its packages were unpacked
TARGET    a directory that is made: below tree/ the documents; `near`, lines of a document, a tab and
          a label: documents with a label in common are about the same; `topics`, the same with one
          label a document, where labels are to be compared with clusters

Labels are taken out of the documents, and so are the pages that are lists of what has one label, and
what a generator put around a page to lead to such lists.
"""
import collections, gzip, html, os, re, sys

LEAST = 5  # documents of a label; rarer ones are none


class Collection:
    def __init__(self, target):
        self.tree = os.path.join(target, "tree")
        self.target = target
        self.labels = collections.defaultdict(list)

    def add(self, path, text, labels=()):
        full = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        for label in labels:
            if label not in self.labels[path]:
                self.labels[path].append(label)

    def write(self, name, labels, least=LEAST):
        counts = collections.Counter(label for some in labels.values() for label in some)
        with open(os.path.join(self.target, name), "w", encoding="utf-8") as file:
            for path in sorted(labels):
                for label in labels[path]:
                    if counts[label] >= least:
                        file.write(f"{path}\t{label}\n")

    def finish(self):
        counts = collections.Counter(label for some in self.labels.values() for label in some)
        first = {path: [label for label in some if counts[label] >= LEAST][:1] for path, some in self.labels.items()}
        self.write("near", self.labels)
        self.write("topics", first)


def page(title, body):
    return f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{title}</title></head><body>{body}</body></html>\n"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def pages(top):
    for directory, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith(".html"):
                full = os.path.join(directory, name)
                yield os.path.relpath(full, top), read(full)


def between(text, begin, end):
    """What stands behind the first `begin` and before the last `end`, or None."""
    match = re.search(begin, text)
    at = text.rfind(end)
    return text[match.end():at] if match and at > match.end() else None


def title_of(text):
    match = re.search(r"<title>(.*?)</title>", text, re.S)
    return match[1] if match else ""


# -- FOLDOC: a dictionary of computing; the label is the subject, which an entry begins with --

SUBJECTS = re.compile(r"^((?:[ \t]*\d+\.)?\s*)<([a-z][^<>@:/]*)>", re.M)


def number(letters):
    value = 0
    for letter in letters:
        value = value * 64 + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".index(letter)
    return value


def squeeze(text):
    return " ".join(text.split())


def foldoc(unpacked, collection):
    base = os.path.join(unpacked, "usr/share/dictd/foldoc")
    with gzip.open(base + ".dict.dz") as file:
        data = file.read()
    entries = {}  # the place: the entry; several lines of the index may have one place
    for line in read(base + ".index").splitlines():
        head, offset, size = line.split("\t")
        if not head.startswith("00-database") and head != "missing definition":
            entries.setdefault((number(offset), number(size)), []).append(head)
    names, files = {}, {}
    for place in sorted(entries):
        text = data[place[0]:place[0] + place[1]].decode("utf-8", "replace")
        lines = text.split("\n")
        n = next((i for i, line in enumerate(lines) if not line.strip()), 0)
        heads = [line.strip() for line in lines[:n] if line.strip()]
        if not heads:
            continue
        stem = re.sub(r"[^a-z0-9+.-]+", "_", heads[0].lower())[:80]
        name = stem
        while name in files:
            name += "-"
        files[name] = (heads, "\n".join(lines[n:]))
        for head in heads + entries[place]:
            names.setdefault(squeeze(head).lower(), name)

    def link(match):
        inside = squeeze(match[1])
        url = re.fullmatch(r"(.*?) ?\(([^()\s]+[./:][^()\s]*)\)", inside)
        if url:
            return f'<a href="{html.escape(url[2])}">{html.escape(url[1])}</a>'
        target = names.get(inside.lower()) or "absent_" + re.sub(r"[^a-z0-9+.-]+", "_", inside.lower())[:80]
        return f'<a href="{target}.html">{html.escape(inside)}</a>'

    for name, (heads, body) in files.items():
        labels = [label.strip() for match in SUBJECTS.finditer(body) for label in match[2].split(",")]
        body = SUBJECTS.sub(r"\1", body)
        parts = re.split(r"\{([^{}]*)\}", body)
        body = "".join(link(("", part)) if i % 2 else html.escape(part, False) for i, part in enumerate(parts))
        body = re.sub(r"\n[ \t]*\n", "\n<p>", body)
        collection.add(name + ".html", page(html.escape(heads[0]), body), map(squeeze, labels))


# -- Python's manual: the label is the chapter, of which a page says at its top and foot --

def python(unpacked, collection):
    top = os.path.join(unpacked, "usr/share/doc/python3.11/html")
    found = dict(pages(top))
    chapter = {}
    for path, text in found.items():
        match = re.search(r'nav-item-2"><a href="([^"]*)"', text)
        if match:
            chapter[path] = os.path.normpath(os.path.join(os.path.dirname(path), match[1]))
    lists = set(chapter.values())
    for path, text in found.items():
        body = between(text, r'<div class="body" role="main">', '<div class="clearer">')
        if body is None or path in lists or os.path.basename(path) in ("index.html", "contents.html", "download.html") \
                or re.match(r"(gen|py-mod)index|search", path):
            continue
        body = body[:body.find('<div class="sphinxsidebar"')] if '<div class="sphinxsidebar"' in body else body
        collection.add(path, page(title_of(text), body), [chapter[path]] if path in chapter else [])


# -- The kernel's manual: the label is the directory --

def linux(unpacked, collection):
    top = os.path.join(unpacked, "usr/share/doc/linux-doc-6.1/html")
    for path, text in pages(top):
        body = between(text, r'<div itemprop="articleBody">', "<footer>")
        if body is None or path.startswith("translations/") or os.path.basename(path) == "index.html" \
                or re.match(r"genindex|search", path):
            continue
        directory = os.path.dirname(path)
        collection.add(path, page(title_of(text), body), [directory] if directory else [])


# -- PostgreSQL's manual: the label is the chapter, to which "Up" leads --

def postgresql(unpacked, collection):
    top = os.path.join(unpacked, "usr/share/doc/postgresql-doc-15/html")
    found = dict(pages(top))
    above = {}
    for path, text in found.items():
        match = re.search(r'accesskey="u" href="([^"#]*)', text)
        above[path] = match[1] if match else ""
    lists = set(above.values()) | {"index.html", "bookindex.html", "legalnotice.html"}
    for path, text in found.items():
        body = between(text, r'</div>(?=<div [^>]*class="(?!navheader))', '<div class="navfooter">')
        up = above[path]
        while re.match(r"[\dA-Z]+\.\d", title_of(found.get(up, ""))):  # a section; its chapter is above
            up = above[up]
        if body is not None and path not in lists:
            collection.add(path, page(title_of(text), body), [up] if up and up != "index.html" else [])


# -- Manual pages: near is what SEE ALSO names, which is taken out; the topic is the section --

REFERENCE = re.compile(r"([A-Za-z0-9_][\w.+:-]*)\s*\((\d\w*)\)")


def plain(roff):
    """Without fonts and macros, so that references stand there as they are read."""
    roff = re.sub(r"\\f(\(..|\[[^]]*\]|.)", "", roff)
    roff = re.sub(r"^\.Xr +(\S+) +(\S+)", r"\1(\2)", roff, flags=re.M)
    roff = re.sub(r"^\.[A-Z]+ +(.*)$", lambda match: re.sub(r'["]', "", match[1]), roff, flags=re.M)
    return roff.replace("\\-", "-").replace("\\&", "").replace("\\:", "")


def manuals(unpacked, collection):
    found, alias, seen = {}, {}, {}
    for directory, _, names in sorted(os.walk(os.path.join(unpacked, "usr/share/man"))):
        if not re.fullmatch(r"man\d", os.path.basename(directory)) or os.path.basename(os.path.dirname(directory)) != "man":
            continue
        for name in sorted(names):
            match = re.fullmatch(r"(.+)\.(\d\w*)\.gz", name)
            full = os.path.join(directory, name)
            if not match:
                continue
            path = os.path.basename(directory) + "/" + name[:-3]
            if os.path.islink(full):
                alias[match[1], match[2]] = os.path.basename(directory) + "/" + os.path.basename(os.readlink(full))[:-3]
                continue
            with gzip.open(full) as file:
                text = file.read().decode("utf-8", "replace")
            so = re.match(r"(?:\.\\\".*\n)*\.so +(\S+)", text)
            if so:
                alias[match[1], match[2]] = so[1].removesuffix(".gz")
                continue
            found[path] = text
            alias[match[1], match[2]] = path
    near = collections.defaultdict(set)
    for path, text in found.items():
        parts = re.split(r'(?m)^(?=\.S[Hh] )', text)
        is_see = [re.match(r'\.S[Hh] +"?SEE +ALSO', part, re.I) is not None for part in parts]
        for reference in REFERENCE.findall(plain("".join(part for part, see in zip(parts, is_see) if see))):
            other = alias.get(reference)
            if other in found and other != path:
                label = " ".join(sorted((path, other)))
                near[path].add(label)
                near[other].add(label)
        collection.add(path, "".join(part for part, see in zip(parts, is_see) if not see), [path.split("/")[0]])
    collection.write("near", {path: sorted(some) for path, some in near.items()}, 2)
    collection.write("topics", collection.labels)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("foldoc", "python", "linux", "postgresql", "manuals"):
        sys.exit(__doc__)
    collection = Collection(sys.argv[3])
    globals()[sys.argv[1]](sys.argv[2], collection)
    if sys.argv[1] != "manuals":
        collection.finish()


main()
