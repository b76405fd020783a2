#!/usr/bin/env bash
# Mounted over the tree itself, the views are found by name and not listed: who copies the tree, searches it or keeps it
# in step with another sees what is in it, and nothing else.
. "${0%/mount/*}/lib/shell/mount.sh"
needs git rsync tar
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
MNT=$SOURCE

over_itself() { # [-o OPTIONS]
    needs_fuse
    "$KINFS" mount "$@" "$SOURCE"
    "$KINFS" settle "$SOURCE" > settled
}
listing() { # DIRECTORY
    (cd "$1" && find . -printf '%p %y %n %s %l\n' | sort)
}
same() { # WHAT DIRECTORY
    expect_equal "$1" "$TREE" "$(listing "$2")"
}
names() { # DIRECTORY
    ls -A "$1" | xargs
}

mkdir -p "$SOURCE/a/b" "$SOURCE/c"
words 1 100 > "$SOURCE/report"
words 1 100 > "$SOURCE/a/b/copy"
words 1 110 > "$SOURCE/c/draft"
ln -s ../report "$SOURCE/c/link"
TREE=$(listing "$SOURCE")
NAMES=$(names "$SOURCE")
FOUND=$(cd "$SOURCE" && grep -rl word50 . | sort)

over_itself
same 'find' "$SOURCE"
expect_equal 'ls' "$NAMES" "$(names "$SOURCE")"
expect_equal 'a pattern of the shell' "$NAMES" "$(cd "$SOURCE" && echo *)"
expect_equal 'grep -r' "$FOUND" "$(cd "$SOURCE" && grep -rl word50 . | sort)"
expect_equal 'grep -R, which follows links' "$(echo "$FOUND" ./c/link | xargs -n 1 | sort)" \
    "$(cd "$SOURCE" && grep -Rl word50 . | sort)"
cp -a "$SOURCE" "$SCRATCH/cp"
same 'cp -a' "$SCRATCH/cp"
rsync -a "$SOURCE/" "$SCRATCH/rsync"
same 'rsync' "$SCRATCH/rsync"
expect_equal 'nothing is left to do' '' "$(rsync -a -n -i --delete "$SOURCE/" "$SCRATCH/rsync/")"
expect_equal 'nor the other way' '' "$(rsync -a -n -i --delete "$SCRATCH/rsync/" "$SOURCE/")"
mkdir "$SCRATCH/tar"
tar -C "$SOURCE" -cf - . | tar -C "$SCRATCH/tar" -xf -
same 'tar' "$SCRATCH/tar"
if command -v restic > /dev/null; then
    export RESTIC_REPOSITORY=$SCRATCH/restic RESTIC_PASSWORD=secret RESTIC_CACHE_DIR=$SCRATCH/restic-cache
    restic -q init
    restic -q backup "$SOURCE"
    restic -q restore latest --target "$SCRATCH/restored"
    same 'restic' "$SCRATCH/restored$SOURCE"
fi
git init -q "$SOURCE"
git -C "$SOURCE" add -A
expect_equal 'git add -A' 'a/b/copy c/draft c/link report' "$(git -C "$SOURCE" ls-files | xargs)"
rm -r "$SOURCE/.git"

# By name they are all there.
expect_equal 'similar' '100-copy 090-draft' "$(ls -r "$SOURCE/similar/report" | xargs)"
expect_equal 'clusters' 'copy draft report' "$(ls "$SOURCE/clusters"/[1-9]* | cut -c 5- | sort | xargs)"
expect_equal '.kinfs' 'clusters contains lost metrics query similar unique within' "$(names "$SOURCE/.kinfs")"
stop

for option in hidden similar:hidden; do
    MNT=$SCRATCH/mnt
    start -o "views=$option"
    expect_equal "elsewhere, $option" "$NAMES" "$(names "$MNT")"
    [[ -d $MNT/similar/report ]] || fail "elsewhere, $option: not found by name"
    stop
done
for option in listed similar:clusters; do
    start -o "views=$option"
    expect_equal "elsewhere, $option" "$(echo "$NAMES" clusters similar | xargs -n 1 | sort | xargs)" "$(names "$MNT")"
    stop
done
MNT=$SOURCE
over_itself -o views=similar:listed
expect_equal 'over itself, listed' "$NAMES similar" "$(names "$SOURCE")"
stop
same 'what is left' "$SOURCE"
