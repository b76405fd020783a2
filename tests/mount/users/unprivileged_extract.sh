#!/usr/bin/env bash
# Extractors of an ordinary user, who is nobody else in them.
# Runs alone: fusermount3 reads the list of all mounts, which changes beneath it while others mount.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged extract_configured extract_documents
