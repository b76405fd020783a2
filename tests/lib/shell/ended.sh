# Sourced by what waits for the end of a process that is no child of its own.
# shellcheck shell=bash

# has_ended PID: with all its threads, and whether or not its parent has asked for it yet: where an init does so once in a
# while, or never, the process is seen for as long.
has_ended() {
    local stat
    read -r stat 2> /dev/null < "/proc/$1/stat" || return 0
    # shellcheck disable=SC2086 # its fields, from the third on
    set -- ${stat##*) }
    [[ $1 == [ZX] && ${18} -le 1 ]]
}

# await_end PID: its end; false when it is there still after minutes.
await_end() {
    local n
    for ((n = 0; n < 3000; n++)); do
        ! has_ended "$1" || return 0
        sleep "0.0$((n < 8 ? n + 1 : 9))"
    done
    return 1
}
