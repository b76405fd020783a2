#!/usr/bin/env bash
# backup.sh FORMAT TREE LIST SCRATCH: a backup of TREE by a tool, with the list of kinfs skip, and SCRATCH/restored made of it. All the
# tool keeps is in SCRATCH.
set -euo pipefail
format=$1 tree=$2 list=$3
mkdir -p "$4/restored" "$4/whole"
cd "$4"
export HOME=$PWD RESTIC_PASSWORD=x BORG_BASE_DIR=$PWD
case $format in
    restic)
        restic -q -r repository init
        restic -q -r repository backup --exclude-file="$list" "$tree"
        restic -q -r repository restore latest --target whole
        mv "whole$tree" restored/
        ;;
    borg)
        borg init -e none repository
        borg create --exclude-from "$list" repository::backup "$tree"
        (cd whole && borg extract ../repository::backup)
        mv "whole$tree" restored/
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
