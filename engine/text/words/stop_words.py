#!/usr/bin/env python3
"""Lists of stop words as C source: stop_words.py LIST.txt..., in the order of their numbers.
stop_words.h has the layout."""
import os
import sys

SLOTS = 2048


def slot_of(word):
    value = 2166136261
    for byte in word:
        value = (value ^ byte) * 16777619 & 0xffffffff
    return (value ^ value >> 16) % SLOTS


def print_list(name, path):
    with open(path, encoding='utf-8') as file:
        words = [line.rstrip('\n').encode() for line in file if not line.startswith('#')]
    assert words == sorted(set(words)) and b'' not in words and 2 * len(words) <= SLOTS
    slots, at = [0] * SLOTS, 0
    for word in words:
        slot = slot_of(word)
        while slots[slot]:
            slot = (slot + 1) % SLOTS
        slots[slot] = at + 1
        at += len(word) + 1
    assert at < 1 << 16
    print('static const char %s_text[] =' % name)
    for word in words:
        print('    "%s\\0"' % ''.join('\\%03o' % byte if byte > 126 else chr(byte) for byte in word))
    print('    ;\nstatic const uint16_t %s_slots[STOP_WORDS_SLOTS] = {' % name)
    for row in range(0, SLOTS, 16):
        print('    ' + ' '.join('%d,' % slot for slot in slots[row:row + 16]))
    print('};\nstatic const struct stop_words %s = {%d, %d, %s_text, %s_slots};\n'
          % (name, len(words), max(map(len, words)), name, name))


names = [os.path.basename(path).removesuffix('.txt') for path in sys.argv[1:]]
print('/* Made by stop_words.py. */\n#include "engine/text/words/stop_words.h"\n')
for name, path in zip(names, sys.argv[1:]):
    print_list(name, path)
print('const struct stop_words *const stop_words_lists[N_STOP_LISTS] = {NULL, %s};'
      % ', '.join('&' + name for name in names))
