#!/usr/bin/env bash
. "$(dirname "$0")/../lib/operations.sh"
compare_operations extended
