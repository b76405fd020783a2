# Sourced by what has a process keep directories or files locked (locker.py), whose output is in the file `locked`.
# shellcheck shell=bash

# await_locks PID: it holds its locks.
await_locks() {
    soon 'what is to be locked is locked' holds_locks "$1"
}

holds_locks() {
    grep -q locked locked || { kill -0 "$1" || fail 'it could not be locked'; false; }
}
