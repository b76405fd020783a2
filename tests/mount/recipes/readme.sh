#!/usr/bin/env bash
# What README.md shows of five versions of a contract is so: its commands are run again, and print the same lines in any order, each
# estimate within 0.2, and what is counted to the last digit.
. "${0%/mount/*}/lib/shell/recipe.sh"
root=$(cd "$LIB/../.." && pwd)

export HOME=$SCRATCH/home
sed -n '/^\$ docs\/examples\/contract/,/^```$/{/^```/!p}' "$root/README.md" > shown
[[ -s shown ]] || fail 'no run is shown'
cd "$root"
while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line != '$ '* ]] || bash -c "${line#'$ '}" 2> /dev/null
done < <(grep '^\$ ' "$SCRATCH/shown") > "$SCRATCH/run"
cd "$SCRATCH"

# with_command FILE: each line behind the command that printed it, and the estimate in it last.
with_command() {
    awk '/^\$ / { command = $0; next }
        command ~ /--exact/ { print command "\t" $0; next }
        match($0, /^0[0-9][0-9]-/) { print command "\t" substr($0, 5) "\t" substr($0, 1, 3) / 100; next }
        match($0, /^0\.[0-9]+\t/) { print command "\t" substr($0, RLENGTH + 1) "\t" substr($0, 1, RLENGTH - 1); next }
        { print command "\t" $0 "\t0" }' "$1" | LC_ALL=C sort
}
with_command shown > shown_lines
with_command run > run_lines
# Without the estimates they are the same.
paste -d '\n' shown_lines run_lines | awk -F '\t' '
    function rest() { end = $NF; $NF = ""; return $0 }
    NR % 2 { shown = rest(); estimate = end; next }
    rest() != shown || end - estimate > 0.2 || estimate - end > 0.2 || (shown ~ /--exact/ && end != estimate) { print shown, estimate; print $0, end; bad = 1 }
    END { exit bad || NR < 20 }' || fail "it says something else: $(cat run)"
