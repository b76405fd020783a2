#!/usr/bin/env bash
# A file system that has read what it is asked, and never answers, keeps the process that asks until it ends, even a killed one: no command
# is kept, nor who reads what it prints.
. "$(dirname "$0")/../lib/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
lib=$(cd "$(dirname "$0")/../lib" && pwd)
mkdir -p own/hung his/hung other "$MNT"
words 1 90 > other/x
servers=()
trap 'kill "${servers[@]}" 2> /dev/null || true' EXIT
for user in 0 54321; do
    [[ $user = 0 ]] && directory=own/hung || directory=his/hung
    "$lib/hanging_fs.py" "$directory" $user allow_other > said.$user &
    servers+=($!)
    soon 'the file system' grep -q ready said.$user
done
kill -USR1 "${servers[@]}" # from now on they answer nothing

# asks NUMBER ARGUMENT...: the command in the background; what it says, and its exit code, in files of that number.
asks() {
    local number=$1
    shift
    { "$KINFS" "$@" 2>&1 < /dev/null || echo $? > "code.$number"; } | cat > "out.$number"
}

n=0
while read -r arguments; do
    n=$((n + 1))
    said[n]=$arguments
    # shellcheck disable=SC2086 # words
    asks "$n" $arguments &
    asking[n]=$!
done << EOF
cluster his/hung
cluster own
cluster --scratch=own/hung other
compare his/hung/f other/x
similar --tree=his/hung other/x
similar --tree=other his/hung/f
mount his/hung $MNT
mount other own/hung
mount -o store=his/hung/s other $MNT
scan his/hung
settle his/hung/d
status his/hung
status -s his/hung/s
umount his/hung/f
umount --force own/hung/d
umount --lazy own/hung/d/e
EOF
for ((i = 1; i <= n; i++)); do
    timeout 200 tail --pid="${asking[i]}" -f /dev/null || fail "kinfs ${said[i]} hangs"
    expect_equal "the exit code of kinfs ${said[i]}: $(< "out.$i")" 3 "$(< "code.$i")"
    expect_match "kinfs ${said[i]}" '^kinfs: .*: the file system there has not answered for 20 s$' "$(< "out.$i")"
done
