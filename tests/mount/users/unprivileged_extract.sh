#!/usr/bin/env bash
# Extractors of an ordinary user, who is nobody else in them.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged extract_configured extract_documents
