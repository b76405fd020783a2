#!/usr/bin/env python3
"""The named character references of WHATWG HTML, from Python's copy of the list, as C source."""
import html.entities
import sys

names = sorted(name[:-1] for name in html.entities.html5 if name.endswith(';'))
legacy = {name for name in html.entities.html5 if not name.endswith(';')}
assert legacy <= set(names) and max(map(len, names)) < 32 and max(map(len, legacy)) <= 6

print('''/* Made by html_names.py: the %d named character references of WHATWG HTML 13.5. */
#include "engine/text/html/html_reference.h"

/* clang-format off */
const char html_names[] =''' % len(names))
lines, line = [], '   '
for name in names:
    if len(line) + len(name) + 6 > 100:
        lines.append(line)
        line = '   '
    line += ' "%s\\0"' % name
lines.append(line)
print('\n'.join(lines) + ';\n')
print('const struct html_reference_name html_reference_names[] = {')
lines, line, at = [], '   ', 0
for name in names:
    text = ''.join('\\%03o' % byte for byte in html.entities.html5[name + ';'].encode())
    entry = ' {%d, %d, "%s"},' % (at, name in legacy, text)
    if len(line) + len(entry) > 100:
        lines.append(line)
        line = '   '
    line += entry
    at += len(name) + 1
lines.append(line)
assert at < 1 << 16
print('\n'.join(lines) + '\n};')
print('const size_t html_n_reference_names =\n'
      '    sizeof(html_reference_names) / sizeof(html_reference_names[0]);')
