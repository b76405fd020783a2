#!/usr/bin/env bash
# Runs alone: it asks for more than there is, and the disk is full for others until it is told so.
. "$(dirname "$0")/../lib/operations.sh"
compare_operations allocation
