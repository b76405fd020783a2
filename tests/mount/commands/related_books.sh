#!/usr/bin/env bash
# A shelf of books, each with hundreds of links within itself, is read to its end where what documents say of others is kept; and a page behind
# them has all its links, those to names that a book has, too.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir "$SOURCE"
python3 - "$SOURCE" << 'END'
import sys, zipfile
for i in range(12):
    with zipfile.ZipFile(f"{sys.argv[1]}/book{i:02}.epub", "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
                      '<rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>')
        book.writestr("c.opf", '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="2.0"><manifest>'
                      '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>')
        links = "".join(f'<a href="{"page" if n == 0 else f"b{i}n{n}"}.html">bread flour oven number</a> ' for n in range(256))
        book.writestr("a.xhtml", f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Book {i}</title></head><body><p>{links}</p></body></html>')
for name, words in ("page", "castle drawbridge moat"), ("also", "castle drawbridge moat"), ("zlast", "wolf"):
    links = '<a href="page.html">granite quarry marble</a> <a href="also.html">granite quarry marble</a>' if name == "zlast" else ""
    open(f"{sys.argv[1]}/{name}.html", "w").write(f"<!DOCTYPE html><title>{name}</title><p>{words} {links}")
END
expect_code 0 timeout 120 "$KINFS" scan --topics=anchor --store="$SCRATCH/store" "$SOURCE"
expect_equal 'what the last page says' '1.0000	also.html' "$("$KINFS" related -n 1 -t 0.5 --store="$SCRATCH/store" "$SOURCE/page.html" | sed 's/^0[^\t]*/1.0000/')"
