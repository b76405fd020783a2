#!/usr/bin/env bash
# Two users, groups, access control lists: nobody learns of a document that could not be read in the tree, by
# any name, count, number or error.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr setpriv setfacl chattr python3
[[ $EUID = 0 ]] || skip 'only root can become another user'

A=54321 B=54331 TEAM=54322
as_a() { setpriv --reuid=$A --regid=$A --clear-groups "$@"; }
as_a_in_team() { setpriv --reuid=$A --regid=$A --groups=$TEAM "$@"; }
as_b() { setpriv --reuid=$B --regid=$B --clear-groups "$@"; }
value() { # ATTRIBUTE PATH [AS]
    ${3-} getfattr --only-values --absolute-names -n "user.kinfs.$1" "$2" 2> /dev/null
}
kin() { # PATH AS: what resembles a document, without the numbers
    $2 ls "$MNT/similar/$1" | sed 's/^[0-9]*-//' | sort | xargs
}
error_of() { # COMMAND...: the error it ends with, or none
    LC_ALL=C "$@" 2>&1 > /dev/null | sed 's/.*: //' | tail -n 1
}

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{open,granted,denied,team,x,r,one,other,default,pairs}
setfacl -m u:$A:r "$SOURCE/open" 2> /dev/null || skip 'no access control lists here'
setfacl -b "$SOURCE/open"
words 1 200 > "$SOURCE/open/a"
put() { # NAME OWNER MODE: a document that resembles open/a
    words 1 $((150 + RANDOM % 40)) > "$SOURCE/$1"
    chown "$2" "$SOURCE/$1"
    chmod "$3" "$SOURCE/$1"
}
put granted/grant 0:0 600 && setfacl -m u:$A:r "$SOURCE/granted/grant"
put granted/masked 0:0 600 && setfacl -m u:$A:r,m::--- "$SOURCE/granted/masked"
put granted/group 0:0 600 && setfacl -m g:$TEAM:r "$SOURCE/granted/group"
put denied/deny 0:0 644 && setfacl -m u:$A:--- "$SOURCE/denied/deny"
put denied/team-denied 0:0 644 && setfacl -m g:$TEAM:--- "$SOURCE/denied/team-denied"
put team/team 0:$TEAM 640
put x/in-x 0:0 644 && chmod 711 "$SOURCE/x"
put r/in-r 0:0 644 && chmod 744 "$SOURCE/r"
put one/reachable 0:0 644 && chmod 700 "$SOURCE/other" && ln "$SOURCE/one/reachable" "$SOURCE/other/unreachable"
put other/hidden 0:0 644
setfacl -d -m u:$A:r,g::-,o::- "$SOURCE/default"
start -o allow_other
words 1 170 > "$MNT/default/made"
"$KINFS" settle "$MNT"

# As the tree itself: each document that each of them can list and read through the mount, against what is shown.
for who in as_a as_a_in_team as_b; do
    readable=$(cd "$MNT" && for f in granted/* denied/* team/* x/in-x r/in-r one/* other/hidden other/unreachable default/made; do
        if $who ls "$MNT/${f%/*}" > /dev/null 2>&1 && $who cat "$MNT/$f" > /dev/null 2>&1; then echo "${f##*/}"; fi
    done | sort | xargs)
    expect_equal "kin for $who" "$readable" "$(kin open/a $who)"
    expect_equal "xattr for $who" "$readable" \
        "$(value similar "$MNT/open/a" $who | sed 's|.*/||' | sort | xargs)"
    expect_equal "size for $who" $(($(wc -w <<< "$readable") + 1)) "$(value cluster.size "$MNT/open/a" $who)"
    id=$(value cluster "$MNT/open/a" $who)
    expect_equal "cluster for $who" "$(xargs -n 1 <<< "a $readable" | sort | xargs)" \
        "$($who ls "$MNT/clusters/$id" | sed 's/^[0-9]*-//' | sort | xargs)"
done
expect_equal 'a' 'deny grant made reachable team-denied' \
    "$(printf '%s\ndeny\n' "$(kin open/a as_a | xargs -n 1)" | sort | xargs)"
