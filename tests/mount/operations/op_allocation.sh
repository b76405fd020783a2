#!/usr/bin/env bash
# Runs last: it asks for more than there is, and the disk is full for others until it is told so.
. "${0%/mount/*}/lib/shell/operations.sh"
compare_operations allocation
