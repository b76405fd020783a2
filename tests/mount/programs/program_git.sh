#!/usr/bin/env bash
# git clones, commits, packs and checks a repository on the mount, and comes to the same objects as
# on a plain directory.
. "${0%/mount/*}/lib/shell/mount.sh"
needs git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
export GIT_AUTHOR_DATE='1234567890 +0000' GIT_COMMITTER_DATE='1234567890 +0000'

git init -q origin
for i in $(seq 200); do
    mkdir -p "origin/d$((i % 7))"
    words "$i" 50 > "origin/d$((i % 7))/f$i"
done
ln -s d1/f1 origin/link
chmod +x origin/d1/f8
git -C origin add .
git -C origin commit -qm first

work() { # DIRECTORY, which holds clones at the end
    local clone=$1/clone local=$1/local
    git clone -q --no-local origin "$clone"
    expect_equal "status" "" "$(git -C "$clone" status --porcelain)"
    words 1000 100 > "$clone/d1/f1"
    git -C "$clone" mv d2 moved
    git -C "$clone" rm -q d3/f3
    expect_match "status" "R  d2/f2 -> moved/f2" "$(git -C "$clone" status --porcelain)"
    git -C "$clone" commit -qam second
    git -C "$clone" checkout -q HEAD~1
    git -C "$clone" checkout -q -
    words 2000 30 > "$clone/d4/new"
    git -C "$clone" add d4/new
    git -C "$clone" stash -q
    git -C "$clone" stash pop -q
    git -C "$clone" commit -qm third
    git -C "$clone" checkout -q -b side HEAD~1
    words 3000 30 > "$clone/d5/side"
    git -C "$clone" add .
    git -C "$clone" commit -qm side
    git -C "$clone" merge -q -m merged "@{-1}"
    git -C "$clone" worktree add -q "$1/tree" HEAD~1
    git -C "$clone" gc -q --prune=now
    git -C "$clone" fsck --strict
    expect_equal "status" "" "$(git -C "$clone" status --porcelain)"
    # Hard links to the objects of the other.
    git clone -q --local "$clone" "$local"
    git -C "$local" repack -qad
    git -C "$local" fsck --strict
    git -C "$local" reset -q --hard HEAD~1
    expect_equal "status of the tree" "" "$(git -C "$1/tree" status --porcelain)"
}

mkdir plain
work "$PWD/plain"
head=$(git -C plain/clone rev-parse HEAD)
for option in passthrough nopassthrough; do
    start -o "$option"
    mkdir "$MNT/$option"
    work "$MNT/$option"
    stop
    expect_equal "HEAD" "$head" "$(git -C "$SOURCE/$option/clone" rev-parse HEAD)"
    git -C "$SOURCE/$option/clone" fsck --strict
    expect_equal "status without the mount" "" "$(git -C "$SOURCE/$option/local" status --porcelain)"
done
