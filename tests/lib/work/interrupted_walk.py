#!/usr/bin/env python3
"""Walks a tree while signals come, which a handler takes: interrupted_walk.py DIRECTORY MILLISECONDS

Prints the names of all files. Exits 1 where a call fails by an interruption: of names no other file system has it.
"""
import os
import signal
import sys

n_signals = 0


def count(*_):
    global n_signals
    n_signals += 1


signal.signal(signal.SIGALRM, count)
signal.setitimer(signal.ITIMER_REAL, *(float(sys.argv[2]) / 1000,) * 2)
for path, _, names in os.walk(sys.argv[1], onerror=lambda error: sys.exit(f"{path}: {error}")):
    for name in names:
        os.lstat(os.path.join(path, name))
        print(os.path.relpath(os.path.join(path, name), sys.argv[1]))
signal.setitimer(signal.ITIMER_REAL, 0)
if not n_signals:
    sys.exit("there was no signal")
