#!/usr/bin/env bash
# backup.sh [keep-]FORMAT TREE LIST SCRATCH: a backup of TREE by a tool, with the list of kinfs skip (--keep), and SCRATCH/restored
# made of it. All the tool keeps is in SCRATCH.
set -euo pipefail
format=$1 tree=$2 list=$3
mkdir -p "$4/restored" "$4/whole"
cd "$4"
export HOME=$PWD RESTIC_PASSWORD=x BORG_BASE_DIR=$PWD
case $format in
    restic)
        restic -q -r repository init
        restic -q -r repository backup --exclude-file="$list" "$tree"
        ;;&
    keep-restic)
        restic -q -r repository init
        restic -q -r repository backup --files-from-raw "$list"
        ;;&
    *restic)
        restic -q -r repository restore latest --target whole
        mv "whole$tree" restored/
        ;;
    borg)
        borg init -e none repository
        borg create --exclude-from "$list" repository::backup "$tree"
        ;;&
    keep-borg)
        export LC_ALL=C.UTF-8 # else it refuses names that are no UTF-8
        borg init -e none repository
        borg create --paths-from-stdin --paths-delimiter '\0' repository::backup < "$list"
        ;;&
    *borg)
        (cd whole && borg extract ../repository::backup)
        mv "whole$tree" restored/
        ;;
    keep-rsync) rsync -a -0 --files-from="$list" "$tree/" restored/tree ;;
    keep-tar)
        tar -C "$tree" --no-recursion --null --verbatim-files-from -T "$list" -cf archive
        mkdir restored/tree
        tar -C restored/tree -xpf archive
        ;;
    keep-bsdtar)
        bsdtar -C "$tree" -n --null -T "$list" -cf archive 2> said
        mkdir restored/tree
        bsdtar -C restored/tree -xpf archive 2>> said
        ;;
    rsync) rsync -a -0 --exclude-from="$list" "$tree/" restored/tree ;;
    tar)
        tar -C "$tree" --anchored -X "$list" -cf archive .
        mkdir restored/tree
        tar -C restored/tree -xf archive
        ;;
    bsdtar)
        bsdtar -C "$tree" -X "$list" -cf archive . 2> said # that names are no UTF-8
        mkdir restored/tree
        bsdtar -C restored/tree -xf archive
        ;;
    rclone) rclone -q copy --config "" --exclude-from "$list" "$tree" restored/tree ;;
    duplicity)
        duplicity --no-encryption --null-separator --exclude-filelist "$list" "$tree" "file://$PWD/repository" > said 2>&1
        duplicity restore --no-encryption "file://$PWD/repository" restored/tree > said 2>&1
        ;;
esac
