#!/usr/bin/env bash
# What is changed beside the mount of an ordinary user, who has inotify to see it.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged watch_beside watch_settle
