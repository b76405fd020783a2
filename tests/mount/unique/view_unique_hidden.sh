#!/usr/bin/env bash
# unique/ leaves out for a user only what that user can read, for what that user can list and read: what is hidden, older,
# preferred or to be kept changes no name and no line.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 setfattr setpriv
[[ $EUID = 0 ]] || skip 'only root can become another user'
USER=54321
as_user() { setpriv --reuid=$USER --regid=$USER --clear-groups "$@"; }
# Names, whether they are found, and the list.
seen() {
    python3 - "$MNT/unique" $USER << 'EOF'
import os, sys
uid = int(sys.argv[2])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
def tell(path):
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        return print(path, error.strerror)
    for name in names:
        below = os.path.join(path, name)
        print(below, oct(os.lstat(below).st_mode))
        if os.path.isdir(below) and not os.path.islink(below):
            tell(below)
tell(sys.argv[1])
for name in ("open/copy", "open/secret", "open/linked", "more/copy", "more/version", "blind/known"):
    print(name, os.path.exists(os.path.join(sys.argv[1], name)))
print(open(os.path.join(sys.argv[1], ".kinfs-skipped.tsv")).read())
EOF
}
is_shown() { # as root
    [[ -e $MNT/unique/$1 ]]
}

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"/{open,more,closed,blind}
chmod 700 "$SOURCE/closed"
chmod 711 "$SOURCE/blind"
words 1 600 > "$SOURCE/open/copy"
words 1 600 > "$SOURCE/more/copy"
words 1 602 > "$SOURCE/more/version"
words 3001 600 > "$SOURCE/open/alone"
words 5001 600 > "$SOURCE/open/readable"
words 7001 600 > "$SOURCE/open/linked"
words 9001 600 > "$SOURCE/blind/known"
words 9001 600 > "$SOURCE/open/of the known"
words 11001 600 > "$SOURCE/open/secret" # by whose name somebody knows what is in it
chmod 600 "$SOURCE/open/secret"
touch -d @1000000000 "$SOURCE"/*/*
touch -d @1000000001 "$SOURCE"/more/{copy,version}
start -o allow_other,prefer=hidden*
"$KINFS" settle "$MNT" > /dev/null
seen > before
grep -q '^more/copy False' before || fail 'nothing is left out'
grep -q '^more/version	' before || fail 'the list does not say so'
# Who knows a name in a directory that cannot be listed finds it, whatever else there is; nothing is left out for it.
grep -q '^blind/known True' before && grep -q 'open/of the known' before || fail 'what is known by its name decides'
is_shown blind/known && ! is_shown 'open/of the known' || fail 'root sees both'

# Older, preferred, to be kept, and more central.
for directory in closed blind; do
    words 1 600 > "$SOURCE/$directory/hidden copy"
    words 3001 600 > "$SOURCE/$directory/hidden alone"
    words 5001 601 > "$SOURCE/$directory/hidden version"
    for i in {1..20}; do
        words 1 $((580 + i)) > "$SOURCE/$directory/hidden $i"
    done
done
words 5001 600 > "$SOURCE/open/secret"
words 3001 600 > "$SOURCE/more/hidden by its mode"
chmod 600 "$SOURCE/more/hidden by its mode"
ln "$SOURCE/open/linked" "$SOURCE/closed/linked too"
words 7001 601 > "$SOURCE/closed/hidden linked"
setfattr -n user.kinfs.keep -v '' "$SOURCE"/{closed,blind}/hidden*
touch -d @900000000 "$SOURCE"/{closed,blind}/hidden* "$SOURCE/open/secret" "$SOURCE/more/hidden by its mode"
"$KINFS" scan "$MNT" > /dev/null
"$KINFS" settle "$MNT" > /dev/null
for name in open/copy open/alone open/readable open/linked; do
    ! is_shown "$name" || fail "root is shown $name, for which something hidden stands in"
done
for _ in 1 2; do # what root was told is not told the user
    seen | grep -v 'more/hidden by its mode 0' > among
    diff before among > difference || fail "hidden documents are told of: $(head -n 5 difference)"
    is_shown more/copy && fail 'root is told what the user is told'
done
[[ $(seen) == *'more/hidden by its mode 0'* ]] || fail 'what cannot be read is left out'

# The list is for who asked for it, also by a path that another has gone before.
cat "$MNT/unique/.kinfs-skipped.tsv" > of_root
grep -q closed of_root || fail 'root is not told of what is hidden'
as_user cat "$MNT/unique/.kinfs-skipped.tsv" | grep -qE 'closed|blind|hidden' && fail "root's list is the user's"
exec 3< "$MNT/unique/.kinfs-skipped.tsv"
! as_user cat "/proc/$$/fd/3" 2> /dev/null | grep -q closed || fail "root's list can be opened"
! as_user ls "$MNT/unique/closed" 2> /dev/null || fail 'a closed directory can be listed'
! as_user ls "$MNT/unique/blind" 2> /dev/null || fail 'a blind directory can be listed'
exec 3<&-

# A right that is taken away, or given, counts at once.
chmod 600 "$SOURCE/open/copy"
[[ $(as_user ls "$MNT/unique/more") == *copy* ]] || fail 'what stood in for it cannot be read any more'
chmod 644 "$SOURCE/open/copy"
soon 'the right to read is back' bash -c "! [ -e '$MNT/unique/more/copy' ]"
chmod 700 "$SOURCE/open"
[[ $(as_user ls "$MNT/unique/more") == *copy* ]] || fail 'what stood in for it cannot be reached any more'
stop
