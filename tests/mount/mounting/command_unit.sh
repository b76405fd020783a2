#!/usr/bin/env bash
# The systemd unit that meson makes is one that systemd understands, and stays as confined as it is.
. "${0%/mount/*}/lib/shell/mount.sh"
needs systemd-analyze
unit=$(dirname "$KINFS")/kinfs@.service
[[ -e $unit ]] || skip "not a build directory: $(dirname "$KINFS")"

mkdir units
# The program need not be installed where the unit will look for it.
sed "s|^ExecStart=[^ ]*/kinfs |ExecStart=$KINFS |" "$unit" > units/kinfs@.service
export SYSTEMD_UNIT_PATH=$SCRATCH/units:
systemd-analyze verify --man=no "$SCRATCH/units/kinfs@srv-docs.service" > verify 2>&1 || fail "$(cat verify)"
expect_equal 'verify' '' "$(grep -F kinfs verify || true)"
# The check itself: a directive that does not exist is told.
sed -i 's/^Type=notify/&\nNoSuchDirective=yes/' units/kinfs@.service
systemd-analyze verify --man=no "$SCRATCH/units/kinfs@srv-docs.service" > verify 2>&1 || true
expect_match 'verify finds' NoSuchDirective "$(cat verify)"

# 49 of 100: what remains is what a mount cannot be without, its namespace and its capabilities.
systemd-analyze security --offline=true --threshold=50 "$SCRATCH/units/kinfs@.service" > security 2>&1 ||
    fail "$(tail -n 3 security)"
