#!/usr/bin/env bash
# Room taken and given back, compared with a plain directory, for an ordinary user.
# Runs last: it asks for more than there is, and the disk is full for others until it is told so.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged op_allocation
