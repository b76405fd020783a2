#!/usr/bin/env bash
. "$(dirname "$0")/../lib/locked_files.sh"
on ext4
run_locked
