#!/usr/bin/env bash
# The tree passed through, for an ordinary user.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged pass_behind pass_locks pass_hidden_store pass_over_itself pass_refusals \
    command_mount command_crash command_nosketch
