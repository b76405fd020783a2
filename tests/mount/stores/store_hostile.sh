#!/usr/bin/env bash
# Stores, mounts and directories that somebody else made, or could have changed, in the hands of root: each is refused in one line that
# names it, and what a link in it leads to stays as it is. Another user could have left each of these for root to find.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip "only root can take what other users made"
needs_fuse
needs python3 setpriv setfattr
ORDINARY=54321
VICTIM=$SCRATCH/victim

umask 022
mkdir -p "$SOURCE" "$MNT" "$VICTIM" "$SCRATCH/places"
for n in 1 2 3; do words $((n * 1000)) 200 > "$SOURCE/$n.txt"; done
printf precious > "$VICTIM/000001.sst"
printf precious > "$VICTIM/TABLES"
mkdir "$VICTIM/directory"
"$KINFS" scan --store="$SCRATCH/good" "$SOURCE" > /dev/null

look() { # at all that is the victim's
    (cd "$VICTIM" && find . -printf '%P %y %m %U %s %n %T@\n' | sort && cat 000001.sst TABLES)
}
BEFORE=$(look)

# plant NAME: PLACE and STORE, a copy of a good store to which something is then done.
plant() {
    PLACE=$SCRATCH/places/$1
    STORE=$PLACE/store
    rm -rf "$PLACE"
    mkdir "$PLACE"
    cp -a "$SCRATCH/good" "$STORE"
}

# turned_down WHAT REGEX COMMAND...: exit code 3, and one line that matches, in time.
turned_down() {
    local what=$1 regex=$2 code=0 said
    shift 2
    said=$(timeout 60 "$@" 2>&1 < /dev/null) || code=$?
    [[ $code = 3 ]] || fail "$what: $*: exit code $code instead of 3: $said" 2
    [[ $said =~ $regex && $said != *$'\n'* ]] || fail "$what: $*: said '$said', not one line with '$regex'" 2
}

untouched() { # WHAT
    [[ $(look) == "$BEFORE" ]] || fail "$1: the victim's files are changed: $(look)" 2
}

# refused WHAT REGEX COMMAND...: turned down, and the victim as it was.
refused() {
    turned_down "$@"
    untouched "$1"
}

# all_refused WHAT REGEX: by all that open a store, or ask who has it.
all_refused() {
    turned_down "$1" "$2" "$KINFS" scan --store="$STORE" "$SOURCE"
    turned_down "$1" "$2" "$KINFS" check --repair --store="$STORE" "$SOURCE"
    turned_down "$1" "$2" "$KINFS" rebuild --store="$STORE" "$SOURCE"
    turned_down "$1" "$2" "$KINFS" mount -o store="$STORE" "$SOURCE" "$MNT"
    untouched "$1"
}

# -- what is good --

plant good
"$KINFS" scan --store="$STORE" "$SOURCE" > /dev/null
"$KINFS" status --store="$STORE" > /dev/null
mkdir "$SCRATCH/sticky"
chmod 1777 "$SCRATCH/sticky"
"$KINFS" scan --store="$SCRATCH/sticky/new" "$SOURCE" > /dev/null
ln -s good "$SCRATCH/places/link"
"$KINFS" scan --store="$SCRATCH/places/link/store" "$SOURCE" > /dev/null
# As RocksDB made its files under the user's umask, where no other user can get at them.
find "$STORE/db" -type f -exec chmod 0664 {} +
"$KINFS" scan --store="$STORE" "$SOURCE" > /dev/null

# -- of another user's --

plant others
chown -hR $ORDINARY "$STORE"
all_refused "another user's store" "store $STORE .*$STORE belongs to user $ORDINARY, not to root"
refused "another user's store" "belongs to user $ORDINARY" "$KINFS" status --store="$STORE"
refused "another user's store" "belongs to user $ORDINARY" "$KINFS" settle --store="$STORE"
refused "another user's store" "belongs to user $ORDINARY" "$KINFS" similar --store="$STORE" "$SOURCE/1.txt"
refused "another user's store" "belongs to user $ORDINARY" "$KINFS" cluster --stored --store="$STORE" "$SOURCE"
rm "$STORE/db/SEAL"*
rm -r "$STORE/db/runs"
ln -s "$VICTIM" "$STORE/db/runs"
all_refused "another user's store with links" "belongs to user $ORDINARY"

plant parent
chown $ORDINARY "$PLACE"
all_refused "a store in another user's directory" "$PLACE belongs to user $ORDINARY"

for part in db lock policy db/CURRENT; do
    plant part
    chown $ORDINARY "$STORE/$part"
    all_refused "another user's $part" "$STORE/$part belongs to user $ORDINARY, not to root"
done

# -- that others can change --

for mode in 0770 0702 1777; do
    plant writable
    chmod $mode "$STORE"
    all_refused "a store of mode $mode" "others can write $STORE; chmod go-w $STORE"
