#!/usr/bin/env python3
"""keep_locked.py UID MEMORY FILE...

Keeps files and directories locked as the user UID, as locker.py does. What is written before, and closed, tells a watch of each file. Says
"locked" when all are; ends when the memory's file system has. Run by root.
"""
import os
import sys
from locker import Locker

locker = Locker(int(sys.argv[1]), sys.argv[2])
for path in sys.argv[3:]:
    if os.path.isdir(path):
        locker.lock_directory(path)
        continue
    with open(path, "a") as file:
        file.write("more\n")
        file.flush()
        locker.lock_file(path)
locker.wait()
