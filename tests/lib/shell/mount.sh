# Sourced by the scripts of tests/mount/: set-up and assertions. The runner (tools/mount-tests) gives
# KINFS, SCRATCH and KINFS_STATE_DIR, and unmounts what is left.
# shellcheck shell=bash
set -euo pipefail

SOURCE=$SCRATCH/source
MNT=$SCRATCH/mnt
# What tests share, the modules that their Python has in common among it; nothing is left beside them.
LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$LIB PYTHONDONTWRITEBYTECODE=1
. "$LIB/shell/ended.sh"
# What a mount may pass reads and writes through by: to the kernel, which allows that to root alone, or not.
# shellcheck disable=SC2034
((EUID == 0)) && WAYS='passthrough nopassthrough' || WAYS=nopassthrough

fail() {
    echo "failed at line ${BASH_LINENO[${2:-0}]}: $1" >&2
    exit 1
}

skip() {
    echo "$1"
    exit 77
}

needs_fuse() {
    [[ -c /dev/fuse ]] && : 2>/dev/null < /dev/fuse || skip "no usable /dev/fuse here"
}

needs() { # COMMAND...: skips where one of them is not installed
    local command
    for command; do
        command -v "$command" > /dev/null || skip "$command is not installed"
    done
}

# in_memory: what follows is on a tmpfs, where one can be mounted: for thousands of files that may be anywhere.
in_memory() {
    mkdir "$SCRATCH/memory"
    ! mount -t tmpfs none "$SCRATCH/memory" 2> /dev/null || SCRATCH=$SCRATCH/memory
    SOURCE=$SCRATCH/source MNT=$SCRATCH/mnt
    cd "$SCRATCH"
}

# start [-o OPTIONS]: mounts SOURCE (made if missing) on MNT and returns when it serves.
start() {
    needs_fuse
    mkdir -p "$SOURCE"
    # Not -p, which looks at what is there: a killed daemon may have left what cannot be looked at.
    mkdir "$MNT" 2> /dev/null || true
    "$KINFS" mount "$@" "$SOURCE" "$MNT"
}

# stop: unmounts MNT and returns when the daemon has ended. Who looks at the command line of a process that ends (ps, pgrep)
# may keep for a moment what it had mapped, and the mount is in use.
stop() {
    local said code n
    for ((n = 0; n < 600; n++)); do
        code=0
        said=$("$KINFS" umount "$MNT" 2>&1) || code=$?
        [[ $code != 0 && $said == *': in use; end that first'* ]] || break
        sleep 0.1
    done
    [[ ! $said ]] || echo "$said" >&2
    return "$code"
}

# libfuse_is_from VERSION: the library that serves MNT is of that version or a newer one.
libfuse_is_from() {
    local version
    version=$("$KINFS" status --json "$MNT" | sed -n 's/.*"libfuse": *"\([^"]*\)".*/\1/p')
    [[ $(printf '%s\n' "$1" "$version" | sort -V | head -n 1) = "$1" ]]
}

expect_equal() { # WHAT EXPECTED GOT
    [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'" 1
}

expect_match() { # WHAT EXTENDED_REGEX GOT
    [[ $3 =~ $2 ]] || fail "$1: expected a match of '$2', got '$3'" 1
}

# expect_code CODE COMMAND...: its output stays in OUT.
expect_code() {
    local expected=$1 code=0
    shift
    OUT=$("$@" 2>&1) || code=$?
    [[ $code = "$expected" ]] || fail "$*: expected exit code $expected, got $code: $OUT" 1
}

# words FIRST COUNT: COUNT words that no other run of numbers shares, a line each, to write documents with.
words() {
    seq -f 'word%.0f' "$1" $(($1 + $2 - 1))
}

# soon WHAT COMMAND...: waits until the command succeeds; for what the mount is to see by itself. The bound
# is far above the second that it takes and below the minute for which the kernel may keep answers.
soon() {
    local what=$1 n
    shift
    for ((n = 0; n < 1500; n++)); do
        ! "$@" > /dev/null 2>&1 || return 0
        sleep 0.02
    done
    fail "$what: not seen" 1
}
