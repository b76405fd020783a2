#!/usr/bin/env bash
# What is in a trash that is inside the tree is not tidied by kinfs tidy, and stays for nothing outside of it: a second run would take the last copy
# that is not thrown away. A trash is known by its name, and by what it has of each thing in it.
. "${0%/mount/*}/lib/shell/mount.sh"
export HOME=$SOURCE/home XDG_DATA_HOME=
chmod 755 "$SCRATCH"
tidy() { # CODE ARGUMENT...: what is printed in OUT, what is complained of in said
    local expected=$1 code=0
    shift
    OUT=$("$KINFS" tidy "$@" 2> said) || code=$?
    [[ $code = "$expected" ]] || fail "tidy $*: expected exit code $expected, got $code: $OUT $(cat said)" 1
}
plan() { # DIRECTORY
    rm -f plan plan.undo
    "$KINFS" scan "$SOURCE" > /dev/null
    "$KINFS" tidy --json --do=trash "$1" > plan
}
both() { # two equal documents and nothing else, neither of which is older
    rm -rf "${SOURCE:?}"/* "$SOURCE"/.[!.]* "$SCRATCH"/bin
    mkdir -p "$SOURCE/a" "$HOME" "$(dirname "$SOURCE/$1")" "$(dirname "$SOURCE/$2")"
    words 1 600 | tee "$SOURCE/$1" > "$SOURCE/$2"
    touch -d @1000000000 "$SOURCE/$1" "$SOURCE/$2"
}

# -- the trash of the desktop, as its names are --
both a/x a/y
plan "$SOURCE"
expect_equal 'two that are equal' 1 "$(wc -l < plan)"
tidy 0 --apply plan
expect_equal 'one is in the trash, which is in the tree' 1 "$(find "$HOME/.local/share/Trash/files" -type f | wc -l)"
plan "$SOURCE"
expect_equal 'the other one stays' '' "$(cat plan)"
expect_equal 'people are told the same' '' "$("$KINFS" tidy --near --do=trash "$SOURCE" | grep Trash || true)"
tidy 3 "$HOME/.local/share/Trash/files"
expect_match 'the trash itself' 'Trash/files: is a trash, or in one, where nothing is tidied' "$(cat said)"
tidy 3 "$HOME/.local/share/Trash"
# Rules that count it in.
for name in .Trash .Trash-1000 Trash; do
    for older in "$name/files/x" a/y; do
        both a/y "$name/files/x"
        touch -d @999999999 "$SOURCE/$older"
        printf '!.Trash\n!.Trash-*\n' > "$SOURCE/.kinfsignore"
        plan "$SOURCE"
        expect_equal "$name, $older is older" '' "$(cat plan)"
        "$KINFS" skip --json "$SOURCE" | grep -q 'files/x' || fail "$name: it is no document, so nothing has been tried"
    done
done
# A plan that says so all the same: a line of before, with the names of now.
both a/x a/y
plan "$SOURCE"
mkdir "$SOURCE/Trash"
mv "$SOURCE/a/y" "$SOURCE/a/x" "$SOURCE/Trash"
sed -i 's,"a/,"Trash/,g' plan
tidy 1 --apply plan
expect_match 'a plan' '^kinfs: Trash/.: it or Trash/. is in a trash, which may be emptied' "$(cat said)"
expect_equal 'a plan' 'x y' "$(ls "$SOURCE/Trash" | xargs)"

# -- one of another name, that has come into the tree since --
for older in bin/files/x a/y; do
    both a/x a/y
    mkdir -m 700 bin
    plan "$SOURCE"
    tidy 0 --apply plan --trash=bin
    mv bin/files/* bin/files/x 2> /dev/null || true
    mv bin/info/* bin/info/x.trashinfo 2> /dev/null || true
    mv "$SOURCE"/a/? "$SOURCE/a/y" 2> /dev/null || true
    mv bin "$SOURCE/bin"
    touch -d @999999999 "$SOURCE/$older"
    plan "$SOURCE"
    expect_equal "$older is older: what the index tells" 1 "$(wc -l < plan)"
    tidy 1 --apply plan
    expect_match "$older is older" 'it or .* is in a trash, which may be emptied' "$(cat said)"
    [[ -e $SOURCE/a/y && -e $SOURCE/bin/files/x ]] || fail "$older is older: $(find "$SOURCE" -type f)"
done
