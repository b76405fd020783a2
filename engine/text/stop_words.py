#!/usr/bin/env python3
"""A list of stop words as C source: stop_words.py NAME LIST. stop_words.h has the layout."""
import sys

SLOTS = 2048


def slot_of(word):
    value = 2166136261
    for byte in word.encode():
        value = (value ^ byte) * 16777619 & 0xffffffff
    return (value ^ value >> 16) % SLOTS


name, path = sys.argv[1:]
with open(path, encoding='utf-8') as file:
    words = [line.rstrip('\n') for line in file if not line.startswith('#')]
assert words == sorted(set(words)) and '' not in words and 2 * len(words) <= SLOTS
slots, at = [0] * SLOTS, 0
for word in words:
    slot = slot_of(word)
    while slots[slot]:
        slot = (slot + 1) % SLOTS
    slots[slot] = at + 1
    at += len(word.encode()) + 1
assert at < 1 << 16

print('/* Made by stop_words.py. */\n#include "engine/text/stop_words.h"\n')
print('static const char text[] =')
for word in words:
    print('    "%s\\0"' % ''.join('\\%03o' % byte if byte > 126 else chr(byte) for byte in word.encode()))
print('    ;\nstatic const uint16_t slots[STOP_WORDS_SLOTS] = {')
for row in range(0, SLOTS, 16):
    print('    ' + ' '.join('%d,' % slot for slot in slots[row:row + 16]))
print('};\nconst struct stop_words stop_words_%s = {%d, %d, text, slots};'
      % (name, len(words), max(len(word.encode()) for word in words)))
