#!/usr/bin/env bash
# With ever less memory a scan and a mount do their work, or end with a line that says what is missing: no uncaught exception, no
# broken pipe, and what was indexed before is there afterwards.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
! grep -q __asan_init "$KINFS" || skip "a sanitizer needs all addresses there are"

mkdir -p "$SOURCE" "$MNT"
python3 - "$SOURCE" <<'END'
import sys
for i in range(300):
    with open(f"{sys.argv[1]}/{i}", "w") as file:
        file.write("\n".join(f"word{n}" for n in range(i, i + 400)))
END
"$KINFS" scan "$SOURCE" > /dev/null

check() { # KIB WHAT EXIT_CODE: what was said is in `said`
    ! grep -E 'terminate called|Aborted|roken pipe|core dumped' said || fail "$2 with $1 KiB: exit code $3, and see above" 1
    [[ $3 = 0 || $3 = 3 ]] || fail "$2 with $1 KiB: exit code $3: $(< said)" 1
    [[ $3 = 0 ]] || grep -qiE '^kinfs: .*\b(memory|thread|ulimit)' said || fail "$2 with $1 KiB: exit code 3, and what is missing is not said: $(< said)" 1
}

n_done=0
n_refused=0
for kib in 150000 200000 250000 300000 350000 400000 450000 500000 1000000 4000000; do
    code=0
    (ulimit -v "$kib" && exec timeout 300 "$KINFS" scan "$SOURCE") > said 2>&1 || code=$?
    [[ $code != 127 ]] || continue # not even the program's libraries fit
    check "$kib" scan "$code"
    ((code ? ++n_refused : ++n_done))
    code=0
    : > log
    (ulimit -v "$kib" && exec timeout 300 "$KINFS" mount -o log="$PWD/log" "$SOURCE" "$MNT") > said 2>&1 || code=$?
    check "$kib" mount "$code"
    timeout 300 "$KINFS" umount "$MNT" > said 2>&1 || true
    ! grep -E 'terminate called|Aborted|roken pipe' said log || fail "a mount with $kib KiB: see above"
    umount -l "$MNT" 2> /dev/null || true
done
((n_done && n_refused)) || fail "$n_done scans had memory, $n_refused had not"

expect_match 'afterwards' '^300 documents' "$("$KINFS" scan "$SOURCE")"
