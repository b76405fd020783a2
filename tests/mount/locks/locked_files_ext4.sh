#!/usr/bin/env bash
. "${0%/mount/*}/lib/shell/locked_files.sh"
on ext4
run_locked
