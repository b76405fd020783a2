#!/usr/bin/env bash
# kinfs restore-list, run by root in a copy of a tree that a user writes, too: a file is made as the list has it and as it was,
# or not at all, and nothing the user does keeps those of others from being made.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3 setpriv sha256sum
HIS=54321
as_user() { setpriv --reuid=$HIS --regid=$HIS --clear-groups "$@"; }
as_is() { stat -c '%u %g %a %y' "$1"; } # FILE: all that is to be as it was
restores() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" restore-list "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "restore-list $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
chmod 755 "$SCRATCH"

# -- whose a file is, and what is in it --

# What the user has is older, and stands in where who mounts trusts everybody.
mkdir -p "$SOURCE"/{bin,his}
for name in script secret given tool alone; do
    words "$((n = ${n-0} + 1))00001" 600 > "$SOURCE/bin/$name"
    cp "$SOURCE/bin/$name" "$SOURCE/his/$name"
    touch -d @100000000$n "$SOURCE/his/$name"
    touch -d @120000000$n.123456789 "$SOURCE/bin/$name"
done
touch -d @-77.5 "$SOURCE/his/alone"
touch -d @-5.25 "$SOURCE/bin/alone"
chown $HIS:$HIS "$SOURCE"/his{,/*}
chmod 644 "$SOURCE"/his/*
chmod 755 "$SOURCE/bin/script"
chmod 600 "$SOURCE/bin/secret"
chown 54322:54323 "$SOURCE/bin/given" "$SOURCE/bin/tool"
chmod 640 "$SOURCE/bin/given"
chmod 6755 "$SOURCE/bin/tool"
start -o stand_in=anyone
"$KINFS" settle "$MNT" > /dev/null
cat "$MNT/unique/.kinfs-skipped.tsv" > list
while IFS=$'\t' read -r name other _ size what mode uid gid mtime digest inode; do
    expect_equal "$name" "$(stat -c '%i %s %04a %u %g' "$SOURCE/$name") $(sha256sum < "$SOURCE/$name")" "$inode $size $mode $uid $gid $digest  -"
    expect_equal "$name" "equal his/${name#bin/}" "$what $other"
    python3 -c 'import os, sys; s, ns = map(int, sys.argv[2].split(".")); assert os.stat(sys.argv[1]).st_mtime_ns == s * 10**9 + ns' \
        "$SOURCE/$name" "$mtime" || fail "$name: the time is $mtime"
done < list
expect_equal 'what is left out' 'bin/alone bin/given bin/script bin/secret bin/tool' "$(cut -f 1 list | LC_ALL=C sort | xargs)"
cp -a "$MNT/unique" copy
cp -a copy changed
restores 0 --apply list copy
for name in script secret given alone; do
    expect_equal "$name" "$(as_is "$SOURCE/bin/$name")" "$(as_is "copy/bin/$name")"
    cmp "$SOURCE/bin/$name" "copy/bin/$name"
done
expect_equal 'what was set-id' "54322 54323 755" "$(stat -c '%u %g %a' copy/bin/tool)"

# The user changes the copy, or the tree when the list has been made, to something of the same length.
printf W | as_user dd of="$MNT/his/script" conv=notrunc status=none
as_user touch -d @1000000001 "$MNT/his/script"
cp -a "$MNT/unique" later
cmp -s later/his/script copy/his/script && fail 'it is not changed'
printf W | as_user dd of=changed/his/script conv=notrunc status=none
for tree in later changed; do
    rm -f $tree/bin/script # which may be shown by now
    restores 1 list $tree
    expect_match "$tree: what can be made" $'lost\tbin/script\this/script' "$OUT"
    restores 1 --apply list $tree
    expect_match "$tree: what is made" $'lost\tbin/script\this/script' "$OUT"
    expect_match "$tree: why not" 'bin/script: his/script, which stands in for it, is another file by now' "$(cat said)"
    [[ ! -e $tree/bin/script && -e $tree/bin/secret ]] || fail "$tree: $(ls $tree/bin)"
done
stop

# Nobody gets a right by what the directory says of files that are made in it.
if command -v setfacl > /dev/null && setfacl -d -m u:$HIS:rwx copy/bin 2> /dev/null; then
    rm copy/bin/given
    restores 0 --apply list copy
    expect_equal 'with a default list' "$(as_is "$SOURCE/bin/given")" "$(as_is copy/bin/given)"
    ! as_user cat copy/bin/given 2> /dev/null || fail 'a default list gives a right'
fi

# An ordinary user's are that user's, and no group may do more than others where it is not the file's own.
rm -r copy/bin
mkdir copy/bin
chown -R $HIS:$HIS copy
install -m 600 -o $HIS -g $HIS list his_list
OUT=$(as_user "$KINFS" restore-list --apply his_list copy) || fail "an ordinary user: $OUT"
expect_equal 'an ordinary user' "$HIS $HIS 600 $HIS $HIS 600 $HIS $HIS 755" \
    "$(stat -c '%u %g %a' copy/bin/secret copy/bin/given copy/bin/tool | xargs)"
cmp copy/bin/given "$SOURCE/bin/given"

# -- whose a list is --

refused() { # REGEX ARGUMENT...
    local said=$1
    shift
    rm -rf copy/bin/*
    restores 3 --apply "$@"
    expect_match "restore-list $*" "$said" "$(cat said)"
    [[ ! $(ls copy/bin) ]] || fail "restore-list $*: something is made"
}
refused 'his_list belongs to user 54321, .*name a copy' his_list copy
refused 'his_list belongs to user 54321, .*name a copy' /dev/stdin copy < his_list
chmod 660 list
refused 'others can write .*list; name a copy' list copy
chmod 644 list
mkdir -m 777 planted
ln -s ../list planted/list
ln -s ../copy planted/copy
chown -h $HIS:$HIS planted/list planted/copy
refused 'planted/list belongs to user 54321' planted/list copy
refused 'planted/copy belongs to user 54321' list planted/copy
for fields in 1-5 1-10; do
    cut -f "$fields" list > old
    refused '^kinfs: old:1: .*older kinfs.*make a new list$' old copy
done
refused 'no regular file' <(cat list) copy
restores 0 --apply /dev/stdin copy < list

# -- names of one file --

# They are of one file again: as many of it would take room that nobody had paid for.
mkdir "$SOURCE/links" linked
words 700001 600 > "$SOURCE/links/first"
cp "$SOURCE/links/first" "$SOURCE/links/a"
cp -p "$SOURCE/links/a" "$SOURCE/links/z"
touch -d @1000000 "$SOURCE/links/first"
for name in b c d; do ln "$SOURCE/links/a" "$SOURCE/links/$name"; done
start
"$KINFS" settle "$MNT" > /dev/null
grep '^links/' "$MNT/unique/.kinfs-skipped.tsv" > list_of_links
cp -a "$MNT/unique/links" linked/
stop
expect_equal 'names that are left out' 'a b c d z' "$(cut -f 1 list_of_links | LC_ALL=C sort | sed s,links/,, | xargs)"
restores 0 list_of_links linked
expect_equal 'what can be made' 'equal equal equal equal equal' "$(cut -f 1 <<< "$OUT" | xargs)"
restores 0 --apply list_of_links linked
expect_equal 'names of one file' "4 1" "$(stat -c %h linked/links/a linked/links/z | xargs)"
for name in a b c d; do
    [[ linked/links/$name -ef linked/links/a ]] || fail "$name is a file of its own"
    expect_equal "$name" "$(as_is "$SOURCE/links/$name")" "$(as_is "linked/links/$name")"
    cmp "$SOURCE/links/$name" "linked/links/$name"
done
# One that is there stays, and the others are of one file still; of a stand-in that has changed none is made.
rm linked/links/[bcd]
restores 0 --apply list_of_links linked
expect_equal 'what is there' 'there' "$(grep -P '\tlinks/a\t' <<< "$OUT" | cut -f 1)"
[[ linked/links/b -ef linked/links/d ]] || fail 'b and d are two files'
rm linked/links/[abcd]
printf W | dd of=linked/links/first conv=notrunc status=none
restores 1 --apply list_of_links linked
expect_equal 'of another stand-in' 'lost lost lost lost there' "$(cut -f 1 <<< "$OUT" | LC_ALL=C sort | xargs)"

# -- in whose directory --

# What is made in another user's, which may be in the place of one that let nobody in, is for its owner alone.
mkdir -p copy/shared copy/own
chmod 777 copy/shared
as_user mkdir copy/shared/private
for where in shared/private own; do sed -n "s,^bin/script\t,$where/script\t,p" list; done > where
restores 0 --apply where copy
expect_equal 'in whose directory' '700 755' "$(stat -c %a copy/shared/private/script copy/own/script | xargs)"
rm -r copy/shared copy/own

# -- one name does not keep others from being made --

rm -r copy/bin
ln -s his copy/loop
echo > copy/file
mkdir copy/over
mount -t tmpfs none copy/over
line() { sed -n "s,^bin/$1\t[^\t]*,$2\t$3,p" list; } # NAME PATH STAND_IN
{
    line script loop/script his/script # a link on the way, or no directory
    line alone file/alone his/alone
    line given given loop/given
    line tool "$(printf '%0300d' 0)" his/tool # too long for the file system
    line secret made his/secret
    line given over/given his/given # in a mount
    line secret 'made\\ too' his/secret
} > many
restores 1 --apply many copy
umount copy/over
expect_equal 'what became of them' 'failed failed failed failed equal failed equal' "$(cut -f 1 <<< "$OUT" | xargs)"
expect_equal 'reasons' 5 "$(grep -c '^kinfs: ' said)"
expect_match 'a reason' 'loop/script: Too many levels' "$(cat said)"
cmp copy/made "$SOURCE/bin/secret"
cmp 'copy/made too' "$SOURCE/bin/secret"
"$KINFS" restore-list --json many copy > said || true
expect_match 'JSON' '"what": ?"failed"' "$(cat said)"

# A lease is not waited for.
rm -f copy/made
python3 - copy/his/secret << 'LEASE' &
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
open("leased", "w").close()
signal.pause()
LEASE
holder=$!
soon 'the lease' test -e leased
line secret made his/secret > one
restores 1 --apply one copy
kill $holder
expect_match 'what is leased' $'failed\tmade\t' "$OUT"

# What grows while it is copied is copied as it was, or not at all.
mkdir growing
truncate -s 128M growing/a
printf 'b\ta\t1.0000\t%s\tequal\t0644\t0\t0\t1000000000.000000000\t%s\t7\n' $((128 << 20)) "$(sha256sum growing/a | cut -c 1-64)" > list
"$KINFS" restore-list --apply list growing > grown 2>&1 &
restoring=$!
until [[ $(readlink /proc/$restoring/fd/* 2> /dev/null) == *growing/a* || ! -e /proc/$restoring/exe ]]; do :; done
echo more >> growing/a
code=0
wait $restoring || code=$?
if [[ $code = 0 ]]; then
    cmp -n $((128 << 20)) growing/a growing/b
    expect_equal 'its size' $((128 << 20)) "$(stat -c %s growing/b)"
else
    expect_match 'what grew' $'lost\tb\ta' "$(cat grown)"
    [[ ! -e growing/b ]] || fail 'what grew is made'
fi

# A disk that is full ends it: no other name has a better chance.
mkdir small
mount -t tmpfs -o size=1M none small
head -c $((600 << 10)) /dev/urandom > small/a
digest=$(sha256sum small/a | cut -c 1-64)
for name in b c; do
    printf '%s\ta\t1.0000\t%s\tequal\t0644\t0\t0\t1.000000000\t%s\t7\n' $name $((600 << 10)) "$digest"
done > list
restores 3 --apply list small
expect_match 'a full disk' '^kinfs: b: No space left on device$' "$(cat said)"
expect_equal 'a full disk' a "$(ls -A small)"
umount small

# A file with holes takes no more room than what stands in for it.
mkdir sparse
truncate -s 64M sparse/a
echo end >> sparse/a
truncate -s 65M sparse/a
printf 'b\ta\t1.0000\t%s\tequal\t0644\t0\t0\t1000000000.000000000\t%s\t7\n' $((65 << 20)) "$(sha256sum sparse/a | cut -c 1-64)" > list
expect_code 0 "$KINFS" restore-list --apply list sparse
cmp sparse/a sparse/b
(($(stat -c %b sparse/b) * 512 < 4 << 20)) || fail "its holes take $(stat -c %b sparse/b) blocks"
