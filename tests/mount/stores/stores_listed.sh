#!/usr/bin/env bash
# kinfs stores says which stores there are, of which trees; kinfs forget removes one that nobody uses, and no document.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
export KINFS_STATE_DIR=$SCRATCH/state
expect_code 1 "$KINFS" stores
mkdir -p "$SOURCE" tree gone other
words 1 100 | tee "$SOURCE/a" tree/a > gone/a
odd=$'odd \t\nname'
mkdir "$odd"
for directory in tree gone "$odd"; do
    "$KINFS" scan "$directory" > /dev/null
done
store() { # DIRECTORY: the store of it
    "$KINFS" stores --json | python3 -c 'import json, sys
print(*[r["store"] for r in map(json.loads, sys.stdin) if r["source"] == sys.argv[1]])' "$SCRATCH/$1"
}
state() { # DIRECTORY
    "$KINFS" stores | grep -F $'\t'"$SCRATCH/$1"$'\t' | cut -f 2
}
expect_equal 'stores' 3 "$("$KINFS" stores | wc -l)"
expect_equal 'of a tree' unused "$(state tree)"
expect_match 'of an odd name' 'odd\\ \\t\\nname' "$("$KINFS" stores)"
expect_equal 'its size' "$(du -sB1 "$(store tree)" | cut -f 1)" "$("$KINFS" stores | grep -F $'\t'"$SCRATCH/tree"$'\t' | cut -f 1)"
gone=$(store gone)
mv gone elsewhere
expect_equal 'of what is not there' gone "$(state gone)"

# Without the file that says whose it is the store itself does.
rm "$(store tree)/holder"
expect_equal 'of a tree' unused "$(state tree)"

# What is no store is not shown, nor what others can change.
mkdir state/empty state/other
echo something > state/other/file
expect_equal 'stores' 3 "$("$KINFS" stores | wc -l)"
chmod 777 "$(store tree)"
expect_code 3 "$KINFS" stores
expect_match 'that others can change' 'is not opened' "$OUT"
chmod 700 state/*/

# -- forgetting --
expect_code 0 "$KINFS" forget "$gone"
expect_equal 'nothing is said' '' "$OUT"
[[ ! -e $gone ]] || fail 'the store is there still'
expect_equal 'stores' 2 "$("$KINFS" stores | wc -l)"
cmp elsewhere/a tree/a
expect_code 3 "$KINFS" forget "$gone"
expect_match 'one that is not there' 'no store' "$OUT"
for wrong in state/empty state/other tree "$SCRATCH"; do
    before=$(find "$wrong" | sort)
    expect_code 3 "$KINFS" forget "$wrong"
    expect_equal "$wrong, after $OUT" "$before" "$(find "$wrong" | sort)"
done
# Whoever names what is in a tree is told which store that is; of what is none and in no tree, where stores are said.
mkdir -p tree/sub
for wrong in tree tree/sub; do
    expect_code 3 "$KINFS" forget "$wrong"
    expect_equal 'a tree' "kinfs: $wrong is no store; that of the tree $SCRATCH/tree is $(store tree)" "$OUT"
done
for wrong in state/empty state/other tree/a nothing; do
    expect_code 3 "$KINFS" forget "$wrong"
    [[ $wrong == tree/a ]] || expect_equal 'no tree' "kinfs: $wrong is no store; kinfs stores prints which there are" "$OUT"
    [[ ! $OUT =~ --store ]] || fail "an option that there is not: $OUT"
done
rmdir tree/sub
tree=$(store tree)
echo mine > "$tree/notes"
mkdir "$tree/db/mine"
expect_code 3 "$KINFS" forget "$tree"
expect_match 'with a directory of somebody in it' 'not all of the store can be removed' "$OUT"
rmdir "$tree/db/mine"
expect_code 3 "$KINFS" forget "$tree"
expect_match 'with other files in it' 'there are other files' "$OUT"
expect_equal 'what is left' notes "$(ls -A "$tree")"
rm -r "$tree"
expect_code 2 "$KINFS" forget
expect_code 0 "$KINFS" scan tree

# What is in use stays, and what a killed daemon left goes.
start
store=$(store source)
expect_match 'mounted' "^mounted on $MNT \(process [0-9]+\)$" "$(state source)"
expect_code 3 "$KINFS" forget "$store"
expect_match 'in use' "mounted on $MNT .*; unmount it first" "$OUT"
kill -9 "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$store/holder")"
"$KINFS" umount "$MNT" > /dev/null 2>&1 || true
expect_code 0 "$KINFS" forget "$store"
[[ ! -e $store ]] || fail "there are still: $(ls -A "$store")"

# What a Debian package says of stores and mounts has their names as they were told: escaped, which an echo of the shell would undo.
mkdir stubs
cat > stubs/kinfs << 'END'
#!/bin/sh
printf '1\t-\t%s\t%s\n' '/srv/odd\033[31m' '/var/lib/kinfs/odd\033[31m'
END
cat > stubs/findmnt << 'END'
#!/bin/sh
printf '%s\n' '/mnt/odd\033[31m'
END
printf '#!/bin/sh\n' > stubs/systemctl
chmod +x stubs/*
for script in 'prerm remove' 'postinst configure 0.1'; do
    # shellcheck disable=SC2086 # a script and its arguments
    PATH=$PWD/stubs:$PATH sh "$LIB/../../tools/packaging/debian/"$script > said
    expect_match "what $script says" '/mnt/odd\\033\[31m' "$(cat said)"
    ! grep -q $'\033' said || fail "$script: a name reaches the terminal"
done
expect_match 'stores' $'\n  /var/lib/kinfs/odd\\\\033\[31m  of /srv/odd\\\\033\[31m, 1 bytes' "$(PATH=$PWD/stubs:$PATH sh "$LIB/../../tools/packaging/debian/prerm" remove)"

# A tree whose way somebody keeps locked keeps no other from being told of.
[[ $EUID = 0 && -w /proc/sys/vm/drop_caches ]] || exit 0
chmod 755 "$SCRATCH"
mkdir -p home/his/tree hanging
chown -R 54321 home/his
expect_code 0 "$KINFS" scan home/his/tree
"$LIB/file_systems/hanging_fs.py" hanging 54321 > said &
server=$!
trap 'kill -9 $server 2> /dev/null; umount -l "$SCRATCH/hanging" 2> /dev/null || true' EXIT
soon 'a file system that does not answer' grep -q ready said
python3 "$LIB/greed/keep_locked.py" 54321 hanging/f home/his > locked &
soon 'the directory is locked' grep -q locked locked
echo 2 > /proc/sys/vm/drop_caches
"$KINFS" stores > out &
asking=$!
await_end $asking || fail 'kinfs stores hangs'
expect_equal 'of the locked one' 'does not answer' "$(grep -F his/tree out | cut -f 2)"
expect_equal 'of another one' unused "$(grep -F "$SCRATCH/tree" out | cut -f 2)"
