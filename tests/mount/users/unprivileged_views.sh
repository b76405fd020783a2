#!/usr/bin/env bash
# Views, attributes and what commands print, for an ordinary user.
# Begins early: it is eight tests.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged view_fresh view_similar view_clusters view_names view_unique attributes command_answers command_json
