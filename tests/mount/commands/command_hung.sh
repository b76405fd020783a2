#!/usr/bin/env bash
# A file system that has read what it is asked, and never answers, keeps the process that asks until it ends, even a killed one: no command
# is kept, nor who reads what it prints. One of another user's is not asked at all.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
mkdir -p own/hung his/hung his/other over/tree gone other "$MNT"
words 1 90 > other/x
echo '{"text": "one"}' > other/lines
words 1 90 > over/tree/x
ln -s his/hung link
expect_code 0 "$KINFS" scan --store="$SCRATCH/kept" over/tree
servers=()
trap 'kill "${servers[@]}" 2> /dev/null || true' EXIT
for directory in own/hung his/hung over gone; do
    [[ $directory = own/hung ]] && user=0 || user=54321
    "$LIB/file_systems/hanging_fs.py" "$directory" $user allow_other > "said.${directory%/*}" &
    servers+=($!)
    soon 'the file system' grep -q ready "said.${directory%/*}"
done
(trap '' USR1; cd gone && exec sleep 1000) & # keeps it where no table of mounts has it
inside=$!
servers+=("$inside")
soon 'a process in it' test "/proc/$inside/cwd" -ef gone
umount --lazy gone
kill -USR1 "${servers[@]}" # from now on they answer nothing

# asks NUMBER ARGUMENT...: the command in the background; what it says, and its exit code, in files of that number.
asks() {
    local number=$1
    shift
    { "$KINFS" "$@" 2>&1 < /dev/null || echo $? > "code.$number"; } | cat > "out.$number"
}

# expect_each REGEX: of the commands of the standard input, which run at once, each ends with 3 and says that.
expect_each() {
    local n=0 i arguments said=() asking=()
    while read -r arguments; do
        n=$((n + 1))
        said[n]=$arguments
        # shellcheck disable=SC2086 # words
        asks "$n" $arguments &
        asking[n]=$!
    done
    for ((i = 1; i <= n; i++)); do
        await_end "${asking[i]}" || fail "kinfs ${said[i]} hangs"
        expect_equal "the exit code of kinfs ${said[i]}: $(< "out.$i")" 3 "$(< "code.$i")"
        expect_match "kinfs ${said[i]}" "^kinfs: .*$1" "$(< "out.$i")"
    done
}

expect_each ': the file system there has not answered for 20 s$' << EOF
cluster own
cluster own/hung
cluster --scratch=own/hung other
cluster --jsonl own/hung/f
cluster --jsonl --kept=own/hung/k other/lines
bag own/hung/f
basis own/hung/f
basis --tree=other own/hung/f
changes own/hung
changes own/hung/gone
compare own/hung/f other/x
copies own/hung/f
copies --tree=own/hung other/x
distinct own/hung/f other/x
explain own/hung/f other/x
group --tree=own/hung
history own/hung/gone
lost own/hung/gone
lost own/hung/d/gone
mirrors own/hung
pairs own/hung
report -o page own/hung
report -o own/hung/page other
map 1 -o picture own/hung
map 1 -o own/hung/d/picture other
pairs --between own/hung other
restore-list own/hung/f other
restore-list other/x own/hung/d
similar --tree=own/hung other/x
similar --tree=other own/hung/f
mount own/hung $MNT
mount other own/hung
mount -o store=own/hung/s other $MNT
scan own/hung
settle own/hung/d
status own/hung
status -s own/hung/s
umount own/hung/f
umount --force own/hung/d
umount --lazy own/hung/d/e
EOF

# Who may answer a first look, and nothing after it.
expect_each "(another user's|in a mount of user 54321)" << EOF
check his/hung
cluster his/hung
cluster his/hung/f
cluster link/d
cluster /proc/$inside/cwd
cluster --keep=his/hung/k other
cluster --scratch=his/hung other
cluster --jsonl his/hung/f
cluster --jsonl link/f
cluster --jsonl --against=his/hung/f other/lines
cluster --jsonl --kept=his/hung/k other/lines
cluster --jsonl --kept=link/k other/lines
cluster --jsonl --dropped=his/hung/k other/lines
clusters his/hung/f
bag his/hung/f
bag link/f
basis his/hung/f
basis --tree=his/hung other/x
changes his/hung
changes link/gone
compare his/hung/f other/x
compare --resample other/x link/f
compare --exact his/hung/f other/x
copies his/hung/f
copies --tree=other his/hung/f
distinct his/hung/f other/x
distinct link/f other/x
explain his/hung/f other/x
explain other/x link/f
group --tree=his/hung
group --tree=link/d
history his/hung/gone
history link/d/gone
lost his/hung
lost his/hung/gone
lost link/d/gone
lost over/tree/gone
mount his/hung $MNT
mount other his/hung
mount other link/d
mount -o log=his/hung/l other $MNT
mount -o store=his/hung/s other $MNT
mirrors his/hung
pairs his/hung
report -o page his/hung
report -o his/hung/page other
report -o link/page other
map 1 -o picture his/hung
map 1 -o link/d/picture other
pairs --exact link/d
pairs --between his/hung other
rebuild his/hung
restore-list his/hung/f other
restore-list link/f other
restore-list other/x his/hung
restore-list --apply other/x link/d
scan his/hung
scan -s his/hung/s other
settle his/hung/d
shingles his/hung/f
similar --tree=his/hung other/x
similar --tree=other his/hung/f
status his/hung
status /proc/$inside/cwd/d
status link/../hung/d
status over/tree
status -s his/hung/s
status -s $SCRATCH/kept
umount his/hung/f
umount --force link/d/e
EOF
expect_each 'another user.s mount, .*; left out' <<< "cluster his"
expect_each 'not a mount point of kinfs' <<< 'umount his/hung'
expect_code 2 "$KINFS" mount -o config=his/hung/c other "$MNT"
expect_match 'a configuration' "^kinfs: his/hung/c: in another user's mount" "$OUT"
expect_equal 'what another user was asked' 'ready ready ready' "$(< said.his) $(< said.over) $(< said.gone)"

# Where others can make names, another user's file system is in the place of a store that there is none of.
mkdir -m 1777 sticky
name=${SCRATCH#/}/other name=${name//-/%2d} name=${name//\//-} # as location_store_name() has it
mkdir "sticky/$name"
"$LIB/file_systems/hanging_fs.py" "sticky/$name" 54321 allow_other > said.sticky &
servers+=($!)
soon 'the file system' grep -q ready said.sticky
kill -USR1 "${servers[-1]}"
export KINFS_STATE_DIR=$SCRATCH/sticky
expect_each 'not in a tree kinfs knows' <<< "status other"
expect_each 'is not opened: .* in a mount of user 54321' <<< "status -s sticky/$name"
expect_each 'no store there' <<< "status -s sticky/none"
expect_equal 'what another user was asked' ready "$(< said.sticky)"
