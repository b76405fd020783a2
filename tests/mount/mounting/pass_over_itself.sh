#!/usr/bin/env bash
# A tree mounted over itself; what the mount did is there when it is gone.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
mkdir -p "$SOURCE/sub"
echo before > "$SOURCE/sub/file"
"$KINFS" mount "$SOURCE"
expect_equal "mounted" "1" "$(grep -c " $SOURCE fuse.kinfs " /proc/self/mounts)"
expect_equal "content" "before" "$(cat "$SOURCE/sub/file")"
echo during > "$SOURCE/sub/file"
mkdir "$SOURCE/new"
mv "$SOURCE/sub/file" "$SOURCE/new/"
expect_equal "content" "during" "$(cat "$SOURCE/new/file")"
"$KINFS" umount "$SOURCE"
expect_equal "mounted" "0" "$(grep -c " $SOURCE fuse.kinfs " /proc/self/mounts || true)"
expect_equal "content" "during" "$(cat "$SOURCE/new/file")"
expect_equal "nothing is left at the old name" "" "$(ls "$SOURCE/sub")"
