#!/usr/bin/env bash
# Views and attributes tell nobody of a document that they could not reach and read.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
# A number is all an account needs here.
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
as_member() { setpriv --reuid=54321 --regid=54321 --groups=54322 "$@"; }
user_value() { as_user getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/open" "$SOURCE/closed" "$SOURCE/blind"
words 1 100 > "$SOURCE/open/a"
words 11 100 > "$SOURCE/open/b"
words 1 120 > "$SOURCE/open/secret" # has the most words: the cluster is named by it
words 1 105 > "$SOURCE/closed/c"
words 1 104 > "$SOURCE/open/group"
words 1 103 > "$SOURCE/blind/d"
words 9000 100 > "$SOURCE/open/mine"
words 9000 100 > "$SOURCE/closed/twin"
chmod 600 "$SOURCE/open/secret"
chgrp 54322 "$SOURCE/open/group"
chmod 640 "$SOURCE/open/group"
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
start -o allow_other
"$KINFS" settle "$MNT"

expect_equal 'root sees all' 5 "$(ls "$MNT/similar/open/a" | wc -l)"
expect_equal 'a user what can be listed and read' 'b' \
    "$(as_user ls "$MNT/similar/open/a" | sed 's/.*-//' | sort | xargs)"
expect_equal 'a member of the group one more' 'b group' \
    "$(as_member ls "$MNT/similar/open/a" | sed 's/.*-//' | sort | xargs)"
[[ $(as_user getfattr --only-values -n user.kinfs.similar "$MNT/open/a" 2> /dev/null) != *[cgs][ler]* ]] ||
    fail "hidden names in user.kinfs.similar"
for name in $(cd "$MNT/similar/open/a" && ls); do
    case $name in
        *-b) as_user test -L "$MNT/similar/open/a/$name" || fail "$name is not found" ;;
        *) ! as_user test -L "$MNT/similar/open/a/$name" || fail "$name is found" ;;
    esac
done

# What root has just asked for is not what the user gets.
ls -l "$MNT/similar/open/a" > "$SCRATCH/root"
as_user ls -l "$MNT/similar/open/a" > "$SCRATCH/user"
! grep -q 'secret\|closed\|group' "$SCRATCH/user" || fail 'one caller sees the list of another'

# The mirror is as closed as the tree.
expect_equal 'listed' 'a b' "$(as_user ls "$MNT/similar/open" | xargs)"
! as_user ls "$MNT/similar/closed" 2> /dev/null || fail 'a closed directory is listed'
! as_user ls "$MNT/similar/closed/c" 2> /dev/null || fail 'a closed directory is searched'
! as_user ls "$MNT/similar/open/secret" 2> /dev/null || fail 'kin of a closed document'
! as_user ls "$MNT/similar/blind" 2> /dev/null || fail 'a directory without r is listed'
as_user ls "$MNT/similar/blind/d" > "$SCRATCH/out" || fail 'a directory with x is not searched'

# Clusters: those of what the user can list and read, under numbers of their own.
id=$(value "$MNT/open/a" cluster)
mine=$(user_value "$MNT/open/a" cluster)
[[ $id != "$mine" ]] || fail 'one number for what root sees and what the user sees'
expect_equal 'its size for root' 6 "$(value "$MNT/open/a" cluster.size)"
expect_equal 'and for the user' 2 "$(user_value "$MNT/open/a" cluster.size)"
expect_equal 'size of the directory' 2 "$(user_value "$MNT/clusters/$mine" size)"
expect_equal 'its links' 'a b' \
    "$(as_user ls "$MNT/clusters/$mine" | sed 's/.*-//' | sort | xargs)"
! as_user test -e "$MNT/clusters/$id" || fail 'a cluster of all documents is found by a user'
! test -e "$MNT/clusters/$mine" || fail "a user's cluster is found by root"
expect_equal 'its name for root' open/secret "$(value "$MNT/open/a" representative)"
name=$(user_value "$MNT/open/a" representative)
expect_match 'and for the user' '^open/[ab]$' "$name"
expect_equal 'of the directory' "$name" "$(user_value "$MNT/clusters/$mine" representative)"
expect_equal 'the resemblance is to that one' \
    "$(user_value "$MNT/open/a" "resemblance:$name" 2> /dev/null)" \
    "$(user_value "$MNT/open/a" resemblance)"
twins=$(value "$MNT/open/mine" cluster)
! user_value "$MNT/open/mine" cluster 2> /dev/null || fail 'a cluster with nobody else in it'
! user_value "$MNT/open/mine" nearest 2> /dev/null || fail 'a neighbour that cannot be read'
! as_user test -e "$MNT/clusters/$twins" || fail 'its directory is found'
expect_equal 'clusters listed' "$mine" "$(as_user ls "$MNT/clusters")"
expect_equal 'for root' 2 "$(ls "$MNT/clusters" | wc -l)"
# Nor do the numbers themselves tell how many others there are: of four billion they are none of the first.
for number in $(ls "$MNT/clusters"); do
    ((number > 1000)) || fail "cluster $number is one of the first"
done
expect_equal 'all of them, one by one' "$(ls "$MNT/clusters")" "$(for number in $(ls "$MNT/clusters"); do
    basename "$(realpath "$MNT/clusters/$number")"; done)"

# A comparison does not tell what is there either.
expect_match 'root may compare' '^0\.' "$(value "$MNT/open/a" resemblance:open/secret)"
for path in open/secret closed/c closed/missing; do
    ! user_value "$MNT/open/a" "resemblance:$path" 2> /dev/null || fail "compared with $path"
done
expect_equal 'the store' "$(value "$MNT" store)" "$("$KINFS" status --json "$MNT" | tr ',' '\n' |
    sed -n 's/.*"store" *: *"\(.*\)".*/\1/p' | head -n 1 | sed 's|\\/|/|g')"
! user_value "$MNT" store 2> /dev/null || fail 'the store is told to others'

# Rights count as they are now.
chmod 644 "$MNT/open/secret"
expect_equal 'opened' 'b secret' \
    "$(as_user ls "$MNT/similar/open/a" | sed 's/.*-//' | sort | xargs)"
expect_equal 'the name' open/secret "$(user_value "$MNT/open/a" representative)"
stop

# Of a daemon whose capabilities a change of user leaves it, too.
needs setpriv
chmod 600 "$SOURCE/open/secret"
setpriv --securebits +no_setuid_fixup "$KINFS" mount -o allow_other "$SOURCE" "$MNT"
"$KINFS" settle "$MNT" > /dev/null
expect_equal 'by a securebit' 'b' "$(as_user ls "$MNT/similar/open/a" | sed 's/.*-//' | sort | xargs)"
! as_user ls "$MNT/similar/closed" 2> /dev/null || fail 'a closed directory is listed by a securebit'
stop
