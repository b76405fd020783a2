"""Documents that a machine has, for the benchmarks of the engine: as ASCII text what is in /usr/share/doc
and the manual pages as they come, as UTF-8 text the translated messages of /usr/share/locale in all
languages (a document per catalogue, languages in turn), as HTML the pages in /usr/share. Manual pages
are roff, and have a turn of their own as such. As mail the first of the others, as they are, in
quoted-printable and in base64 in turn.
"""
import email.message, gettext, glob, gzip, os


def unpacked(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def ascii_documents():
    for pattern in ("/usr/share/doc/*/*", "/usr/share/man/man*/*"):
        for path in sorted(glob.glob(pattern)):
            if os.path.isfile(path) and not path.endswith((".html", ".pdf", ".ps.gz")):
                content = unpacked(path)
                if content.isascii() and b"\0" not in content and b"<html" not in content[:200].lower():
                    yield content


def messages(path):
    with open(path, "rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog
    return "\n".join(text for key, text in catalogue.items() if key).encode()


def utf8_documents():
    languages = [sorted(glob.glob(f"{directory}/LC_MESSAGES/*.mo"))
                 for directory in sorted(glob.glob("/usr/share/locale/*"))]
    for turn in range(max(map(len, languages), default=0)):
        for catalogues in languages:
            if turn < len(catalogues):
                try:
                    content = messages(catalogues[turn])
                except (OSError, ValueError, LookupError):
                    continue  # not as gettext wants it
                if not content.isascii():
                    yield content


def html_documents():
    for path in sorted(glob.glob("/usr/share/**/*.html", recursive=True)):
        if os.path.isfile(path):
            yield unpacked(path)


def roff_documents():
    for path in sorted(glob.glob("/usr/share/man/man*/*")):
        if os.path.isfile(path):
            yield unpacked(path)


def mails():
    encodings = ("8bit", "quoted-printable", "base64")
    for number, content in enumerate(document for pair in zip(ascii_documents(), utf8_documents()) for document in pair):
        try:
            text = content.decode()
        except ValueError:
            continue
        mail = email.message.EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "a@example.org", "b@example.org", f"Document {number}"
        mail["Date"], mail["Message-ID"] = "Sun, 22 Nov 2026 04:00:00 +0000", f"<{number}@example.org>"
        mail.set_content(text, cte=encodings[number % len(encodings)])
        yield mail.as_bytes()


def write(documents, directory, prefix, at_most):
    paths, size = [], 0
    for content in documents:
        if not content or size >= at_most:
            continue
        paths.append(f"{directory}/{prefix}{len(paths)}")
        with open(paths[-1], "wb") as file:
            file.write(content)
        size += len(content)
    return paths


def paths_of(directory, mb):
    """What an earlier run has kept there, or so much of each kind, written there."""
    os.makedirs(directory, exist_ok=True)
    paths = sorted(glob.glob(f"{directory}/*"))
    if not paths:
        for prefix, documents in (("ascii", ascii_documents()), ("utf8", utf8_documents()), ("html", html_documents()),
                                  ("roff", roff_documents()), ("mail", mails())):
            paths += write(documents, directory, prefix, mb * 1000 * 1000)
    return paths
