# Sourced by the scripts tests/mount/users/unprivileged_*.sh, before mount.sh: has the rest of the script
# run as an ordinary user, to whom fusermount3 gives the mount.
#
# Where root runs the tests, that user is made for the script: in mount and process namespaces of
# its own, with an /etc/passwd that knows the user, an /etc/fuse.conf and a /dev/fuse as
# distributions have them; with SCRATCH_IN_MEMORY the scratch directory is a tmpfs. Nothing is left of all that when the script ends, nor of its daemons.
# shellcheck shell=bash
set -euo pipefail

ORDINARY_UID=54321

# What others have mounted must not stay mounted because of this copy, but for what the scratch directory is on.
leave_mounts_of_others() {
    awk -v own="$SCRATCH" '(/ - (fuse[. ]|ext4 \/dev\/loop)/ || index($5, "/kinfs-test.")) && index($5, own) != 1 && index(own "/", $5 "/") != 1 { print $5 }' \
        /proc/self/mountinfo | tac |
        while IFS= read -r mount_point; do umount -l "$(printf '%b' "$mount_point")" 2> /dev/null || true; done
}

make_user() { # in the namespaces
    leave_mounts_of_others
    # The list of mounts, which fusermount3 goes through, changes no more when others mount.
    mount --make-rprivate /
    leave_mounts_of_others # since then
    mkdir -p /run/mount
    mount -t tmpfs none /run/mount # where fusermount3 has it noted who mounted what
    if [[ ${SCRATCH_IN_MEMORY-} ]]; then
        mount -t tmpfs none "$SCRATCH"
        cd "$SCRATCH"
    fi
    mkdir "$SCRATCH/etc"
    { cat /etc/passwd; echo "ordinary:x:$ORDINARY_UID:$ORDINARY_UID::$SCRATCH:/bin/sh"; } > "$SCRATCH/etc/passwd"
    printf '%s\n' ${USER_ALLOW_OTHER:+user_allow_other} > "$SCRATCH/etc/fuse.conf"
    touch /etc/fuse.conf
    mknod -m 666 "$SCRATCH/etc/fuse" c 10 229
    mount --bind "$SCRATCH/etc/passwd" /etc/passwd
    mount --bind "$SCRATCH/etc/fuse.conf" /etc/fuse.conf
    mount --bind "$SCRATCH/etc/fuse" /dev/fuse
    chown "$ORDINARY_UID:$ORDINARY_UID" "$SCRATCH"
    exec setpriv --reuid="$ORDINARY_UID" --regid="$ORDINARY_UID" --clear-groups \
        env HOME="$SCRATCH" USER=ordinary "$@"
}

become_ordinary_user() { # [ARGUMENT...] of the script
    [[ $EUID = 0 ]] || return 0
    if [[ ${KINFS_TEST_NAMESPACE-} ]]; then
        unset KINFS_TEST_NAMESPACE
        make_user "$0" "$@"
    fi
    [[ -c /dev/fuse ]] || { echo 'no /dev/fuse here'; exit 77; }
    command -v fusermount3 setpriv > /dev/null || { echo 'no fusermount3 or setpriv here'; exit 77; }
    unshare -mpf --propagation slave --mount-proc true 2> /dev/null ||
        { echo 'no namespaces can be made here'; exit 77; }
    setpriv --reuid="$ORDINARY_UID" --regid="$ORDINARY_UID" --clear-groups test -x "$KINFS" ||
        { echo "other users cannot run $KINFS"; exit 77; }
    KINFS_TEST_NAMESPACE=1 exec unshare -mpf --propagation slave --mount-proc --kill-child "$0" "$@"
}
