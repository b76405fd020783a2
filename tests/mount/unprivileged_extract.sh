#!/usr/bin/env bash
# Extractors of an ordinary user, who is nobody else in them.
. "$(dirname "$0")/../lib/run_unprivileged.sh"
run_unprivileged extract_configured extract_documents
