#!/usr/bin/env bash
# Operations compared with a plain directory, for an ordinary user.
# Begins early: it is sixteen tests.
. "${0%/mount/*}/lib/shell/run_unprivileged.sh"
run_unprivileged op_attributes op_contents op_controls op_copies op_direct op_events op_extended op_identities \
    op_links op_listings op_locks op_maps op_names op_opens op_renames op_special
