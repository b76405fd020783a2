# Sourced by tests/mount/users/unprivileged_*.sh that run tests of root's once more as an ordinary user.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/unprivileged.sh"

# run_unprivileged NAME...: each in a scratch directory of its own; fails when one does.
run_unprivileged() {
    local name code failed=0
    become_ordinary_user
    for name; do
        code=0
        mkdir "$SCRATCH/$name"
        (cd "$SCRATCH/$name" && SCRATCH=$PWD KINFS_STATE_DIR=$PWD/state "$(find "$tests" -name "$name.sh")") > "$SCRATCH/log" 2>&1 || code=$?
        case $code in
            0) echo "$name: passed" ;;
            77) echo "$name: skipped: $(tail -n 1 "$SCRATCH/log")" ;;
            *) failed=1; echo "$name: failed ($code)"; sed 's/^/    /' "$SCRATCH/log" ;;
        esac
        { grep -o "$SCRATCH/$name/[^ ]* " /proc/self/mountinfo || true; } | xargs -r -n 1 fusermount3 -uz
        rm -rf --one-file-system "${SCRATCH:?}/$name" || true
    done
    return "$failed"
}
tests=$(cd "${0%/mount/*}/mount" && pwd)
