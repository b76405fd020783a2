#!/usr/bin/env bash
# kinfs tidy is killed before each change that it makes: no document is lost at any of them, and --undo, killed in the same way and begun again,
# leaves each with its bytes, owner, mode, times and attributes, and nothing else.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3 getfattr
export HOME=$SCRATCH/home XDG_DATA_HOME=
mkdir -p home
kill_at() { # N ARGUMENT...: what is said in OUT; returns 1 where it was not killed
    local code=0
    OUT=$("$LIB/work/at_call.py" "$1" kill "$KINFS" "${@:2}" 2>&1) || code=$?
    [[ $code != 77 ]] || skip "no program can be traced: $OUT"
    [[ $code = 0 || $code = 100 ]] || fail "at_call: $code $OUT" 1
    return $((code == 100))
}
all() { # a line for each name, with all that is to be as it was; ways but bytes are of no matter to the last access
    (cd "$SOURCE" && {
        find . -type f -printf '%p %m %U %G %T@ %n\n' -exec sha256sum {} +
        find . -type f -exec getfattr -d -m '^user\.' {} + || true # where there is no such thing it fails
    } | LC_ALL=C sort)
}
contents() { find "$SOURCE" "$SCRATCH/trash" -type f ! -name "*.trashinfo" -exec sha256sum {} + | cut -c 1-64 | sort; }

mkdir -p "$SOURCE/sub" trash
chmod 700 trash
words 1 600 > "$SOURCE/a"
setfattr -n user.of -v 'all of them' "$SOURCE/a" 2> /dev/null || true
cp -a "$SOURCE/a" "$SOURCE/equal"
cp -a "$SOURCE/a" "$SOURCE/sub/equal
too"
chmod 640 "$SOURCE"/{a,equal} "$SOURCE"/sub/*
{ words 1 600; echo more; } > "$SOURCE/near"
touch -d '2001-02-03 04:05:06.789' "$SOURCE"/{a,equal,near} "$SOURCE"/sub/*
start
"$KINFS" settle "$MNT" > /dev/null
before=$(all)
had=$(contents | uniq)

plan() { # ACT...
    "$KINFS" settle "$MNT" > /dev/null
    "$KINFS" tidy --json "$@" "$MNT" > plan
    rm -f plan.undo
    # What follows is of documents with these states, whatever the index is told meanwhile.
    (($(grep -c '"do":"list"' plan || true) <= 1)) || fail "nothing to be done: $(cat plan)" 1
}
nothing_is_lost() {
    expect_equal "$1: contents" "$had" "$(contents | uniq)"
    [[ -f $SOURCE/a ]] || fail "$1: what is kept is gone" 1
}
is_as_before() {
    expect_equal "$1" "$before" "$(all)"
    expect_equal "$1: what is left in the trash" '' "$(find trash -type f)"
}
apply() { echo tidy --apply plan ${1:+--trash=trash}; }

step=$((EUID ? 4 : 1)) # the calls are the same ones, whoever makes them
for act in '--do=trash --near' --do=link; do
    in_trash=${act##*link}
    for ((at = 1; ; at += step)); do
        # shellcheck disable=SC2086
        plan $act
        killed=0
        # shellcheck disable=SC2046
        kill_at $at $(apply "$in_trash") || killed=1
        what="$act, $at, $OUT"
        nothing_is_lost "$what"
        if [[ -e plan.undo ]]; then
            expect_code 0 "$KINFS" tidy --undo plan.undo
            is_as_before "$what, undone"
            expect_code 0 "$KINFS" tidy --undo plan.undo
            is_as_before "$what, undone again"
        fi
        ((killed == 0)) || break
    done
    ((at > 12)) || fail "$act: killed at $at calls only"
    echo "$act: $at"

    # The end of each undoing, of all that was done.
    for ((at = 1; ; at += step)); do
        # shellcheck disable=SC2086
        plan $act
        # That a name of a file is gone is not told of its other names: who watches by inotify looks at those when they are asked about.
        # shellcheck disable=SC2046
        for ((tries = 0; ; tries++)); do
            code=0
            OUT=$("$KINFS" $(apply "$in_trash") 2>&1) || code=$?
            [[ $code != 0 ]] || break
            [[ $code = 1 && $OUT == *'unique/ does not leave it out'* && $tries -lt 20 ]] || fail "$act: exit code $code: $OUT"
            expect_code 0 "$KINFS" tidy --undo plan.undo
            # shellcheck disable=SC2086
            plan $act
        done
        killed=0
        kill_at $at tidy --undo plan.undo || killed=1
        what="$act, undoing, $at, $OUT"
        nothing_is_lost "$what"
        expect_code 0 "$KINFS" tidy --undo plan.undo
        is_as_before "$what"
        ((killed == 0)) || break
    done
    ((at > 4)) || fail "$act: undoing killed at $at calls only"
    echo "$act, undoing: $at"
done

# Ended when the names were exchanged: who removes what has the name then, or puts something else there, has the document back, or beside it.
for then in 'rm' 'cp --remove-destination /dev/null'; do
    for ((tries = 0; ; tries++)); do
        plan --do=link
        ! kill_at unlinkat tidy --apply plan || break
        [[ $OUT == *'unique/ does not leave it out'* && $tries -lt 20 ]] || fail "it is not killed: $OUT"
        [[ ! -e plan.undo ]] || expect_code 0 "$KINFS" tidy --undo plan.undo
    done
    expect_equal 'what is beside it' 1 "$(find "$SOURCE" -name '.#kinfs-tidy-*' | wc -l)"
    $then "$SOURCE/equal"
    if [[ $then = rm ]]; then
        expect_code 0 "$KINFS" tidy --undo plan.undo
    else
        expect_code 1 "$KINFS" tidy --undo plan.undo
        expect_match "$then" 'equal: something else has its name; is beside it as .#kinfs-tidy' "$OUT"
        rm "$SOURCE/equal"
        expect_code 0 "$KINFS" tidy --undo plan.undo
    fi
    is_as_before "exchanged, then $then"
done
stop
