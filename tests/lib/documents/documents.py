#!/usr/bin/env python3
"""Documents that a library reads, written by hand: documents.py KIND FILE < TEXT, a paragraph a line."""
import sys
import zipfile
from xml.sax.saxutils import escape


def pdf(lines, lines_a_page=40, in_trailer=b""):
    pages = [lines[i : i + lines_a_page] for i in range(0, len(lines), lines_a_page)] or [[]]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pages), b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, page in enumerate(pages):
        shown = b" ".join(b"(%s) Tj T*" % line.encode("ascii") for line in page)
        stream = b"BT /F1 10 Tf 50 780 Td 12 TL " + shown + b" ET"
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            b" /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * i)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for i, body in enumerate(objects):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (i + 1, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
        in_trailer,
        len(out),
    )


def columns_pdf(lines, lines_a_column=20):
    """In two columns, each row of both at once, as some programs write it."""
    rows = []
    for i in range(0, len(lines), 2 * lines_a_column):
        left, right = (lines[at : at + lines_a_column] for at in (i, i + lines_a_column))
        rows.append([(left[n], right[n] if n < len(right) else "") for n in range(len(left))])
    # A row is an argument of pdf(): it moves to the second column and back.
    pages = [[") Tj 270 0 Td (".join(row) + ") Tj -270 0 Td (" for row in page] for page in rows]
    return pdf([row for page in pages for row in page], lines_a_column)


def encrypted_pdf(lines):
    """As if by a password: the one for reading is not the empty one, nor any other."""
    words = b"<%s>" % (b"5a" * 32)
    return pdf(
        lines,
        in_trailer=b" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O %s /U %s >> /ID [%s %s]" % ((words,) * 4),
    )


def odt(file, lines):
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        # A blank may be an element, and what was deleted is kept while changes are tracked.
        body = "".join("<text:p>%s</text:p>" % escape(l).replace(" ", "<text:s/>", 1) for l in lines)
        z.writestr(
            "content.xml",
            '<?xml version="1.0"?><office:document-content xmlns:office="o" xmlns:text="t"><office:body>'
            "<text:tracked-changes><text:p>deleted once</text:p></text:tracked-changes>"
            "%s</office:body></office:document-content>" % body,
            zipfile.ZIP_DEFLATED,
        )
        z.writestr("META-INF/manifest.xml", "<manifest/>")


def ooxml(file, parts):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", "<Types/>")
        for name, xml in parts:
            z.writestr(name, xml)


def docx(file, lines):
    # Words are cut into runs wherever their format changes.
    runs = "<w:r><w:t>%s</w:t></w:r><w:r><w:delText>deleted</w:delText><w:t xml:space='preserve'>%s</w:t></w:r>"
    body = "".join("<w:p>%s</w:p>" % (runs % (escape(l[:3]), escape(l[3:]))) for l in lines)
    ooxml(file, [("word/document.xml", "<w:document xmlns:w='w'><w:body>%s</w:body></w:document>" % body)])


def pptx(file, lines):
    slides = [lines[i : i + 10] for i in range(0, len(lines), 10)]
    page = "<p:sld xmlns:p='p' xmlns:a='a'>%s</p:sld>"
    ooxml(
        file,
        [
            ("ppt/slides/slide%d.xml" % i, page % "".join("<a:p><a:r><a:t>%s</a:t></a:r></a:p>" % escape(l) for l in s))
            for i, s in enumerate(slides)
        ],
    )


def repacked(write):
    """As another program packs it: in another order, with what is not packed first nor plain."""

    def repack(file, lines):
        write(file, lines)
        with zipfile.ZipFile(file) as z:
            members = [(name, z.read(name)) for name in z.namelist()]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("docProps/app.xml", "<Properties/>")
            for name, content in reversed(members):
                z.writestr(name, content)

    return repack


class Stream:
    """A file that is written from its beginning to its end."""

    def __init__(self, file):
        self.write, self.flush = file.write, file.flush


def zip64(write):
    """As a program packs it that knows no size before it has written it, and is ready for any."""

    def pack(file, lines):
        write(file, lines)
        with zipfile.ZipFile(file) as z:
            members = [(name, z.read(name)) for name in z.namelist()]
        zipfile.ZIP64_LIMIT = 0
        with open(file, "wb") as out, zipfile.ZipFile(Stream(out), "w", zipfile.ZIP_DEFLATED) as z:
            for name, content in members:
                with z.open(name, "w", force_zip64=True) as part:
                    part.write(content)
        data = bytearray(open(file, "rb").read())
        assert data[-22:-18] == b"PK\5\6"
        data[-14:-2] = b"\xff" * 12  # how many members, where they are listed
        open(file, "wb").write(data)

    return pack


def utf16_epub(file, lines):
    """One part in UTF-8, the others in UTF-16 of either order of bytes, with a mark of it or without."""
    epub(file, lines)
    with zipfile.ZipFile(file) as z:
        members = [(name, z.read(name)) for name in z.namelist()]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        for i, (name, content) in enumerate(members):
            if name != "mimetype" and i % 5:
                codec = ["utf-16-le", "utf-16-be"][i % 2]
                mark = "" if content.startswith(b"<?xml") and i % 5 > 2 else "\ufeff"
                declared = content.decode().replace("version='1.0'", "version='1.0' encoding='UTF-16'")
                content = (mark + declared).encode(codec)
            z.writestr(name, content)


