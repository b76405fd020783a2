#!/usr/bin/env bash
. "${0%/mount/*}/lib/shell/operations.sh"
# Directories are read in one way, and of tens of thousands of names nothing is learnt by sketching them.
WAYS=passthrough
compare_operations listings nosketch