expect_match 'the team' 'group.* team$' "$(kin open/a as_a_in_team)"
[[ $(kin open/a as_a_in_team) != *team-denied* ]] || fail 'denied to the team'
[[ $(kin open/a as_b) != *grant* ]] || fail 'granted to another'

# Given and taken, through the mount and beside it: the next look knows.
setfacl -m u:$B:r "$MNT/granted/grant"
[[ $(kin open/a as_b) == *grant* ]] || fail 'granted through the mount'
as_b cat "$MNT/granted/grant" > /dev/null || fail 'the tree does not obey'
setfacl -x u:$B "$SOURCE/granted/grant"
[[ $(kin open/a as_b) != *grant* ]] || fail 'taken beside the mount'
setfacl -m m::r "$SOURCE/granted/masked"
[[ $(kin open/a as_a) == *masked* ]] || fail 'the mask opened beside the mount'
setfacl -m m::--- "$MNT/granted/masked"
[[ $(kin open/a as_a) != *masked* ]] || fail 'the mask closed through the mount'

# Taken away while a listing is open: it shows what was allowed, and nothing in it can be had.
python3 - "$MNT" "$SOURCE" $A << 'PYTHON'
import os, sys
mnt, source, uid = sys.argv[1], sys.argv[2], int(sys.argv[3])
ready, go = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
    fd = os.open(mnt + '/similar/open/a', os.O_RDONLY)
    before = os.listdir(fd)
    name = next(n for n in before if n.endswith('-grant'))
    os.stat(name, dir_fd=fd, follow_symlinks=False)
    os.write(ready[1], b'x'); os.read(go[0], 1)
    os.lseek(fd, 0, os.SEEK_SET)
    failed = 0
    for call in (lambda: os.stat(name, dir_fd=fd, follow_symlinks=False), lambda: os.readlink(name, dir_fd=fd)):
        try: call()
        except FileNotFoundError: failed += 1
    again = os.listdir(mnt + '/similar/open/a')
    os._exit(0 if failed == 2 and name not in again else 1)
os.read(ready[0], 1)
os.chmod(source + '/granted', 0o700)
os.write(go[1], b'x')
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os.chmod(source + '/granted', 0o755)
sys.exit(code)
PYTHON

# A cluster whose representative cannot be read: for who cannot it is another cluster, of another name.
words 5000 200 > "$SOURCE/pairs/1"
words 5000 200 > "$SOURCE/pairs/2"
words 5000 320 > "$SOURCE/other/most-words"
"$KINFS" scan "$MNT" > /dev/null
"$KINFS" settle "$MNT"
id=$(value cluster "$MNT/pairs/1" as_a)
expect_equal 'named by' other/most-words "$(value representative "$MNT/pairs/1")"
expect_equal 'two equal documents' '100-1 100-2' "$(as_a ls "$MNT/clusters/$id" | xargs)"
for name in resemblance.min resemblance.mean; do
    expect_equal "$name" 1.0000 "$(value $name "$MNT/clusters/$id" as_a)"
done
expect_match 'named for another by' '^pairs/[12]$' "$(value representative "$MNT/pairs/1" as_a)"
expect_equal 'the resemblance to that' 1.0000 "$(value resemblance "$MNT/pairs/1" as_a)"
! test -e "$MNT/clusters/$id" || fail 'its number is one of all documents, too'

# Counts are of all documents: for the owner.
for name in documents clusters pending store; do
    value $name "$MNT" > /dev/null || fail "$name is not told to root"
    ! value $name "$MNT" as_a > /dev/null || fail "$name is told to others"
done

# The same error whether a hidden thing is there or not.
for view in "$MNT" "$MNT/similar"; do
    expect_equal 'closed' "$(error_of as_a stat "$view/other/nothing")" "$(error_of as_a stat "$view/other/hidden")"
    expect_equal 'without x' "$(error_of as_a stat "$view/r/nothing")" "$(error_of as_a stat "$view/r/in-r")"
