#!/usr/bin/env bash
# rsync, tar, cp, unzip and dpkg-deb carry a tree in and out with all that belongs to it.
. "${0%/mount/*}/lib/shell/mount.sh"
needs rsync tar setfattr setfacl getfacl unzip python3 dpkg-deb

mkdir -p original/sub/deep
for i in $(seq 150); do
    words "$i" 30 > "original/sub/f$i"
done
head -c 3000000 /dev/urandom > original/large
truncate -s 5M original/sparse
printf 'an island' | dd of=original/sparse bs=1 seek=3000000 conv=notrunc status=none
ln original/large original/sub/deep/hard
ln -s ../large original/sub/link
ln -s nowhere original/sub/dangling
mkfifo original/fifo
touch -d @1234567890.123456789 original/sub/f1
touch -hd @1234567890.5 original/sub/link
chmod 4750 original/sub/f2
setfattr -n user.note -v "some text" original/sub/f3
setfattr -n user.note -v "a directory" original/sub
setfattr -n user.bytes -v 0x00ff0a original/sub/f3
[[ $UID != 0 ]] || chown 54321:54322 original/sub/f4
mkdir original/$'odd \n name'
# Not every file system has them.
acls=
if setfacl -m u:54321:r,g:54322:rw original/sub/f5 2> /dev/null; then
    setfacl -m d:u:54321:rwx original/sub/deep
    acls=yes
fi

preserve=(-aHX ${acls:+-A})
tar=(tar --xattrs --xattrs-include='*' ${acls:+--acls} --sparse --numeric-owner)

difference() { # DIRECTORY: what rsync would do to make it the original
    rsync "${preserve[@]}" --checksum --delete -ni --numeric-ids original/ "$1/"
}
acl_of() { (cd "$1" && getfacl -Rnp . 2> /dev/null); }

# The archives, made without the mount.
mkdir -p package/DEBIAN package/usr/share/kept
cp -a original/sub package/usr/share/kept/
printf 'Package: kept\nVersion: 1\nArchitecture: all\nMaintainer: a <a@localhost>\nDescription: a tree\n' \
    > package/DEBIAN/control
chmod -R u+rwX,go+rX package && chmod 755 package/DEBIAN
dpkg-deb --root-owner-group -Znone -b package kept.deb > /dev/null
(cd original && python3 -m zipfile -c ../kept.zip sub large)
mkdir plain-deb plain-zip
dpkg-deb -x kept.deb plain-deb
unzip -q kept.zip -d plain-zip

for option in passthrough nopassthrough; do
    start -o "$option"
    rsync "${preserve[@]}" -S --numeric-ids original/ "$MNT/rsync/"
    expect_equal "rsync finds nothing more to do" "" \
        "$(rsync "${preserve[@]}" --checksum --numeric-ids -i original/ "$MNT/rsync/")"
    rsync "${preserve[@]}" --numeric-ids --checksum "$MNT/rsync/" "back-$option/"
    expect_equal "rsync of what came back" "" "$(difference "back-$option")"
    expect_equal "nothing more to take out" "" \
        "$(rsync "${preserve[@]}" --numeric-ids --checksum --delete -i "$MNT/rsync/" "back-$option/")"
    expect_equal "acls" "$(acl_of original)" "$(acl_of "$MNT/rsync")"
    # An update in place, and one by delta.
    words 5000 40 > "back-$option/sub/f9"
    printf 'changed' | dd of="back-$option/large" bs=1 seek=100000 conv=notrunc status=none
    rsync "${preserve[@]}" --numeric-ids --no-whole-file --inplace "back-$option/" "$MNT/rsync/"
    diff -r --no-dereference "back-$option/sub" "$MNT/rsync/sub"
    cmp "back-$option/large" "$MNT/rsync/large"

    mkdir "$MNT/tar" "untar-$option"
    "${tar[@]}" -C original -cf - . | "${tar[@]}" -C "$MNT/tar" -xpf -
    expect_equal "after tar in" "" "$(difference "$MNT/tar")"
    expect_equal "holes" "$(stat -c %b original/sparse)" "$(stat -c %b "$MNT/tar/sparse")"
    "${tar[@]}" -C "$MNT/tar" -cf - . | "${tar[@]}" -C "untar-$option" -xpf -
    expect_equal "after tar out" "" "$(difference "untar-$option")"
    "${tar[@]}" -C "$MNT/tar" -cf on-the-mount.tar .
    "${tar[@]}" -C original -df on-the-mount.tar

    cp -a original "$MNT/cp"
    expect_equal "after cp" "" "$(difference "$MNT/cp")"
    expect_equal "hard link" "2" "$(stat -c %h "$MNT/cp/large")"
    expect_equal "find" "$(cd original && find . | LC_ALL=C sort)" "$(cd "$MNT/cp" && find . | LC_ALL=C sort)"
    cp -a "$MNT/cp" "cp-$option"
    expect_equal "after cp out" "" "$(difference "cp-$option")"
    cp -a --reflink=auto "$MNT/cp/sub" "$MNT/cp/again"
    diff -r --no-dereference original/sub "$MNT/cp/again"

    mkdir "$MNT/deb" "$MNT/zip"
    dpkg-deb -x kept.deb "$MNT/deb"
    expect_equal "dpkg-deb" "" "$(rsync -aHX --checksum --delete -ni plain-deb/ "$MNT/deb/")"
    unzip -q kept.zip -d "$MNT/zip"
    expect_equal "unzip" "" "$(rsync -aHXO --checksum --delete -ni plain-zip/ "$MNT/zip/")"

    rm -r "${MNT:?}/cp" "$MNT/tar" "$MNT/rsync" "$MNT/deb" "$MNT/zip"
    expect_equal "all removed" "" "$(find "$SOURCE" -mindepth 1)"
    stop
done
