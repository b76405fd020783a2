#!/usr/bin/env bash
# An overlay passes each read on to the file system below.
. "${0%/mount/*}/lib/shell/locked_files.sh"
on xfs
mkdir disk/upper disk/work overlay
mount -t overlay -o "lowerdir=$SOURCE,upperdir=disk/upper,workdir=disk/work" overlay overlay || skip 'cannot mount an overlay here'
SOURCE=$SCRATCH/overlay
run_locked
