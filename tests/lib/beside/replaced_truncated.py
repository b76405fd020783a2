"""replaced_truncated.py MOUNT TREE: a file that is replaced beside the mount, and at once opened by its name there to be truncated, is not
truncated itself; what has come in its place is."""
import os
import sys

mount, tree = sys.argv[1:]
for i in range(20):
    for access in os.O_WRONLY, os.O_RDWR, os.O_RDONLY:
        name = f"replaced-{i}-{access}"
        with open(f"{tree}/{name}", "w") as old, open(f"{tree}/new", "w") as new:
            old.write("old")
            new.write("new")
        with open(f"{tree}/{name}") as held:
            assert os.stat(f"{mount}/{name}").st_size == 3
            os.rename(f"{tree}/new", f"{tree}/{name}")
            fd = os.open(f"{mount}/{name}", access | os.O_TRUNC)
            assert os.fstat(held.fileno()).st_size == 3, f"emptied, though nobody named it, {i}, {access}"
            assert os.fstat(fd).st_size == 0 and os.stat(f"{tree}/{name}").st_size == 0, f"not emptied, {i}, {access}"
            os.close(fd)
