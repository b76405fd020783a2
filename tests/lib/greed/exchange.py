"""exchange.py A B: gives the one's name to the other and back, again and again, until it is ended."""
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
a, b = map(os.fsencode, sys.argv[1:])
AT_FDCWD, RENAME_EXCHANGE = -100, 2
while True:
    if libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
