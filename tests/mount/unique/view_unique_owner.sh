#!/usr/bin/env bash
# A user who changes a file of his through a mapping, which gives it no other times (on tmpfs never; elsewhere until the kernel
# writes it back), has it stand in for nothing of root's, and says nothing of the bytes of root's.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3 setpriv sha256sum
HIS=54321
chmod 755 "$SCRATCH"
digest() { sha256sum < "$1" | cut -c 1-64; }
line() { grep "^$1	" list | cut -f 2,5,10; }

# Of the same size and with the same times, other bytes, as soon as there is a file CHANGE.
cat > change.py << 'CHANGE'
import mmap, os, sys, time
maps = []
for path in sys.argv[1:]:
    fd = os.open(path, os.O_RDWR)
    mapping = mmap.mmap(fd, 0)
    mapping[0] = mapping[0] # the page can be written from now on
    os.close(fd)
    maps.append(mapping)
    os.utime(path, (1, 1 + len(maps)))
print("mapped", flush=True)
sys.stdin.readline()
for mapping in maps:
    mapping[0] = ord("W")
print("changed", flush=True)
sys.stdin.readline()
CHANGE

attack() { # OPTION...
    mkdir -p "$SOURCE"/{bin,his}
    words 1 600 > "$SOURCE/bin/script"
    cp "$SOURCE/bin/script" "$SOURCE/bin/copy"
    cp "$SOURCE/bin/script" "$SOURCE/his/older"
    cp "$SOURCE/bin/script" "$SOURCE/his/newer"
    words 1 601 > "$SOURCE/bin/version"
    touch -d @1000000000 "$SOURCE/bin/script"
    touch -d @1000000001 "$SOURCE"/bin/{copy,version}
    chown -R $HIS:$HIS "$SOURCE/his"
    coproc CHANGER { setpriv --reuid=$HIS --regid=$HIS --clear-groups python3 change.py "$SOURCE"/his/{older,newer}; }
    read -r said <&"${CHANGER[0]}"
    expect_equal 'the attacker' mapped "$said"
    start "$@"
    "$KINFS" settle "$MNT" > /dev/null
    stat -c '%s %Y %Z' "$SOURCE"/his/* > before
    echo >&"${CHANGER[1]}"
    read -r said <&"${CHANGER[0]}"
    expect_equal 'the attacker' changed "$said"
    stat -c '%s %Y %Z' "$SOURCE"/his/* > after
    cat "$MNT/unique/.kinfs-skipped.tsv" > list
    rm -rf copy
    cp -a "$MNT/unique" copy
}
attack_ends() {
    echo >&"${CHANGER[1]}"
    wait "$CHANGER_PID"
    stop
}

for where in here tmpfs; do
    if [[ $where = tmpfs ]]; then
        rm -rf "$SOURCE"
        mkdir "$SOURCE"
        mount -t tmpfs none "$SOURCE"
    fi
    attack -o store="$SCRATCH/store-$where"
    [[ $where != tmpfs ]] || cmp before after || fail 'a mapping of tmpfs gives other times here'
    cmp copy/bin/script "$SOURCE/bin/script" || fail "$where: root's script is in no copy: $(cat list)"
    expect_equal "$where: what root's stands in for" "bin/script	equal	$(digest "$SOURCE/bin/script")" "$(line bin/copy)"
    expect_match "$where: a version" '^bin/script	similar' "$(line bin/version)"
    [[ $(line 'his/[a-z]*') != *bin/* ]] || fail "$where: root's stands in for his: $(cat list)"
    sed -n '/^bin/p' list > of_root
    "$KINFS" restore-list --apply of_root copy > said || true
    expect_match "$where: what root restores" $'equal\tbin/copy\tbin/script' "$(cat said)"
    cmp copy/bin/copy "$SOURCE/bin/copy" || fail "$where: root's copy is made of other bytes"
    attack_ends
done
umount "$SOURCE"

# Who trusts all who write the tree says so.
rm -rf "$SOURCE"
mkdir -p "$SOURCE"
words 1 600 > "$SOURCE/his"
words 1 600 > "$SOURCE/mine"
touch -d @1000000000 "$SOURCE/his"
chown $HIS "$SOURCE/his"
for how in '' owner anyone; do
    start -o "store=$SCRATCH/store${how:+,stand_in=$how}"
    "$KINFS" settle "$MNT" > /dev/null
    expected=''
    [[ $how != anyone ]] || expected=$'mine\this'
    expect_equal "stand_in=$how" "$expected" "$(cut -f 1,2 "$MNT/unique/.kinfs-skipped.tsv")"
    [[ -e $MNT/unique/mine ]] && shown=yes || shown=no
    expect_equal "stand_in=$how: what is shown" "$([[ $expected ]] && echo no || echo yes)" "$shown"
    stop
done
