#!/usr/bin/env bash
# kinfs tidy by an ordinary user, of that user's own tree.
# Begins early: it is three tests.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged command_tidy command_tidy_killed command_tidy_last