def epub(file, lines):
    """Chapters whose names are not in the order of reading; a page of navigation, a style, a script."""
    package = (
        "<package xmlns='http://www.idpf.org/2007/opf'><manifest>"
        "<item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>"
        "<item id='s' href='s.css' media-type='text/css'/>%s</manifest><spine><itemref idref='n'/>%s</spine></package>"
    )
    page = (
        "<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><head><title/>"
        "<style>p { color: red }</style><script src='x.js'/></head><body>%s</body></html>"
    )
    chapters = [lines[i : i + 30] for i in range(0, len(lines), 30)]
    names = ["c%%20%d.xhtml" % (len(chapters) - i) for i in range(len(chapters))]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>",
        )
        z.writestr("mimetype", "application/epub+zip")
        z.writestr("OEBPS/nav.xhtml", page % "<nav>chapter one, chapter two</nav>")
        for name, chapter in zip(names, chapters):
            text = "".join("<p>%s</p>" % escape(l).replace(" ", "&nbsp;<b> </b>", 1) for l in chapter)
            z.writestr("OEBPS/" + name.replace("%20", " "), page % text)
        z.writestr(
            "OEBPS/book.opf",
            package
            % (
                "".join("<item id='%s' href='./%s' media-type='application/xhtml+xml'/>" % (n, n) for n in names),
                "".join("<itemref idref='%s'/>" % n for n in names),
            ),
        )


def xlsx(file, lines):
    items = "".join("<si><t>%s</t></si>" % escape(l) for l in lines)
    ooxml(file, [("xl/sharedStrings.xml", "<sst xmlns='x'>%s</sst>" % items)])


def bomb(file, lines):
    """The lines, and 100 MB of a word that take 100 kB."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", "<Types/>")
        with z.open("word/document.xml", "w") as part:
            part.write(b"<w:document xmlns:w='w'>")
            for line in lines:
                part.write(b"<w:p><w:t>%s</w:t></w:p>" % line.encode())
            for _ in range(100):
                part.write(b"<w:p><w:t>%s</w:t></w:p>" % (b"bomb " * 200000))
            part.write(b"</w:document>")


def part_of(*chunks):
    """A docx of some words and these: (bytes, how often) each, in its one part."""

    def write(file, lines):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
            z.writestr("[Content_Types].xml", "<Types/>")
            with z.open("word/document.xml", "w", force_zip64=True) as part:
                for piece, times in chunks:
                    for _ in range(times):
                        part.write(piece)

    return write


# Each of a few hundred kilobytes at most, and what it stands for of a hundred megabytes at least.
BEGIN = b"<w:document xmlns:w='w'><w:p><w:t>some words first</w:t></w:p>"
ENTITIES = b"<!DOCTYPE d [<!ENTITY e0 'word'>%s]>" % b"".join(
    b"<!ENTITY e%d '%s'>" % (i, b"&e%d;" % (i - 1) * 10) for i in range(1, 12)
)
MANY = b"bomb " * 200000
bombs = {
    "bomb-nested": part_of((BEGIN, 1), (b"<w:a>" * 200000, 100)),
    "bomb-text": part_of((BEGIN, 1), (b"<w:t>", 1), (MANY, 100), (b"</w:t></w:document>", 1)),
    "bomb-attribute": part_of((BEGIN, 1), (b"<w:t a='", 1), (MANY, 100), (b"'/></w:document>", 1)),
    "bomb-name": part_of((BEGIN, 1), (b"<w:", 1), (b"bomb" * 200000, 100), (b"/></w:document>", 1)),
    "bomb-entities": part_of((ENTITIES + BEGIN, 1), (b"<w:t>&e11;</w:t></w:document>", 1)),
    # Nothing is wrong with this one.
    "bomb-elements": part_of((BEGIN, 1), (b"<w:t/>" * 200000, 1000), (b"</w:document>", 1)),
}


def encrypted(file, lines):
    """Its flags say so; as if by a password."""
    odt(file, lines)
    data = bytearray(open(file, "rb").read())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.rfind(mark)
        data[at + flags] |= 1
    open(file, "wb").write(data)


pdfs = {"pdf": pdf, "columns-pdf": columns_pdf, "encrypted-pdf": encrypted_pdf, "pages": lambda lines: pdf(lines, 1)}
kinds = {"odt": odt, "docx": docx, "pptx": pptx, "xlsx": xlsx, "epub": epub, "bomb": bomb, "encrypted": encrypted, **bombs}
packed = ("odt", "docx", "pptx", "xlsx", "epub")
kinds.update({"repacked-" + kind: repacked(kinds[kind]) for kind in packed})
kinds.update({"zip64-" + kind: zip64(kinds[kind]) for kind in packed})
kinds["utf16-epub"] = utf16_epub
kind, file = sys.argv[1:]
lines = sys.stdin.read().splitlines()
if kind in pdfs:
    open(file, "wb").write(pdfs[kind](lines))
else:
    kinds[kind](file, lines)
