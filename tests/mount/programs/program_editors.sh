#!/usr/bin/env bash
# Editors save in many ways: over the old content, into a new file renamed over it, with the old one
# moved or linked away first, beside a lock file. Each leaves on the mount what it leaves on a plain
# directory, and the next answer is that of the saved text.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 setfattr setfacl getfacl getfattr
vi=
for command in vim.tiny vim; do
    [[ $vi ]] || ! command -v "$command" > /dev/null || vi=$command
done
[[ $vi ]] || skip "vim.tiny is not installed"
saves=$LIB/work/editor_saves.py

prepare() { # DIRECTORY
    local name
    mkdir "$1"
    for name in $(python3 "$saves") vim_no vim_yes vim_auto vim_backup; do
        words 1 60 > "$1/$name"
        ln "$1/$name" "$1/$name.hard"
        chmod 640 "$1/$name"
        setfattr -n user.note -v kept "$1/$name"
        setfacl -m u:54321:r "$1/$name" 2> /dev/null || true
    done
    ln -s vim_link.target "$1/vim_link"
    words 1 60 > "$1/vim_link.target"
    words 500 60 > "$1/like"
}

edit() { # DIRECTORY NAME [VIM COMMAND...]: the new text comes by a filter, as of one who types
    local file=$1/$2 command args=()
    shift 2
    for command; do args+=(-c "$command"); done
    $vi -u NONE -i NONE -N -es "${args[@]}" -c '%s/^.*$//' -c '%d' -c "r $SCRATCH/text" -c '1d' -c 'w' -c 'q' "$file" ||
        fail "$vi $file"
}

# What is there afterwards, in a form that two directories can be compared by.
look() { # DIRECTORY
    (
        cd "$1"
        shopt -s dotglob
        stat -c '%n %F %a %h %s' -- *
        sha256sum -- *
        getfattr -hn user.note -- * 2> /dev/null || true
        getfacl -cn -- * 2> /dev/null || true
    )
}

save_all() { # DIRECTORY
    local name
    for name in $(python3 "$saves"); do
        python3 "$saves" "$name" "$1/$name" "$SCRATCH/text" || fail "$name"
    done
    edit "$1" vim_no 'set backupcopy=no writebackup'
    edit "$1" vim_yes 'set backupcopy=yes writebackup'
    edit "$1" vim_auto 'set backupcopy=auto writebackup'
    edit "$1" vim_backup 'set backup backupdir=. backupext=.bak directory=.'
    edit "$1" vim_link 'set backupcopy=auto'
    edit "$1" vim_new 'set fsync'
}

words 500 66 > text
prepare plain
save_all plain
look plain > plain.out
for option in passthrough nopassthrough; do
    start -o "$option"
    prepare "$MNT/$option"
    "$KINFS" settle "$MNT" > /dev/null
    for name in $(python3 "$saves") vim_no; do
        expect_equal "before $name" 60 "$(wc -l < "$MNT/$option/$name")"
        [[ "$(ls "$MNT/similar/$option/$name")" != *-like* ]] || fail "$name is like the text before it is saved"
    done
    save_all "$MNT/$option"
    for name in $(python3 "$saves") vim_no vim_yes vim_auto vim_backup vim_new; do
        expect_match "links of $name" "-like( |$)" "$(ls "$MNT/similar/$option/$name" | tr '\n' ' ')"
    done
    look "$MNT/$option" > "$option.out"
    diff -u plain.out "$option.out" || fail "with $option a save leaves something else"
    stop
    look "$SOURCE/$option" > "$option.source.out"
    diff -u plain.out "$option.source.out" || fail "with $option the source has something else"
done