done
plant writable_parent
chmod 0777 "$PLACE"
all_refused "a store below a directory that others can write" "others can write $PLACE, .*chmod go-w $PLACE"
chmod 0775 "$SCRATCH/places"
plant writable_above
all_refused "the same, further up" "others can write $SCRATCH/places, "
chmod 0755 "$SCRATCH/places"
plant writable_file
chmod 0755 "$STORE/db"
chmod 0666 "$STORE/db/CURRENT"
all_refused "a file that others can write" "others can write $STORE/db/CURRENT; chmod go-w"
plant link_of_others
ln -s "$STORE" "$SCRATCH/sticky/store"
chown -h $ORDINARY "$SCRATCH/sticky/store"
STORE=$SCRATCH/sticky/store
all_refused "another user's link" "symbolic link $STORE belongs to user $ORDINARY"
if setfacl -m u:$ORDINARY:rwx "$SCRATCH/good" 2> /dev/null; then
    plant acl
    all_refused "a store that an access control list opens" "others can write $STORE; chmod go-w $STORE"
    setfacl -b "$SCRATCH/good"
    chmod 0700 "$SCRATCH/good"
fi

# -- links, FIFOs and hard links in what is one's own, as when root was told to chown -R --

for part in runs LOCK SEAL SEAL.new SEAL.manifest SEAL.manifest.new WRITTEN TABLES CURRENT CURRENT.restored IDENTITY LOG 000001.log 999999.sst \
    archive; do
    for target in "$VICTIM" "$VICTIM/TABLES" "$VICTIM/made"; do
        plant link
        rm -rf "$STORE/db/${part:?}"
        ln -s "$target" "$STORE/db/$part"
        all_refused "a link for $part" "$STORE/db/$part is "
    done
    plant fifo
    rm -rf "$STORE/db/${part:?}"
    mkfifo "$STORE/db/$part"
    all_refused "a FIFO for $part" "$STORE/db/$part is "
done
for part in lock policy holder holder.new db db.new db.old; do
    for target in "$VICTIM" "$VICTIM/TABLES" "$VICTIM/made"; do
        plant link
        rm -rf "$STORE/${part:?}"
        ln -s "$target" "$STORE/$part"
        refused "a link for $part" "$STORE/$part is " "$KINFS" scan --store="$STORE" "$SOURCE"
        refused "a link for $part" "$STORE/$part is " "$KINFS" rebuild --store="$STORE" "$SOURCE"
    done
    plant fifo
    rm -rf "$STORE/${part:?}"
    mkfifo "$STORE/$part"
    refused "a FIFO for $part" "$STORE/$part is " "$KINFS" scan --store="$STORE" "$SOURCE"
done
plant hard_link
rm -f "$STORE/db/WRITTEN"
ln "$VICTIM/TABLES" "$STORE/db/WRITTEN"
BEFORE=$(look)
all_refused "a hard link to a file elsewhere" "$STORE/db/WRITTEN .*hard link"
rm "$STORE/db/WRITTEN"
BEFORE=$(look)
plant linked
cp -al "$STORE" "$PLACE/copy"
STORE=$PLACE/copy
refused "a store copied by cp -al" "$STORE/.* hard link.*put a copy in its place" "$KINFS" scan --store="$STORE" "$SOURCE"
cp -a "$PLACE/copy" "$PLACE/real" # copies, of one another at most
"$KINFS" scan --store="$PLACE/real" "$SOURCE" > /dev/null
plant directory
mkdir "$STORE/db/MANIFEST-"
all_refused "a directory by which a name leads out" "$STORE/db/MANIFEST- is a directory"

# -- directories of another user's in a database: what is removed of it could be exchanged with a link at any moment --

for part in db db.old db.new; do
    for name in sub lost+found runs/sub; do
        plant directory_in_$part
        [[ -d $STORE/$part ]] || cp -a "$STORE/db" "$STORE/$part"
        chmod 0755 "$STORE" "$STORE/$part"
        mkdir -p "$STORE/$part/$name/x"
        echo > "$STORE/$part/$name/x/file"
        chown -R $ORDINARY "$STORE/$part/$name"
        all_refused "a directory $part/$name" "$STORE/$part/${name/+/.} is a directory, and should be a file; remove it"
        refused "a directory $part/$name" "$STORE/$part/${name/+/.} is a directory" "$KINFS" status --store="$STORE" "$SOURCE"
        [[ -e $STORE/$part/$name/x/file && -e $STORE/$part/CURRENT ]] || fail "$part/$name: something was removed"
    done
done
for part in db.old db.new; do
    plant runs_in_$part
    cp -a "$STORE/db" "$STORE/$part"
    chown $ORDINARY "$STORE/$part/runs"
    all_refused "another user's $part/runs" "$STORE/$part/runs belongs to user $ORDINARY, not to root"
    chown root "$STORE/$part/runs"
    touch "$STORE/$part/runs/1.sst"
    "$KINFS" status --store="$STORE" "$SOURCE" > /dev/null
    [[ ! -e $STORE/$part ]] || fail "$part is left"
done

# -- directories to be made --

