#!/usr/bin/env bash
# A secret that is written into a document after it was closed is told to nobody who asked before: the answers wait meanwhile,
# and the one who asks has guessed the secret. The same where the document's directory is closed.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 getfattr setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open" "$SOURCE/guesses"
words 1 200 > "$SOURCE/open/asked"
words 5001 200 > "$SOURCE/guesses/guess"
words 5001 200 > "$SCRATCH/secret"
# The index waits for a picture, and who asks for the index, while the gate is a FIFO that nobody writes to.
printf '[extractor "image/png"]\ncommand = %s %s/gate\nseconds = 1000\n' "$(readlink -f "$(command -v cat)")" "$PWD" > kinfs.conf
start -o "allow_other,list_xattr,clusters=near:components:0.7,settle_ms=600000,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null

python3 - "$MNT" "$SCRATCH/secret" gate << 'PYTHON'
import errno, os, sys

mnt, secret, gate = sys.argv[1:]
secret = open(secret, "rb").read()
asked = f"{mnt}/open/asked"
public = open(asked, "rb").read()
USER = 54321
png = b"\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0"


def attribute(name):
    return asked, lambda path: os.getxattr(path, f"user.kinfs.{name}").decode()


# Questions that are one request to the daemon each: they go by a descriptor that is there before, and can read nothing.
QUESTIONS = {name: attribute(name) for name in (
    "state", "cluster", "cluster.size", "cluster.near", "representative", "resemblance", "nearest", "similar",
    "resemblance:guesses/guess", "containment:guesses/guess")}
QUESTIONS["a list"] = asked, lambda path: " ".join(os.listxattr(path))
QUESTIONS["links"] = f"{mnt}/similar/open/asked", lambda path: " ".join(os.listdir(path))
QUESTIONS["a link"] = f"{mnt}/similar/open/asked", lambda path: os.readlink(f"{path}/100-guess")
QUESTIONS["mirrored"] = f"{mnt}/similar/open", lambda path: " ".join(os.listdir(path))
# Nothing, in the words of each; the views may refuse as well.
NOTHING = {name: ("ENODATA",) for name in QUESTIONS}
NOTHING |= {"a list": ("",), "links": ("", "EACCES"), "a link": ("ENOENT", "EACCES"), "mirrored": ("", "EACCES")}


def attempt(ask, path):
    try:
        return ask(path)
    except OSError as error:
        return errno.errorcode[error.errno]


def begin(name):
    """A process of the user's that asks, and the pipe by which it will say what it was told."""
    answer, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(answer)
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
        path, ask = QUESTIONS[name]
        fd = os.open(path, os.O_PATH)
        os.write(told, b"?")
        os.write(told, attempt(ask, f"/proc/self/fd/{fd}").encode())
        os._exit(0)
    os.close(told)
    assert os.read(answer, 1) == b"?", "could not ask"
    while True:
        with open(f"/proc/{pid}/wchan") as wchan:
            if wchan.read() == "request_wait_answer":
                return pid, answer
        with open(f"/proc/{pid}/stat") as stat:
            assert stat.read().rsplit(")", 1)[1].split()[0] != "Z", f"{name}: did not wait for the index"


def end(pid, answer):
    with os.fdopen(answer, "rb") as out:
        text = out.read().decode()
    assert os.waitpid(pid, 0)[1] == 0
    return text


def write(path, text):
    with open(path, "wb") as out:
        out.write(text)


def set_gate(make):
    make("new_gate")
    os.chmod("new_gate", 0o644)
    os.replace("new_gate", gate)


def answers_while(change, number):
    """The answer to each question that came before a change."""
    set_gate(os.mkfifo)
    write(f"{mnt}/held", png + bytes([number]))
    asking = {name: begin(name) for name in QUESTIONS}
    change()
    with open(gate, "w"):  # as soon as it is waited at; who comes later goes through
        set_gate(lambda path: write(path, b""))
    return {name: end(*one) for name, one in asking.items()}


failed = []
told = answers_while(lambda: write(asked, secret), 0)
failed += [f"open to all: {name}: {text}" for name, text in told.items() if text in NOTHING[name]]
for number, path in enumerate((asked, f"{mnt}/open"), 1):
    write(asked, public)
    mode = os.stat(path).st_mode & 0o777

    def change():
        os.chmod(path, mode & 0o700)
        write(asked, secret)

    told = answers_while(change, number)
    failed += [f"{path} is closed: {name}: {text}" for name, text in told.items() if text not in NOTHING[name]]
    os.chmod(path, mode)
if failed:
    raise SystemExit("\n".join(failed))
PYTHON

# A document can be asked about by a name that cannot be listed.
chmod 711 "$MNT/open"
expect_equal 'what can be named' guesses/guess "$(setpriv --reuid=54321 --regid=54321 --clear-groups \
    getfattr --only-values --absolute-names -n user.kinfs.nearest "$MNT/open/asked")"
expect_equal 'and is not shown' '' "$(setpriv --reuid=54321 --regid=54321 --clear-groups ls "$MNT/similar/guesses/guess")"
stop
