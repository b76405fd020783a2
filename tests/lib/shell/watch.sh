# Sourced by the scripts of tests/mount/watch/: every kind of change made beside the mount is seen through
# it, whatever the kernel has been told before, and by the index.
# shellcheck shell=bash

is() { # EXPECTED COMMAND...
    [[ $("${@:2}" 2> /dev/null) == "$1" ]]
}
gone() { # PATH
    ! stat "$1" > /dev/null 2>&1
}
names() { # DIRECTORY
    ls -A "$1" | grep -vxE 'similar|clusters' | xargs
}
# What a walk tells the kernel: names, attributes, and that some names are not there.
warm() {
    ls -lR "$MNT" > /dev/null 2>&1 || true
    for name; do stat "$MNT/$name" > /dev/null 2>&1 || true; done
}

# Whether the kernel can be told that all names may be wrong: both it and the library know epochs.
all_names_can_be_told() {
    [[ $("$KINFS" status "$MNT") =~ FUSE\ 7\.(4[4-9]|[5-9]) ]] && libfuse_is_from 3.18
}

all_of() { # DIRECTORY
    (cd "$1" && find . \( -path ./similar -o -path ./clusters \) -prune -o -printf '%p %y %m %n %s %T@ %l\n' | sort)
}
is_all_the_same() {
    [[ $(all_of "$MNT") == "$(all_of "$SOURCE")" ]]
}

changes_are_seen() {
    mkdir -p "$SOURCE/d/e" "$SOURCE/f"
    echo first > "$SOURCE/d/file"
    ln "$SOURCE/d/file" "$SOURCE/hard"
    echo outside > "$SCRATCH/outside"
    ln "$SCRATCH/outside" "$SOURCE/linked"
    ln -s file "$SOURCE/d/link"

    warm new d/new
    echo new > "$SOURCE/new"
    soon 'a new file where there was none' is new cat "$MNT/new"
    soon 'a new file, listed' is 'd f hard linked new' names "$MNT"
    mkdir "$SOURCE/d/new"
    soon 'a new directory' test -d "$MNT/d/new"
    soon 'its link in the directory above' is 4 stat -c %h "$MNT/d"

    warm
    echo second line >> "$SOURCE/d/file"
    soon 'an edit: size' is 18 stat -c %s "$MNT/d/file"
    soon 'an edit, by another name' is 18 stat -c %s "$MNT/hard"
    soon 'an edit: content' cmp "$SOURCE/d/file" "$MNT/d/file"
    echo more >> "$SCRATCH/outside"
    soon 'an edit by a name outside of the tree' is 13 stat -c %s "$MNT/linked"
    truncate -s 3 "$SOURCE/d/file"
    soon 'cut short' is 3 stat -c %s "$MNT/hard"
    warm
    exec 9>> "$SOURCE/d/file"
    echo of one who goes on >&9
    soon 'an edit by one who keeps it open' is 22 stat -c %s "$MNT/d/file"
    exec 9>&-

    warm
    chmod 600 "$SOURCE/d/file"
    soon 'chmod' is 600 stat -c %a "$MNT/d/file"
    chmod 711 "$SOURCE/d"
    soon 'chmod of a directory' is 711 stat -c %a "$MNT/d"
    chmod 751 "$SOURCE"
    soon 'chmod of the root' is 751 stat -c %a "$MNT"
    touch -d @1000000000 "$SOURCE/d/file"
    soon 'touch' is 1000000000 stat -c %Y "$MNT/hard"
    rm "$SOURCE/hard"
    soon 'a name fewer' is 1 stat -c %h "$MNT/d/file"
    soon 'the name itself' gone "$MNT/hard"
    ln "$SOURCE/d/file" "$SCRATCH/elsewhere"
    soon 'a name more, outside of the tree' is 2 stat -c %h "$MNT/d/file"

    warm
    mv "$SOURCE/new" "$SOURCE/newer"
    soon 'renamed: the new name' is new cat "$MNT/newer"
    soon 'renamed: the old name' gone "$MNT/new"
    echo of an editor > "$SOURCE/.newer.tmp"
    mv "$SOURCE/.newer.tmp" "$SOURCE/newer"
    soon 'saved as editors do' is 'of an editor' cat "$MNT/newer"
    warm
    mv "$SOURCE/d/e" "$SOURCE/f/g"
    soon 'a directory moved: there' test -d "$MNT/f/g"
    soon 'a directory moved: not here' gone "$MNT/d/e"
    warm
    mv "$SOURCE/f" "$SCRATCH/f"
    soon 'moved out of the tree' gone "$MNT/f"
    echo in f > "$SCRATCH/f/inside"
    mv "$SCRATCH/f" "$SOURCE/back"
    soon 'moved into the tree' is 'in f' cat "$MNT/back/inside"
    mv -T "$SOURCE/back" "$SOURCE/back2"
    mkdir "$SOURCE/back"
    soon 'a directory in the place of another' is '' ls "$MNT/back"

    warm
    ln -sfn elsewhere "$SOURCE/d/link"
    soon 'a symbolic link made anew' is elsewhere readlink "$MNT/d/link"
    rm -r "$SOURCE/back" "$SOURCE/d/link"
    soon 'a directory removed' gone "$MNT/back"
    mkfifo "$SOURCE/back"
    soon 'a fifo in its place' test -p "$MNT/back"
    # With a descriptor that was opened before.
    exec 9< "$MNT/newer"
    stat -L "/proc/self/fd/9" > /dev/null
    echo 'of an editor, changed' > "$SOURCE/newer"
    soon 'through an open file' is 22 stat -L -c %s /proc/$$/fd/9
    rm "$SOURCE/newer"
    soon 'removed while open' is 0 stat -L -c %h /proc/$$/fd/9
    exec 9<&-
    (soon 'all in all' is_all_the_same) || expect_equal 'all in all' "$(all_of "$SOURCE")" "$(all_of "$MNT")"
}