ln -s "$VICTIM" "$SCRATCH/sticky/planted"
chown -h $ORDINARY "$SCRATCH/sticky/planted"
STORE=$SCRATCH/sticky/planted/new/store
all=$(look)
for command in scan mount; do
    case $command in
        scan) refused "a store by another user's link" "$SCRATCH/sticky/planted belongs" "$KINFS" scan --store="$STORE" "$SOURCE" ;;
        mount) refused "a store by another user's link" "$SCRATCH/sticky/planted belongs" "$KINFS" mount -o store="$STORE" "$SOURCE" "$MNT" ;;
    esac
done
expect_equal "what was made there" "$all" "$(look)"

# -- what kinfs cluster keeps --

KEEP=$SCRATCH/places/keep
for part in sketches head.new pairs duplicates documents kinfs-batch; do
    rm -rf "$KEEP"
    "$KINFS" cluster --keep="$KEEP" "$SOURCE" > /dev/null || [[ $? = 1 ]]
    rm -f "$KEEP/$part"
    ln -s "$VICTIM/TABLES" "$KEEP/$part"
    refused "a link for $part" "$KEEP" "$KINFS" cluster --mode=broder1997 --keep="$KEEP" "$SOURCE"
done
rm -rf "$KEEP"
mkdir "$KEEP"
chmod 0777 "$KEEP"
refused "a directory that others can write" "others can write $KEEP; chmod go-w" "$KINFS" cluster --keep="$KEEP" "$SOURCE"

# -- in the tree --

mkdir "$SOURCE/his"
cp -a "$SCRATCH/good" "$SOURCE/his/store"
chown -hR $ORDINARY "$SOURCE/his"
STORE=$SOURCE/his/store
all_refused "a store in the tree" "$SOURCE/his belongs to user $ORDINARY"
start -o store="$SCRATCH/good"
expect_equal "the directory, which is no store of this mount" "his" "$(cd "$MNT" && ls -d his)"
[[ -e $MNT/his/store/lock ]] || fail "another user's directory is hidden"

# -- modes: the store's are its owner's alone, those of the mount as ever --

(umask 002 && echo text > "$MNT/new" && mkdir "$MNT/directory")
expect_equal "modes by the umask of who asks" "664 775" "$(stat -c %a "$MNT/new" "$MNT/directory" | paste -sd ' ')"
stop
umask 000
"$KINFS" scan --store="$SCRATCH/fresh/store" "$SOURCE" > /dev/null
umask 022
expect_equal "what others may do with a new store" "" "$(find "$SCRATCH/fresh" \( -type f ! -perm 600 -o -type d ! -perm 700 \) -print)"

# -- what the owner of a tree can set there, in a mount without an index --

mkdir -p "$SCRATCH/tree" "$SCRATCH/plain"
chown $ORDINARY "$SCRATCH/tree"
start -o store="$SCRATCH/good"
setfattr -n user.kinfs.store -v "$SCRATCH/good" "$SCRATCH/tree"
"$KINFS" mount -o nosketch "$SCRATCH/tree" "$SCRATCH/plain"
expect_match "whose status it is" "tree +$SCRATCH/tree" "$("$KINFS" status "$SCRATCH/plain" | paste -sd ' ')"
"$KINFS" umount "$SCRATCH/plain"
stop

# -- mounts of another user's --

# hostile POINT SOURCE STORE: mounts it, LOG
hostile() {
    LOG=$SCRATCH/log.$((++N))
    mkdir -p "$1"
    mkfifo "$LOG.ready"
    python3 "$LIB/file_systems/hostile_mount.py" "$1" "$2" "$3" $ORDINARY "$LOG" > "$LOG.ready" &
    read -r said < "$LOG.ready" && [[ $said = ready ]] || fail "no mount"
}
N=0
plant believed
hostile "$SCRATCH/sticky/mount" "$SOURCE" "$STORE"
: > "$LOG"
echo secret > "$SCRATCH/document"
refused "what a mount says of another tree" "not in a tree kinfs knows" env KINFS_STATE_DIR="$SCRATCH/none" "$KINFS" status "$SOURCE/1.txt"
refused "a mount" "$SCRATCH/sticky/mount: this mount is another user's" "$KINFS" status "$SCRATCH/sticky/mount"
refused "a mount" "$SCRATCH/sticky/mount: this mount is another user's" "$KINFS" similar --tree="$SCRATCH/sticky/mount" "$SCRATCH/document"
refused "a mount" "$SCRATCH/sticky/mount/1.txt: this mount is another user's" "$KINFS" similar "$SCRATCH/sticky/mount/1.txt"
! grep -E 'getxattr|open|access|create|write' "$LOG" || fail "the mount was asked"
refused "a store in a mount" "$SCRATCH/sticky/mount is in a mount of user $ORDINARY" "$KINFS" scan --store="$SCRATCH/sticky/mount/store" "$SOURCE"
refused "a store in a mount" "$SCRATCH/sticky/mount is in a mount of user $ORDINARY" "$KINFS" status --store="$SCRATCH/sticky/mount/store"
"$KINFS" umount "$SCRATCH/sticky/mount"
! mountpoint -q "$SCRATCH/sticky/mount" || fail "not unmounted"
wait
