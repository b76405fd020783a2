#!/usr/bin/env python3
"""The named character references of WHATWG HTML 13.5, from Python's copy of the list, as C source."""
import html.entities

names = sorted(name[:-1] for name in html.entities.html5 if name.endswith(';'))
legacy = {name for name in html.entities.html5 if not name.endswith(';')}
assert legacy <= set(names) and max(map(len, names)) < 32 and max(map(len, legacy)) <= 6

print('/* Made by html_names.py. */\n#include "engine/text/html/html_reference.h"\n\nconst char html_names[] =')
for name in names:
    print('    "%s\\0"' % name)
print('    ;\n\nconst struct html_reference_name html_reference_names[] = {')
at = 0
for name in names:
    text = ''.join('\\%03o' % byte for byte in html.entities.html5[name + ';'].encode())
    print('    {%d, %d, "%s"},' % (at, name in legacy, text))
    at += len(name) + 1
assert at < 1 << 16
print('};\nconst size_t html_n_reference_names = sizeof(html_reference_names) / sizeof(html_reference_names[0]);')
