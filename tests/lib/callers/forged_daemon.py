"""A daemon whose store somebody else has made: forged_daemon.py STORE [UID [ROW]]

It answers every command on the store's socket with rows in which each text has characters that a terminal
obeys; or with the one ROW, whatever it is asked. It listens as the user UID. Prints "ready" when it listens; ends with its standard input.
"""
import json
import os
import socket
import sys
import threading

EVIL = "\x1b]0;owned\x07\x1b[2J\r\u009b31m\x7f\b!"
STATUS = {
    "version": EVIL, "source": EVIL, "mountpoint": EVIL, "sketching": True, "store": EVIL, "running": True,
    "policy": EVIL, "tokens": EVIL, "stopwords": EVIL, "stemmer": EVIL, "documents": 3, "clusters": 1, "skipped": 1,
    "failed": 1, "last_error": EVIL, "limits": EVIL, "passthrough": True, "protocol": EVIL, "io_uring": False,
    "io_uring_why": EVIL, "watch": EVIL, "watch_why": EVIL, "unread": [EVIL, EVIL], "sandbox_without": [EVIL],
    "clusterings": [{"name": EVIL, "rule": EVIL, "clusters": 1, "current": False, "made": True, "error": EVIL}],
    "document": {"path": EVIL, "state": "skipped" + EVIL, "reason": EVIL, "type": EVIL},
}
ROWS = {
    "status": [STATUS],
    "settle": [{"progress": {"done": 1, "total": 2, "scanning": True}}, STATUS],
    "check": [
        {"checking": EVIL, "rows": 1},
        {"finding": {"table": EVIL, "path": EVIL, "what": EVIL}},
        {"counts": {"wrong": 1, "clusterings": [{"name": EVIL, "clusters": 1, "members": 2}]}},
    ],
    "similar": [{"incomplete": EVIL}, {"path": EVIL, "resemblance": 0.5}],
    "watch": [
        {"event": EVIL, "path": EVIL, "document": 1, "cluster": 1, "representative": EVIL, "resemblance": 0.5},
        {"event": EVIL, "cluster": 1, "from": 2}, {"event": EVIL, "missed": 1}, {"instance": 1, "next": 1},
    ],
    "report": [
        {"cluster": 1, "size": 2, "pairs": [5000],
         "members": [{"path": EVIL, "size": 1, "mtime": 1, "resemblance": 1e300, "error": 0.1, "type": EVIL}, {"path": EVIL + "</text><x>"}]},
        {"generation": 1},
    ],
    "mirrors": [{"counts": {"documents": 1, "common": 1}}, {"a": EVIL, "b": EVIL, "share": 0.5, "of_a": {"common": 1}}],
}


def answer(connection):
    with connection, connection.makefile("rw") as lines:
        command = json.loads(lines.readline()).get("command")
        for row in ROW or map(json.dumps, ROWS.get(command, [])):
            lines.write(row + "\n")
        end = {"errno": 0} if ROW or command in ROWS else {"errno": 22, "error": EVIL}
        lines.write(json.dumps({"end": end}) + "\n")


def serve(listener):
    while True:
        answer(listener.accept()[0])


ROW = sys.argv[3:]
path = os.path.join(sys.argv[1], "control")
if os.path.lexists(path):
    os.unlink(path)
listener = socket.socket(socket.AF_UNIX)
os.umask(0o077)
listener.bind(path)
os.seteuid(int(sys.argv[2]) if sys.argv[2:] else os.geteuid())
listener.listen()
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
