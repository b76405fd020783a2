# Sourced by the scripts of tests/mount/recipes/: a page of docs/recipes/ is followed, command by command.
# shellcheck shell=bash
. "${BASH_SOURCE[0]%/*}/mount.sh"
needs_fuse
PATH=$(dirname "$KINFS"):$PATH
RECIPES=$(cd "$LIB/../../docs/recipes" && pwd)
mkdir -p srv mnt home

# follow PAGE: runs its commands, those behind a line "```sh", as they stand and in their order, but that /srv, /mnt, /backup and
# /restored are below the scratch directory, and so is the home. What they print stays in PAGE.out.
follow() {
    sed -n '/^```sh$/,/^```$/{/^```/!p}' "$RECIPES/$1" |
        sed -E "s#(^|[ =:\"'(])/(srv|mnt|backup|restored)\\b#\\1$SCRATCH/\\2#g" > "$1.sh"
    [[ -s $1.sh ]] || fail "$1 has no commands"
    HOME=$SCRATCH/home XDG_DATA_HOME='' bash -e "./$1.sh" > "$1.out" || fail "$1: $(cat "$1.out")"
}