attributes() { # DIRECTORY
    (cd "$1" && find both -printf '%p %y %m %n %s %T@ %C@\n' | sort)
}
is_the_same_on_both_sides() {
    [[ $(attributes "$MNT") == "$(attributes "$SOURCE")" ]]
}
# What the kernel has just been told in a reply that it takes for true, by the one who then changes it
# beside the mount; and writers on both sides at once. These redirections are all of one process.
changes_of_both_sides_are_seen() {
    local i first second file
    mkdir "$SOURCE/both"
    for i in 1 2 3; do
        for first in create write chmod touch truncate look; do
            for second in write chmod touch truncate link; do
                file=both/$first-$second-$i
                [[ $first = create ]] || echo beside > "$SOURCE/$file"
                case $first in
                create | write) echo by the mount >> "$MNT/$file" ;;
                chmod) chmod 640 "$MNT/$file" ;;
                touch) touch -d @1100000000 "$MNT/$file" ;;
                truncate) truncate -s 2 "$MNT/$file" ;;
                look) cat "$MNT/$file" > /dev/null && stat "$MNT/$file" > /dev/null ;;
                esac
                case $second in
                write) echo beside the mount >> "$SOURCE/$file" ;;
                chmod) chmod 604 "$SOURCE/$file" ;;
                touch) touch -d @1200000000 "$SOURCE/$file" ;;
                truncate) truncate -s 7 "$SOURCE/$file" ;;
                link) ln "$SOURCE/$file" "$SOURCE/$file-2" ;;
                esac
            done
        done
        soon "changed on both sides, $i" is_the_same_on_both_sides
    done
    exec 8>> "$MNT/both/open" 9>> "$SOURCE/both/open"
    for i in 1 2 3; do
        echo by the mount >&8
        stat "$MNT/both/open" > /dev/null
        echo beside it >&9
        soon "written on both sides, $i" is_the_same_on_both_sides
        echo beside it >&9
        echo by the mount >&8
        soon "written on both sides again, $i" is_the_same_on_both_sides
    done
    echo beside it >&9
    exec 8>&-
    soon 'written beside before the close in the mount' is_the_same_on_both_sides
    exec 9>&-
    expect_equal 'content' "$(cat "$SOURCE/both/open")" "$(cat "$MNT/both/open")"
    rm -r "$SOURCE/both"
}

links() { # DOCUMENT
    ls -r "$MNT/similar/$1" | xargs
}
documents() {
    "$KINFS" status --json "$MNT" | sed -n 's/.*"documents": *\([0-9]*\).*/\1/p'
}

# Looked at in another document's view, which asks for nothing to be looked at again.
changes_are_sketched() {
    find "$SOURCE" -mindepth 1 -delete
    mkdir -p "$SOURCE/s/t"
    words 1 100 > "$SOURCE/report"
    soon 'a new document' is 1 documents
    words 1 100 > "$SOURCE/s/t/copy"
    soon 'a copy in a new directory' is 100-copy links report
    words 101 10 >> "$SOURCE/s/t/copy"
    soon 'an addition' is 090-copy links report
    mv "$SOURCE/s" "$SOURCE/u"
    soon 'its directory renamed' is ../../u/t/copy readlink "$MNT/similar/report/090-copy"
    mv "$SOURCE/u/t/copy" "$SOURCE/draft"
    soon 'renamed' is 090-draft links report
    words 1 100 > "$SOURCE/.draft"
    mv "$SOURCE/.draft" "$SOURCE/draft"
    soon 'saved as editors do' is 100-draft links report
    exec 9> "$SOURCE/log"
    words 1 110 >&9
    soon 'one who writes and goes on' is '100-draft 090-log' links report
    exec 9>&-
    rm "$SOURCE/draft"
    soon 'removed' is 090-log links report
    mv "$SOURCE/log" "$SCRATCH/log"
    soon 'moved out of the tree' is '' links report
    mkdir "$SCRATCH/w"
    mv "$SCRATCH/log" "$SCRATCH/w/log"
    mv "$SCRATCH/w" "$SOURCE/w"
    soon 'moved into it with its directory' is 090-log links report
    rm -r "$SOURCE/w"
    soon 'removed with it' is '' links report
}

# More at once than inotify's queue holds: while the daemon stands still nobody takes from it.
# overflow_queue DIRECTORY: in that one, and then a copy of the report in a new one, late.
needs_small_queue() {
    queue=$(< /proc/sys/fs/inotify/max_queued_events)
    ((queue <= 20000)) || skip "fs.inotify.max_queued_events is $queue"
}
overflow_queue() {
    local pid
    pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
    kill -STOP "$pid"
    seq "$queue" | (cd "$1" && xargs -n 1000 touch && seq "$queue" | xargs -n 1000 rm)
    mkdir "$SOURCE/late"
    words 1 100 > "$SOURCE/late/copy"
    kill -CONT "$pid"
    soon 'what was missed' is 100-copy links report
    words 1 110 > "$SOURCE/late/other"
    soon 'in a directory that was missed' is '100-copy 090-other' links report
}
