#!/usr/bin/env bash
# What meson installs, and that mount(8), umount(8) and /etc/fstab find it: with the files in the places
# where mount(8) looks, in a mount namespace of its own.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip "mounting needs root"
needs_fuse
needs meson unshare mount
build=$(cd "$(dirname "$KINFS")/.." && pwd)
[[ -e $build/build.ninja ]] || skip "not a build directory: $build"

if [[ ${1-} != inside ]]; then
    meson install -C "$build" --no-rebuild --destdir "$SCRATCH/root" > install.log 2>&1 || fail "$(cat install.log)"
    exec unshare --mount --propagation private "$0" inside
fi

# What others have mounted must not stay mounted because of the copies here.
{ findmnt -rno TARGET -t fuse.kinfs || true; } | while IFS= read -r target; do
    umount -l "$(printf %b "$target")"
done

# -- what is there --

find_one() { find root -path "*/$1" | grep . || fail "not installed: $1" 1; }
bin=$(find_one bin/kinfs)
prefix=$(dirname "$(dirname "${bin#root}")")
for file in share/man/man1/kinfs.1 share/man/man5/kinfs.conf.5 share/man/man5/kinfs-json.5 doc/kinfs/examples/kinfs.conf doc/kinfs/examples/notes.conf \
    bash-completion/completions/kinfs site-functions/_kinfs vendor_completions.d/kinfs.fish systemd/system/kinfs@.service; do
    find_one "$file" > /dev/null
done
expect_equal 'a page a command' "$("$KINFS" --help | sed -nE 's/^  ([^ ]+) .*/kinfs-\1.1/p' | sort)" \
    "$(find root -path '*/share/man/man1/kinfs-*' -printf '%f\n' | sort)"
for name in mount.kinfs mount.fuse.kinfs umount.kinfs umount.fuse.kinfs; do
    helper=$(find_one "$name")
    expect_equal "$name" "$prefix/bin/kinfs" "$(readlink "$helper")"
    [[ -e $(find_one "share/man/man8/$name.8") ]] || fail "the page of $name is none"
done
unit=$(find_one systemd/system/kinfs@.service)
grep -q "^ExecStart=$prefix/bin/kinfs mount -f " "$unit" || fail "the unit does not start $prefix/bin/kinfs"

# Whoever reads the README there goes on by its links, to the tour and to each recipe.
doc=$(dirname "$(find_one share/doc/kinfs/README.md)")
expect_equal 'recipes' "$(cd "$LIB/../../docs/recipes" && echo ./*.md)" "$(cd "$doc/docs/recipes" && echo ./*)"
n=0
while IFS= read -r page; do
    while IFS= read -r link; do
        [[ -e $(dirname "$page")/$link ]] || fail "$page: a link to $link, which is not there"
        n=$((n + 1))
    done < <(tr '\n' ' ' < "$page" | grep -oE '\]\([^)]*\)' | sed -E 's/^..//; s/[#)].*//' | grep -v '^http')
done < <(find "$doc" -name '*.md')
[[ $n -ge 15 ]] || fail "$n links in what is to be read"
"$doc/docs/examples/contract/versions" versions
expect_equal 'the example' 5 "$(ls versions | wc -l)"

# -- in the places where mount(8) looks --

[[ -d $prefix/bin ]] || skip "no directory $prefix/bin to put the program into"
mkdir old-sbin sbin
mount --bind /usr/sbin old-sbin
cp -as "$SCRATCH/old-sbin/." sbin/
rm -f sbin/*mount*.kinfs
cp -a "$(dirname "$helper")"/*mount*.kinfs sbin/
mount --bind sbin /usr/sbin
[[ /sbin -ef /usr/sbin ]] || mount --bind sbin /sbin
mount --bind "root$prefix/bin" "$prefix/bin"

mkdir -p "$SOURCE" "$MNT" other
words 1 100 > "$SOURCE/a"
words 11 100 > "$SOURCE/b"
served() { # WHAT POINT
    expect_equal "$1" "$SOURCE fuse.kinfs" "$(awk -v point="$2" '$5 == point { print $(NF - 1), $(NF - 2) }' /proc/self/mountinfo)" 1
    "$KINFS" settle "$2" > /dev/null
    expect_equal "$1" 081-b "$(ls "$2/similar/a")"
}
options_of() { awk -v point="$1" '$5 == point { print $6 }' /proc/self/mountinfo; }

mount -t fuse.kinfs "$SOURCE" "$MNT" -o threshold=0.2,nofail,_netdev,x-systemd.automount,noexec
served 'mount -t fuse.kinfs' "$MNT"
expect_equal "noexec, and mount(8)'s defaults" rw,noexec,relatime "$(options_of "$MNT")"
mount -o remount,ro "$MNT"
expect_match 'remounted' '^ro,' "$(options_of "$MNT")"
! : 2> /dev/null > "$MNT/new" || fail 'written to what was mounted ro'

# With -c, as systemd runs it, umount(8) looks for a helper of this type, which waits for the daemon, so
# that nothing is under way when the file system of its store goes.
umount -c "$MNT"
(flock -n 9 || fail 'the store is still in use') 9< "$(echo "$KINFS_STATE_DIR"/*/lock)"

mount -t kinfs -s -n -v "$SOURCE" "$MNT" -o rw,dev,suid,nonsense=1,nonsense
served 'mount -t kinfs, sloppy' "$MNT"
expect_equal 'dev,suid' rw,relatime "$(options_of "$MNT")"
exec 5< "$MNT/a"
expect_code 32 umount "$MNT"
expect_code 32 umount -c "$MNT"
expect_match 'busy' 'in use by' "$OUT"
exec 5<&-
umount "$MNT"
expect_code 32 mount -t kinfs "$SOURCE/none" "$MNT"
expect_match 'refused' "^kinfs: $SOURCE/none: no such source" "$OUT"
expect_code 1 mount -t kinfs "$SOURCE" "$MNT" -o nonsense
expect_match 'refused' '-o nonsense: no such option' "$OUT"
mount -f -t kinfs "$SOURCE" "$MNT"
expect_equal 'fake' '' "$(ls "$MNT")"

cat > fstab << END
$SOURCE $MNT  fuse.kinfs defaults,noauto,user,nofail,x-systemd.requires-mounts-for=/var,settle_ms=3000 0 0
$SOURCE $SCRATCH/other kinfs _netdev,ro,store=$SCRATCH/store 0 0
END
export LIBMOUNT_FSTAB=$SCRATCH/fstab
mount "$MNT"
served 'mount MOUNTPOINT' "$MNT"
expect_match 'user' 'nosuid,nodev,noexec' "$(options_of "$MNT")"
mount -a
served 'mount -a' "$SCRATCH/other"
expect_match 'ro' '^ro,' "$(options_of "$SCRATCH/other")"
mount -a
expect_equal 'mount -a again' 1 "$(awk -v point="$SCRATCH/other" '$5 == point { n++ } END { print n }' /proc/self/mountinfo)"
umount "$MNT"
umount -l "$SCRATCH/other"

# A daemon that does not answer: umount -f does not ask it, and who waits for it is let go.
mount -t kinfs "$SOURCE" "$MNT"
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*source/holder)
kill -STOP "$pid"
# Each thread stops by itself, and one that has not yet still answers.
all_stopped() { ! grep -h '^State:' "/proc/$pid"/task/*/status | grep -qv 'T (stopped)'; }
soon 'the daemon has stopped' all_stopped
waiting=()
for i in $(seq 20); do
    stat "$MNT/not-known-$i" > /dev/null 2>&1 &
    waiting+=($!)
done
for i in "${waiting[@]}"; do
    soon 'somebody waits' awk '$2 == "(stat)" && $3 ~ /[SD]/ { n++ } END { exit !n }' "/proc/$i/stat"
done
timeout 100 "$KINFS" umount --force "$MNT" || fail 'hangs with its daemon, or with who waits for it'
for i in "${waiting[@]}"; do
    ! wait "$i" || fail 'found in a mount that does not answer'
done
kill -CONT "$pid"
await_end "$pid"

# Without helpers of its own, that of libfuse runs `kinfs SOURCE MOUNTPOINT -o OPTIONS`.
if [[ -x /usr/sbin/mount.fuse3 ]]; then
    rm sbin/*mount*.kinfs
    PATH=$prefix/bin:$PATH mount -t fuse.kinfs "$SOURCE" "$MNT" -o noexec
    served 'mount.fuse3' "$MNT"
    umount "$MNT"
    "$KINFS" mount "$SOURCE" "$MNT" # waits for the daemon
    "$KINFS" umount "$MNT"
fi

# -- the service --

# It is told when the mount serves, and when it ends.
"$(command -v python3)" - "$KINFS" "$SOURCE" "$MNT" << 'END' || fail 'the service manager is not told'
import os, signal, socket, subprocess, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind("notify")
heard.settimeout(60)
daemon = subprocess.Popen([sys.argv[1], "mount", "-f", "-o", "", *sys.argv[2:]],
                          env=dict(os.environ, NOTIFY_SOCKET=os.path.abspath("notify")), stderr=subprocess.DEVNULL)
assert heard.recv(99) == b"READY=1"
assert os.path.ismount(sys.argv[3])
daemon.send_signal(signal.SIGTERM)
assert heard.recv(99) == b"STOPPING=1"
assert daemon.wait() == 0
END
