#!/usr/bin/env python3
"""A mail spool at work: mail_spool.py DIRECTORY. Leaves there what was delivered (expected/) and what
arrived (found/), and exits 1 where they differ."""
import fcntl
import hashlib
import os
import sys
import time

DELIVERERS, MESSAGES = 4, 40
base = sys.argv[1]
maildir, mbox = f"{base}/Maildir", f"{base}/mbox"


def text_of(who, n):
    return (f"Message-Id: <{who}.{n}@localhost>\nFrom: a{who}\n\n" + f"line {who} {n}\n" * (1 + 37 * n % 200)).encode()


def deliver_maildir(who, n):
    """As the Maildir format says: write in tmp/, sync, link into new/, unlink."""
    name = f"{n}.{who}.host"
    fd = os.open(f"{maildir}/tmp/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, text_of(who, n))
    os.fsync(fd)
    os.close(fd)
    if n % 2:
        os.link(f"{maildir}/tmp/{name}", f"{maildir}/new/{name}")
        os.unlink(f"{maildir}/tmp/{name}")
    else:
        os.rename(f"{maildir}/tmp/{name}", f"{maildir}/new/{name}")


class DotLock:
    """A lock file linked into place, then a record lock: what mail programs agree on."""

    def __init__(self, path):
        self.path, self.own = path + ".lock", f"{path}.lock.{os.getpid()}"

    def __enter__(self):
        os.close(os.open(self.own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        while True:
            try:
                os.link(self.own, self.path)
                break
            except FileExistsError:
                time.sleep(0.002)  # as long as another delivers
        if os.stat(self.own).st_nlink != 2:
            sys.exit("a link made is not counted")

    def __exit__(self, *_):
        os.unlink(self.path)
        os.unlink(self.own)


def deliver_mbox(who, n):
    with DotLock(mbox):
        fd = os.open(mbox, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.write(fd, b"From a\n" + text_of(who, n) + b"\n")
        os.fsync(fd)
        os.close(fd)


def keep(directory, content):
    name = content.split(b"\n", 1)[0].split(b"<")[1].split(b"@")[0].decode()
    fd = os.open(f"{base}/{directory}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, hashlib.sha256(content).hexdigest().encode())
    os.close(fd)


def fetch(stop):
    """Two readers move what is new to cur/, marked as seen; who loses the race for one goes on."""
    while True:
        last = os.path.exists(stop)
        for name in os.listdir(f"{maildir}/new"):
            try:
                os.rename(f"{maildir}/new/{name}", f"{maildir}/cur/{name}:2,S")
            except FileNotFoundError:
                pass
        if last:
            return


def remove(stop):
    """Takes away what was read, once it is kept elsewhere."""
    while True:
        last = os.path.exists(stop)
        for name in os.listdir(f"{maildir}/cur"):
            with open(f"{maildir}/cur/{name}", "rb") as file:
                keep("found", file.read())
            os.unlink(f"{maildir}/cur/{name}")
        if last:
            return


def process(function, *args):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function(*args)
            code = 0
        except Exception as error:
            print(f"{function.__name__}{args}: {error!r}", flush=True)
        finally:
            os._exit(code)
    return pid


def join(pids):
    if any([os.waitpid(pid, 0)[1] for pid in pids]):
        sys.exit(1)


def deliver(who):
    for n in range(MESSAGES):
        deliver_maildir(who, n)
        deliver_mbox(who, n)


for directory in (f"{base}/expected", f"{base}/found", maildir, *(f"{maildir}/{d}" for d in ("tmp", "new", "cur"))):
    os.mkdir(directory)
readers = [process(fetch, f"{base}/delivered") for _ in range(2)]
remover = process(remove, f"{base}/fetched")
join([process(deliver, who) for who in range(DELIVERERS)])
open(f"{base}/delivered", "x").close()
join(readers)
open(f"{base}/fetched", "x").close()
join([remover])

for who in range(DELIVERERS):
    for n in range(MESSAGES):
        keep("expected", text_of(who, n))
expected, found = sorted(os.listdir(f"{base}/expected")), sorted(os.listdir(f"{base}/found"))
if expected != found:
    sys.exit(f"Maildir: {sorted(set(expected) ^ set(found))} lost or invented")
with open(mbox, "rb") as file:
    messages = file.read().split(b"From a\n")
if sorted(m[:-1] for m in messages[1:]) != sorted(text_of(w, n) for w in range(DELIVERERS) for n in range(MESSAGES)):
    sys.exit("mbox: a message is lost or torn")
left = [name for d in ("tmp", "new", "cur") for name in os.listdir(f"{maildir}/{d}")]
if left:
    sys.exit(f"Maildir: {left} left behind")