done
expect_equal 'kin of a closed document' 'Permission denied' "$(error_of as_a ls "$MNT/similar/denied/deny")"
hidden=$(ls "$MNT/similar/open/a" | grep -- '-hidden$')
expect_equal 'a hidden link by its name' 'No such file or directory' "$(error_of as_a stat "$MNT/similar/open/a/$hidden")"
lone=$(value cluster "$MNT/other/most-words")
chmod 600 "$SOURCE/pairs/2"
expect_equal 'a cluster of which one is seen' "$(error_of as_a stat "$MNT/clusters/999999" | sed 's/999999/N/')" \
    "$(error_of as_a stat "$MNT/clusters/$lone" | sed "s/$lone/N/")"
for path in other/hidden other/nothing denied/deny ../../../../etc/passwd; do
    expect_match "resemblance:$path" 'No such attribute$' \
        "$(LC_ALL=C as_a getfattr -n "user.kinfs.resemblance:$path" "$MNT/open/a" 2>&1 || true)"
done

# Numbers of directories are the same whoever asks, and whatever is in them.
for path in similar similar/open similar/open/a clusters; do
    expect_equal "stat of $path" "$(stat -c '%h %s %i' "$MNT/$path")" "$(as_a stat -c '%h %s %i' "$MNT/$path")"
    expect_equal "links and size of $path" '2 0' "$(stat -c '%h %s' "$MNT/$path")"
done

# The tools of another user are told nothing.
for command in "similar $MNT/open/a" "compare $MNT/open/a $MNT/other/hidden" "clusters $MNT" "status $MNT"; do
    # shellcheck disable=SC2086
    out=$(as_a "$KINFS" $command 2>&1) && fail "kinfs $command answered another user: $out"
    [[ $out != *hidden* || $command = compare* ]] || fail "kinfs $command: $out"
done

# What others make is theirs; what only owners may do is refused.
mkdir "$MNT/shared"
chgrp $TEAM "$MNT/shared"
chmod 2770 "$MNT/shared"
(umask 027 && as_a_in_team touch "$MNT/shared/f" && as_a_in_team mkdir "$MNT/shared/d")
expect_equal 'a file in a setgid directory' "$A $TEAM 640" "$(stat -c '%u %g %a' "$SOURCE/shared/f")"
expect_equal 'a directory there' "$A $TEAM 2750" "$(stat -c '%u %g %a' "$SOURCE/shared/d")"
as_a_in_team chmod 2750 "$MNT/shared/f"
expect_equal 'sgid by a member' 2750 "$(stat -c %a "$SOURCE/shared/f")"
chmod 2777 "$MNT/shared"
(umask 022 && as_b touch "$MNT/shared/b" && as_b chmod 2755 "$MNT/shared/b")
expect_equal 'sgid by another' "$B $TEAM 755" "$(stat -c '%u %g %a' "$SOURCE/shared/b")"
! as_b chown $A "$MNT/shared/b" 2> /dev/null || fail 'a file is given away'
! as_b chgrp $A "$MNT/shared/b" 2> /dev/null || fail 'given to a foreign group'
! as_b setfacl -m u:$B:rw "$MNT/open/a" 2> /dev/null || fail "another's access control list"
! as_b chattr +i "$MNT/shared/b" 2> /dev/null || fail 'made immutable by a user'
! as_b setfattr -n trusted.x -v 1 "$MNT/shared/b" 2> /dev/null || fail 'trusted.* of a user'
(umask 077 && as_a_in_team touch "$MNT/default/none") 2> /dev/null && fail 'made where nothing may be made'
chmod 777 "$MNT/default"
setfacl -d -m u:$A:rw,o::- "$MNT/default"
(umask 077 && as_b sh -c "echo > '$MNT/default/b'")
as_a cat "$MNT/default/b" > /dev/null || fail 'a default access control list counts, not the umask'
expect_equal 'as in the tree' "$(getfacl -cp "$SOURCE/default/b")" "$(getfacl -cp "$MNT/default/b")"
stop
