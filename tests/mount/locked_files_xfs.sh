#!/usr/bin/env bash
. "$(dirname "$0")/../lib/locked_files.sh"
on xfs
run_locked
