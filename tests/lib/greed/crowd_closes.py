"""crowd_closes.py TREE MOUNT LISTINGS BATCHES: what a mount closes, without end, for who has a close that takes its time.

A directory of TREE, of which MOUNT is the mount, is opened through the mount to be listed and closed, LISTINGS times. Then come BATCHES of a
hundred files each: held open beside the mount and, by descriptors of which its daemon is not told, through it, removed through the mount, and
closed once its watch may have looked.
"""
import os
import sys
import time

tree, mount, n_listings, n_batches = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
os.mkdir(f'{tree}/listed')
for _ in range(n_listings):
    os.close(os.open(f'{mount}/listed', os.O_RDONLY | os.O_DIRECTORY))
for batch in range(n_batches):
    held = []
    for i in range(100):
        name = f'{batch}-{i}'
        held += [os.open(f'{tree}/{name}', os.O_CREAT | os.O_RDWR), os.open(f'{mount}/{name}', os.O_PATH)]
        os.unlink(f'{mount}/{name}')
    time.sleep(0.12)
    for fd in held:
        os.close(fd)
