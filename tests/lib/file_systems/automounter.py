"""automounter.py POINT [NAME]: an automounter that mounts nothing more, but at first a tmpfs at NAME in its directory. A line for each time that it
is asked to mount; the first says that it is there."""
import ctypes, fcntl, os, struct, sys

AUTOFS_IOC_FAIL = 0x9361
point, *names = sys.argv[1:]
os.setpgrp()  # the kernel asks for nobody in the automounter's own group
reader, writer = os.pipe()
options = f"fd={writer},pgrp={os.getpgrp()},minproto=5,maxproto=5,{'indirect' if names else 'direct'}"
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"automounter", point.encode(), b"autofs", 0, options.encode()) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.close(writer)
for name in names:
    os.mkdir(f"{point}/{name}")
    if libc.mount(b"x", f"{point}/{name}".encode(), b"tmpfs", 0, None) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
top = os.open(point, os.O_RDONLY | os.O_DIRECTORY)
print("ready", flush=True)
while packet := os.read(reader, 4096):
    print("asked", flush=True)
    fcntl.ioctl(top, AUTOFS_IOC_FAIL, struct.unpack_from("=I", packet, 8)[0])
