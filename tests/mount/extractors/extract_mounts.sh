#!/usr/bin/env bash
# What reads a document does not reach what others have mounted: the server of such a file system would be told the names that
# are looked up in it, and who waits for its answer cannot be killed. Where a container forbids what that takes, a reader that
# cannot be killed is left, and told of.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3 unshare getfattr
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'
((EUID == 0)) || skip 'mounting needs root'
if [[ ${1-} != inside ]]; then
    unshare --mount --propagation private true || skip 'no mount namespaces here'
    exec unshare --mount --propagation private "$0" inside
fi
chmod 711 .
without_unshare=(python3 "$LIB/callers/without_call.py" unshare)
servers=()
trap '((${#servers[@]} == 0)) || kill -KILL "${servers[@]}"' EXIT

serve() { # DIRECTORY: mounts a file system there that is another user's and lets all in; its requests are in $SERVED
    local ready
    mkdir -p "$1"
    exec {SERVED}< <(exec python3 "$LIB/file_systems/hanging_fs.py" "$1" 54321 allow_other)
    servers+=($!)
    read -r ready <&"$SERVED"
    expect_equal 'it serves' ready "$ready"
}

# Below what the system is made of there may be others' directories, too, and mounts of the system's own.
mount -t tmpfs none /opt
mkdir /opt/own
mount -t tmpfs none /opt/own
touch /opt/own/file
serve /opt/others
serve "$PWD/others"

cat > reach << EOF_SCRIPT
#!/bin/sh
for path in /opt/own/file /opt/others/f "$PWD/others/f" "$PWD/reach" /proc/self/fd/0 /dev/stdin; do
    [ ! -e "\$path" ] || echo "\$path"
done
while read -r line; do
    echo "\$line"
done < /proc/self/mountinfo
EOF_SCRIPT
chmod 755 reach
extract() { "$@" "$(dirname "$KINFS")/kinfs-extract" "$BASHPID" 60 1024 "$PWD/reach" < /dev/null; }
said=$(extract env)
expect_equal 'reached' "/opt/own/file $PWD/reach /proc/self/fd/0 /dev/stdin" "$(grep -v ' - ' <<< "$said" | paste -sd ' ')"
expect_equal 'mounts of others' '' "$(grep -e ' - fuse' <<< "$said" || true)"
expect_equal 'the machine has them still' "/opt/others $PWD/others" "$(findmnt -rno TARGET -t fuse.hanging | grep -e '^/opt/' -e "^$PWD/" | sort | paste -sd ' ')"

# One over another, of which the upper answers nothing: no way leads through it.
served=$SERVED
serve /opt/deep/inner
serve /opt/deep
kill -USR1 "${servers[3]}"
said=$(extract env) || fail 'a reader is kept by what covers another mount'
expect_equal 'mounts of others, one over another' '' "$(grep -e ' - fuse' <<< "$said" || true)"
expect_equal 'reached' "/opt/own/file $PWD/reach /proc/self/fd/0 /dev/stdin" "$(grep -v ' - ' <<< "$said" | paste -sd ' ')"
kill -KILL "${servers[@]:2:2}"
servers=("${servers[@]:0:2}")
umount -l /opt/deep
umount -l /opt/deep/inner
SERVED=$served

# A mount of kinfs below /opt is not kept from ending by a reader.
mkdir /opt/tree
"$KINFS" mount /opt/tree /opt/tree
said=$(extract env)
expect_equal 'mounts of kinfs' '' "$(grep -e ' - fuse' <<< "$said" || true)"
"$KINFS" umount /opt/tree

# Not there without unshare(2).
"${without_unshare[@]}" true || exit 0
said=$(extract "${without_unshare[@]}")
expect_match 'as before' "$PWD/others/f" "$said"

# -- one that cannot be killed --

printf '#!/bin/sh\n[ -e "%s/others/name" ]\n' "$PWD" > look
chmod 755 look
printf '[extractor "image/png"]\ncommand = %s/look\nseconds = 1\n' "$PWD" > kinfs.conf
kill -USR1 "${servers[1]}"
mkdir -p "$SOURCE" "$MNT"
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0' > "$SOURCE/a.png"
printf 'some words\n' > "$SOURCE/a.txt"
"${without_unshare[@]}" "$KINFS" mount -o "config=$PWD/kinfs.conf" "$SOURCE" "$MNT"
expect_match 'status' 'sandbox +without a tree for each run' "$("$KINFS" status "$MNT")"
read -r request <&"$SERVED"
[[ $request ]] || fail 'the server is not asked'
"$KINFS" settle "$MNT" > /dev/null
expect_match 'why it is skipped' '^skipped: image/png: .*umount -f' "$(getfattr -n user.kinfs.state --only-values "$MNT/a.png")"
expect_match 'the line in status' 'left +1 extractor ' "$("$KINFS" status "$MNT")"
has_left() { [[ $("$KINFS" status --json "$MNT" | sed -n 's/.*"extractors_left": *\([0-9]*\).*/\1/p') = "$1" ]]; }
has_left 1 || fail 'not counted'
expect_match 'another is read' 'state +current' "$("$KINFS" status "$MNT/a.txt")"
kill -KILL "${servers[1]}" # as umount -f does, this ends what waits
soon 'it has ended' has_left 0
stop
