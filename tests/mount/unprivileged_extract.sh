#!/usr/bin/env bash
# Extractors of an ordinary user, who is nobody else in them.
# Runs alone: fusermount3 reads the list of all mounts, which changes beneath it while others mount.
. "$(dirname "$0")/../lib/run_unprivileged.sh"
run_unprivileged extract_configured extract_documents
