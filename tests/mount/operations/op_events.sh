#!/usr/bin/env bash
. "${0%/mount/*}/lib/shell/operations.sh"
compare_operations events
