#!/usr/bin/env bash
# The file system stressors of stress-ng, each for a number of operations: those that pass on the
# plain file system pass on the mount.
. "${0%/mount/*}/lib/shell/mount.sh"
needs stress-ng

# Of `stress-ng --class filesystem`, and those of other classes that work on files. Left out:
#   bind-mount                      mounts; fails on the plain file system as well
#   binderfs, procfs, eventfd, ioprio, dup
#                                   nothing of the file system is asked
#   chdir, fpunch, inode-flags, link, symlink
#                                   ten seconds and more for a single operation of theirs
#   dirdeep, io, iomix (sync(2))    would wait for all disks of the machine
stressors=(
    access:50 aio:50 aiol:50 chattr:2 chmod:20 chown:20 copy-file:20 dentry:20 dir:50 dirmany:50
    dnotify:10 fallocate:2 fanotify:5 fcntl:50 fiemap:20 file-ioctl:50 filename:10 flock:50 fsize:4
    fstat:20 getdent:20 handle:50 hdd:20 inotify:2 lease:20 locka:50 lockf:50 lockofd:50
    mknod:20 msync:20 open:50 readahead:20 rename:20 revio:20 seek:50 sendfile:20 splice:50
    sync-file:2 touch:50 utime:50 verity:10 xattr:5
)
known=" $(stress-ng --class 'filesystem?' 2>&1 | sed 's/^[^:]*: //') $(stress-ng --class 'io?' 2>&1 | sed 's/^[^:]*: //') $(stress-ng --class 'os?' 2>&1 | sed 's/^[^:]*: //') "

run() { # DIRECTORY STRESSOR:OPERATIONS
    local name=${2%:*} n=2
    # All instances of these work on one file. Of the first two a second one waits for the first
    # one, which may have ended; of chattr each puts back the flags it found, which may be the
    # immutable or append only that the other is just trying: such a file cannot be removed, on a
    # plain file system neither, and all say that they have passed.
    [[ $name != ch@(mod|own|attr) ]] || n=1
    timeout 300 stress-ng --timeout 30 --"$name" $n --"$name-ops" "${2#*:}" --temp-path "$1" --verify > "$SCRATCH/$name.log" 2>&1
}

mkdir plain
possible=()
for stressor in "${stressors[@]}"; do
    if [[ $known != *" ${stressor%:*} "* ]]; then
        echo "this stress-ng has no $stressor"
    elif run plain "$stressor"; then
        possible+=("$stressor")
    else
        echo "not asked of the mount, since it fails without: $stressor"
    fi
done
[[ ${#possible[@]} -ge 30 ]] || fail "most fail without the mount"

start
mkdir "$MNT/work"
for stressor in "${possible[@]}"; do
    run "$MNT/work" "$stressor" || fail "$stressor: $(cat "${stressor%:*}.log")"
done
expect_equal "left behind" "" "$(find "$SOURCE/work" -mindepth 1)"
stop
start -o nopassthrough
for stressor in "${possible[@]}"; do
    case ${stressor%:*} in
        aio | aiol | copy-file | fallocate | fiemap | hdd | msync | open | readahead | revio | seek | sendfile | splice | sync-file)
            run "$MNT/work" "$stressor" || fail "$stressor with nopassthrough: $(cat "${stressor%:*}.log")" ;;
    esac
done
expect_equal "left behind" "" "$(find "$SOURCE/work" -mindepth 1)"
stop
