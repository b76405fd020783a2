#!/usr/bin/env bash
# git clones, commits, packs and checks a repository on the mount.
. "$(dirname "$0")/../lib/mount.sh"
needs git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost

git init -q origin
for i in $(seq 200); do
    mkdir -p "origin/d$((i % 7))"
    words "$i" 50 > "origin/d$((i % 7))/f$i"
done
git -C origin add .
git -C origin commit -qm first

for option in passthrough nopassthrough; do
    start -o "$option"
    clone=$MNT/$option
    git clone -q --no-local origin "$clone"
    expect_equal "status" "" "$(git -C "$clone" status --porcelain)"
    words 1000 100 > "$clone/d1/f1"
    git -C "$clone" mv d2 moved
    git -C "$clone" rm -q d3/f3
    expect_match "status" "R  d2/f2 -> moved/f2" "$(git -C "$clone" status --porcelain)"
    git -C "$clone" commit -qam second
    git -C "$clone" checkout -q HEAD~1
    git -C "$clone" checkout -q -
    git -C "$clone" gc -q
    git -C "$clone" fsck --strict
    expect_equal "status" "" "$(git -C "$clone" status --porcelain)"
    stop
    git -C "$SOURCE/$option" fsck --strict
    expect_equal "status without the mount" "" "$(git -C "$SOURCE/$option" status --porcelain)"
done
