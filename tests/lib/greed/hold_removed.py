"""hold_removed.py TREE MOUNT DIRECTORIES OPEN: holds what has been removed, until a line comes on standard input.

TREE, of which MOUNT is the mount, gets DIRECTORIES and OPEN more. All are held by descriptors of MOUNT, of which the daemon is
not told, but for the last, which are open to be listed. Then, beside the mount, each becomes TREE/gone-NUMBER and is removed.
"""
import os
import sys

tree, mount, n_held, n_open = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
for i in range(n_held + n_open):
    os.mkdir(f'{tree}/{i}')
    os.open(f'{mount}/{i}', os.O_PATH if i < n_held else os.O_RDONLY | os.O_DIRECTORY)
for i in range(n_held + n_open):
    os.rename(f'{tree}/{i}', f'{tree}/gone-{i}')
    os.rmdir(f'{tree}/gone-{i}')
print('held', flush=True)
sys.stdin.readline()
