#!/usr/bin/env bash
# What something is mounted over is left out of the answers, as if it were not there, until it is unmounted, which can be done at
# any time; then the answers are those of before.
# Begins early: it asks for all answers thirty times.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/answers.sh"
[[ $EUID = 0 ]] || skip 'only root can mount a tmpfs'
needs_fuse
mkdir -p "$SCRATCH/probe" "$SCRATCH/other"
mount -t tmpfs none "$SCRATCH/probe" 2> /dev/null || skip 'no tmpfs can be mounted here'
umount "$SCRATCH/probe"

# Of different length: which of two of one length represents their cluster is decided by the key of the store.
make_tree() {
    local i
    mkdir -p "$SOURCE/d/deep/deeper" "$SOURCE/empty"
    for i in 1 2 3; do
        words $((i * 1000)) 100 > "$SOURCE/$i-a"
        words $((i * 1000 + 1)) 101 > "$SOURCE/d/$i-b"
        words $((i * 1000 + 2)) 102 > "$SOURCE/d/deep/$i-c"
        words $((i * 1000 + 3)) 103 > "$SOURCE/d/deep/deeper/$i-d"
    done
    ln "$SOURCE/d/1-b" "$SOURCE/1-linked"
    ln "$SOURCE/d/2-b" "$SOURCE/d/deep/2-linked"
}

# answers [OPTION] DIRECTORY: all that is said of what can be seen there, but for the numbers of clusters.
answers() {
    local file
    clusters_of "$@" || return 1
    for file in 1-a 1-linked; do
        echo "$file: $("$KINFS" similar -t 0.3 -n 0 "${@:1:$#-1}" "${!#}/$file" 2>&1)"
    done
}
# What a document that went leaves of its cluster is found out in the background.
is_repaired() { [[ $("$KINFS" status --json "$MNT") =~ \"repairing\":\ *0[^0-9] ]]; }
settled_answers() { # [EXPECTED]: what is as that file has it is not asked for twice
    expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
    soon 'no cluster is repaired' is_repaired
    # A cluster may go between two commands: what is said twice is settled.
    local n
    for ((n = 0; n < 50; n++)); do
        ! { answers "$MNT" > one && { cmp -s one "${1-}" || { answers "$MNT" > two && cmp -s one two; }; }; } 2> /dev/null || break
        sleep 0.1
    done
    cat one
}
# What a store says that was made of what can be seen now.
rebuilt_answers() {
    rm -rf "$SCRATCH/fresh"
    "$KINFS" scan --store="$SCRATCH/fresh" "$SOURCE" > /dev/null
    answers --store="$SCRATCH/fresh" "$SOURCE"
}
links_lead_somewhere() {
    local broken
    broken=$(find "$MNT/similar" "$MNT/clusters" -xtype l 2> /dev/null | head -n 3)
    expect_equal "$1: links that lead nowhere" '' "$broken"
}

cover() { # HOW POINT
    case $1 in
        tmpfs) mount -t tmpfs none "$2" && words 1000 100 > "$2/of-another" ;;
        bind) mount --bind "$SOURCE/empty" "$2" ;;
        file) mount --bind "$SOURCE/1-a" "$2" ;;
        kinfs) "$KINFS" mount "$SCRATCH/other" "$2" ;;
        twice) mount -t tmpfs none "$2" && mount -t tmpfs none "$2" ;;
    esac
}
uncover() { # HOW POINT
    case $1 in
        kinfs) "$KINFS" umount "$2" ;;
        twice) umount "$2" && umount "$2" ;;
        *) umount "$2" ;;
    esac
}

make_tree
words 1000 100 > "$SCRATCH/other/one"
for watch in fanotify inotify none; do
    OUT=$(start -o "watch=$watch,log=$SCRATCH/log-$watch" 2>&1) || {
        [[ $OUT =~ fanotify\ (needs|cannot|does) ]] || fail "$OUT"
        echo "$OUT"
        continue
    }
    settled_answers > before
    grep -q deeper before || fail 'what is to be covered is not in the answers'
    for how in tmpfs:d bind:d/deep file:d/3-b kinfs:d twice:d/deep; do
        point=${how#*:} how=${how%%:*}
        cover "$how" "$SOURCE/$point" || fail "$watch: cannot mount $how"
        rebuilt_answers > rebuilt
        settled_answers rebuilt > covered
        ! cmp -s before covered || fail "$watch, $how: what is covered is in the answers"
        diff rebuilt covered || fail "$watch, $how: not as rebuilt from what can be seen"
        links_lead_somewhere "$watch, $how"
        ls -lR "$MNT/d" > /dev/null
        expect_match "$watch, $how: the scan ends" 'scan +done' "$("$KINFS" status "$MNT")"
        # A scan from the root, and a change in what covers and beside it, are no reason to go round.
        "$KINFS" scan "$MNT" > /dev/null
        settled_answers covered > again
        diff covered again || fail "$watch, $how: another scan says something else"
        uncover "$how" "$SOURCE/$point" || fail "$watch, $how: it cannot be unmounted"
        settled_answers before > after
        diff before after || fail "$watch, $how: not as before"
        expect_match "$watch, $how: the log" "$point: left out while something is mounted over it" "$(cat "log-$watch")"
        : > "log-$watch"
    done

    # Covered when it is mounted; what changed below meanwhile is found when it is uncovered.
    stop
    mount -t tmpfs none "$SOURCE/d"
    start -o "watch=$watch"
    rebuilt_answers > rebuilt
    settled_answers rebuilt > covered
    diff rebuilt covered || fail "$watch: covered from the start, not as rebuilt from what can be seen"
    umount "$SOURCE/d" || fail "$watch: covered from the start, it cannot be unmounted"
    settled_answers before > after
    diff before after || fail "$watch: covered from the start, not as before"
    [[ $watch != none ]] || break # and nothing else is
    words 1000 101 > "$SOURCE/d/deep/late"
    settled_answers > after
    grep -q late after || fail "$watch: what is uncovered is not watched"
    rm "$SOURCE/d/deep/late"
    stop
done
