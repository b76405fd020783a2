#!/usr/bin/env bash
# A backup without near-duplicates by restic, borg, rsync and tar: one of each version, and after it all that was equal again.
. "${0%/mount/*}/lib/shell/recipe.sh"
needs restic borg rsync
export BORG_BASE_DIR=$SCRATCH/borg_keeps

mkdir -p srv/docs/copies
for i in {1..9}; do
    { words 1 1000; words $((i * 100 + 5000)) 5; } > "srv/docs/version$i.txt"
done
words 20000 300 > srv/docs/contract.txt
{ words 20000 300; echo signed; } > srv/docs/contract-signed.txt
words 30000 300 > srv/docs/alone.txt
cp srv/docs/alone.txt 'srv/docs/copies/copy of alone.txt'
touch -d @1000000000 srv/docs/alone.txt
touch -d @1000000001.5 'srv/docs/copies/copy of alone.txt'
follow backup.md

tar -tf backup/docs.tar > in_tar
expect_equal 'what is in the archive' 4 "$(grep -c '\.txt$' in_tar)"
expect_equal 'what is in the backup' 4 "$(find backup/docs -name '*.txt' | wc -l)"
for tool in restic borg rsync; do
    expect_equal "what comes back of $tool: one more" 5 "$(find restored/$tool -name '*.txt' | wc -l)"
    for name in alone.txt contract.txt contract-signed.txt 'copies/copy of alone.txt'; do
        cmp "srv/docs/$name" "restored/$tool/$name"
    done
    expect_equal "of nine versions, by $tool" 1 "$(find restored/$tool -name 'version*' | wc -l)"
    expect_equal "the time of what was made again, by $tool" 1000000001.5 "$(stat -c %.1Y "restored/$tool/copies/copy of alone.txt")"
done
expect_equal 'each of the three restorations names eight versions' 24 "$(grep -c $'^similar\tversion' backup.md.out)"
restic -q -r backup/restic --password-file backup/password restore latest --target whole
expect_equal 'what is in a backup of the tree itself' 4 "$(find whole -name '*.txt' | wc -l)"
! mountpoint -q mnt/docs || fail 'it is still mounted'
