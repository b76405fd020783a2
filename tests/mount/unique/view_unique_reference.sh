#!/usr/bin/env bash
# Documents in reference directories stay, each of them, and others are left out for them first: in unique/, by kinfs skip, tidy and group.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs setfattr
mkdir -p "$SOURCE"/{originals/old,kept,work,'a:b'}
words 1 600 | tee "$SOURCE/work/oldest" "$SOURCE/kept/marked" "$SOURCE/originals/one" "$SOURCE/originals/old/two" "$SOURCE/a:b/three" > "$SOURCE/work/linked"
words 1 602 | tee "$SOURCE/originals/version" > "$SOURCE/work/version"
words 5000 600 | tee "$SOURCE/work/only" > "$SOURCE/work/other"
touch -d @1000000000 "$SOURCE/work/oldest"
touch -d @1000000001 "$SOURCE/work/only"
setfattr -n user.kinfs.keep -v '' "$SOURCE/kept/marked" || skip 'no extended attributes'
ln "$SOURCE/work/linked" "$SOURCE/originals/linked"
names='a:b/three kept/marked originals/linked originals/old/two originals/one originals/version work/linked work/oldest work/only work/other work/version'

# left_out: what is not in unique/, with what stands in for it, by the list; as the names say.
left_out() {
    local name
    "$KINFS" settle "$MNT" > /dev/null
    cut -f 1,2 "$MNT/unique/.kinfs-skipped.tsv" | grep -v '^#' | sort > list
    for name in $(xargs -n 1 <<< "$names" | sort); do
        [[ -e $MNT/unique/$name ]] || echo "$name"
    done > missing
    expect_equal 'the list and the names' "$(cut -f 1 list)" "$(< missing)"
    xargs < missing
}

start
expect_equal 'without' 'a:b/three originals/linked originals/old/two originals/one originals/version work/linked work/oldest work/other work/version' "$(left_out)"
stop

start -o 'reference=/originals/:a\:b'
expect_equal 'with' 'work/oldest work/other work/version' "$(left_out)"
expect_match 'for a reference' '^(originals|a:b)/' "$(sed -n 's:^work/oldest\t::p' list)"
expect_match 'a version, too' '^(originals|a:b)/' "$(sed -n 's:^work/version\t::p' list)"
expect_equal 'others among themselves' work/only "$(sed -n 's:^work/other\t::p' list)"
expect_equal 'by kinfs skip' "$(cut -f 1 list | sed 's:^:./:')" "$("$KINFS" skip --format=tar "$MNT")"
expect_equal 'by kinfs tidy' "$(cut -f 1 list)" "$("$KINFS" tidy --near --do=trash "$MNT" | sed -n 's/^trash\t\([^\t]*\)\t.*/\1/p' | sort)"
references='./a:b/three ./originals/linked ./originals/old/two ./originals/one ./originals/version'
expect_match 'by kinfs group' "^$references ./work/(only|other)\$" "$(cd "$MNT" && find . -type f | "$KINFS" group | sort | xargs)"
expect_match 'by kinfs group with a bound' "^$references ./work/(only|other)\$" "$(cd "$MNT" && find . -type f | "$KINFS" group --min=0.9 | sort | xargs)"
expect_match 'as little as is resembled' "^$references ./work/(oldest|version) ./work/(only|other)\$|^$references ./work/(only|other)\$" "$(cd "$MNT" && find . -type f | "$KINFS" group --min=1 | sort | grep -v kept | grep -v work/linked | xargs)"
mkdir "$MNT/originals/new"
mv "$MNT/work/only" "$MNT/originals/new/"
names=${names/work\/only/originals\/new\/only}
expect_equal 'moved there' 'work/oldest work/other work/version' "$(left_out)"
mv "$MNT/originals/old/two" "$MNT/work/two"
names="${names/originals\/old\/two /} work/two"
expect_equal 'and moved from there' 'work/oldest work/other work/two work/version' "$(left_out)"
stop

# -- without a mount, by the configuration --
printf '[unique]\nreference = originals\nreference = kept:a\\:b\n' > conf
expect_equal 'by the configuration' $'./work/oldest\n./work/other\n./work/two\n./work/version' "$("$KINFS" skip -c conf --format=tar "$SOURCE")"
expect_match 'by group' "^./a:b/three ./kept/marked ./originals/linked ./originals/new/only ./originals/one ./originals/version\$" \
    "$(cd "$SOURCE" && find . -type f | "$KINFS" group -c "$SCRATCH/conf" | sort | xargs)"

for wrong in / . ../x a/../b a//b a: ; do
    expect_code 2 "$KINFS" mount -o "reference=$wrong" "$SOURCE" "$MNT"
    expect_match 'what it takes' 'takes directories from the root of the tree on' "$OUT"
done
