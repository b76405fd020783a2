#!/usr/bin/env bash
# rsync, tar and cp carry a tree in and out with all that belongs to it.
. "$(dirname "$0")/../lib/mount.sh"
needs rsync tar setfattr

mkdir -p original/sub/deep
for i in $(seq 300); do
    words "$i" 30 > "original/sub/f$i"
done
head -c 3000000 /dev/urandom > original/large
truncate -s 5M original/sparse
ln original/large original/sub/deep/hard
ln -s ../large original/sub/link
mkfifo original/fifo
touch -d @1234567890.123456789 original/sub/f1
chmod 4750 original/sub/f2
setfattr -n user.note -v "some text" original/sub/f3
setfattr -n user.note -v "a directory" original/sub
[[ $UID != 0 ]] || chown 54321:54322 original/sub/f4
mkdir original/$'odd \n name'

for option in passthrough nopassthrough; do
    start -o "$option"
    rsync -aHXS original/ "$MNT/rsync/"
    expect_equal "rsync finds nothing more to do" "" "$(rsync -aHX --checksum -i original/ "$MNT/rsync/")"
    rsync -aHX "$MNT/rsync/" "back-$option/"
    expect_equal "rsync of what came back" "" "$(rsync -aHX --checksum --delete -ni original/ "back-$option/")"

    tar --xattrs -C original -cf - . | (mkdir "$MNT/tar" && tar --xattrs -C "$MNT/tar" -xpf -)
    expect_equal "after tar in" "" "$(rsync -aHX --checksum --delete -ni original/ "$MNT/tar/")"
    mkdir "untar-$option"
    tar --xattrs -C "$MNT/tar" -cf - . | tar --xattrs -C "untar-$option" -xpf -
    expect_equal "after tar out" "" "$(rsync -aHX --checksum --delete -ni original/ "untar-$option/")"

    cp -a original "$MNT/cp"
    expect_equal "after cp" "" "$(rsync -aHX --checksum --delete -ni original/ "$MNT/cp/")"
    expect_equal "hard link" "2" "$(stat -c %h "$MNT/cp/large")"
    expect_equal "find" "$(cd original && find . | LC_ALL=C sort)" "$(cd "$MNT/cp" && find . | LC_ALL=C sort)"
    rm -r "${MNT:?}/cp" "$MNT/tar" "$MNT/rsync"
    expect_equal "all removed" "" "$(find "$SOURCE" -mindepth 1)"
    stop
done
