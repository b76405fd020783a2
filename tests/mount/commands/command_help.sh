#!/usr/bin/env bash
# Every command explains itself; wrong usage is exit code 2 and says so on standard error.
. "${0%/mount/*}/lib/shell/mount.sh"

expect_match 'version' '^kinfs [0-9]+\.[0-9]+\.[0-9]+$' "$("$KINFS" --version)"
expect_equal '-V' "$("$KINFS" --version)" "$("$KINFS" -V)"
help=$("$KINFS" --help)
declare -A means=() # a letter in all commands: its long option
names=$(sed -nE 's/^  ([^ ]+) .*/\1/p' <<< "$help")
expect_match 'help in --help' "'kinfs help COMMAND'" "$help"
expect_equal 'help help' "$help" "$("$KINFS" help help)"
for command in $names; do
    of_command=$("$KINFS" "$command" --help)
    expect_match "$command --help" "^Usage: kinfs $command " "$of_command"
    expect_equal "help $command" "$of_command" "$("$KINFS" help "$command")"
    if [[ $command == mount ]]; then
        all=$(sed -n 's/^.Cm \(similar:[a-z:]*unique\)$/\1/p' "$LIB/../../docs/man/kinfs.1")
        [[ $(tr -d ' \n' <<< "$of_command") == *"views=Vwhichviewsareintheroot:${all:?}(default)"* ]] ||
            fail "kinfs mount --help has other views than the manual: $all"
        # What is broken by the end of a line of 79 characters begins at the first of the next.
        ! sed '1,/^Options of -o/d' <<< "$of_command" | grep '^[^ ]' || fail "a row of kinfs mount --help is too long"
    fi
    while read -r letter long; do
        [[ $command$letter != mount-o ]] || continue # as mount(8) has it
        expect_equal "$letter in $command and before" "${means[$letter]:=$long}" "$long"
    done < <(sed -nE 's/^ +(-[^-]), (--[a-z-]+).*/\1 \2/p' <<< "$of_command")
    expect_code 2 "$KINFS" "$command" --no-such-option
    expect_match "$command" "kinfs $command --help" "$OUT"
done
expect_equal 'letters were found' --help "${means[-?]:-}"
expect_code 2 "$KINFS"
expect_code 2 "$KINFS" frobnicate
expect_match 'names what is wrong' "no command 'frobnicate'" "$OUT"
expect_code 2 "$KINFS" help frobnicate
expect_match 'names what is wrong' "no command 'frobnicate'" "$OUT"
expect_code 2 "$KINFS" similar
expect_code 2 "$KINFS" similar a b
expect_code 2 "$KINFS" similar --threshold=2 a
expect_code 2 "$KINFS" similar --json -0 a
expect_code 2 "$KINFS" compare a
expect_code 2 "$KINFS" compare --shingle=3 a b
expect_code 2 "$KINFS" mount -o threshold=x a b
expect_code 2 "$KINFS" mount -o nonsense a b
expect_match 'names the option' '-o nonsense' "$OUT"

# All exit codes that the manual has are in --help, and the manual is one.
manual=$LIB/../../docs/man/kinfs.1
codes=$(sed -n '/^.Sh EXIT STATUS/,/^.Sh EXAMPLES/s/^\.It \([0-9]\)$/\1/p' "$manual" | xargs)
expect_equal 'exit codes' "$codes" "$(sed -n 's/^Exit codes: //p' <<< "$help" | grep -o '[0-9]' | xargs)"
if command -v mandoc > /dev/null; then
    expect_code 0 mandoc -T lint -W warning "${manual%/*}"/*
    expect_equal 'the manual' '' "$OUT"
fi

# A page a command is made of its help, and has all words of that in their order.
pages=$LIB/../../tools/command-pages
mkdir pages
if command -v python3 > /dev/null && command -v mandoc > /dev/null; then
    # shellcheck disable=SC2086
    "$pages" "$KINFS" pages $names
    for command in $names; do
        expect_code 0 mandoc -T lint -W warning "pages/kinfs-$command.1"
        expect_equal "kinfs-$command(1)" '' "$OUT"
        shown=$(mandoc -T ascii -O width=1000 "pages/kinfs-$command.1" | col -b | tr -s '[:space:]' ' ')
        while read -r line; do
            [[ $shown == *"$line"* ]] || fail "kinfs-$command(1) does not have: $line"
        done < <("$KINFS" "$command" --help | sed -E '/^Mandatory or optional/,/^for any/d; s/^(Usage|  or): +//; s/^ *(-., )?(--[^ ]*)/\2\n/' |
            tr -s ' ' | sed 's/^Options of -o:/OPTIONS OF -o/')
    done
    expect_code 1 "$pages" "$KINFS" pages frobnicate
    expect_match 'names what is wrong' 'has no command frobnicate' "$OUT"
    expect_code 2 "$pages" "$KINFS" pages
fi

# The sample configuration says nothing as it is; with all its settings it is one that is taken, and has all there are.
sample=$LIB/../../docs/examples/kinfs.conf
mkdir tree
expect_code 0 "$KINFS" scan -c "$sample" -s "$SCRATCH/as-it-is" tree
sed -E 's/^#([^ ])/\1/; s/^(command = ).*/\1\/bin\/cat/' "$sample" > all.conf
expect_equal 'settings' '' "$(sed -E '/^(# .*|#)?$/d; s/^#([^ ])/\1/; /^(\[|[a-z_]+ = )/d' "$sample")"
expect_code 0 "$KINFS" scan -c "$PWD/all.conf" -s "$SCRATCH/all" tree
settings=$(sed -n 's/^\.It Cm \([a-z_]*\) No =.*/\1/p' "${manual%/*}/kinfs.conf.5" | sort -u)
expect_equal 'of the manual' "$settings" "$(sed -nE 's/^#([a-z_]+) = .*/\1/p' "$sample" | sort -u)"
echo 'nonsense = 1' >> all.conf
expect_code 2 "$KINFS" scan -c "$PWD/all.conf" -s "$SCRATCH/all" tree
for setting in $(grep -o 'there are [a-z_, and]*' <<< "$OUT" | sed 's/^there are//; s/, / /g; s/ and / /'); do
    grep -qx "$setting" <<< "$settings" || fail "kinfs.conf(5) does not have $setting"
done
# It has all commands, and in what it says of each, all options: by their letters there, and by their long names there or elsewhere.
expect_equal 'commands in the manual' "$(sort <<< "$names")" "$(sed -n '/^.Sh COMMANDS/,/^.Sh/s/^\.It Cm \([^ ]*\).*/\1/p' "$manual" | sort -u)"
for command in $names; do
    of_command=$(awk -v name="$command" '/^\.S[hs]/ { part = $2; on = 0 } part == "SYNOPSIS" && /^\.Cm/ { on = $2 == name }
        part == "COMMANDS" && /^\.It Cm/ { on = $3 == name } on' "$manual")
    while IFS=, read -r letter long; do
        grep -q -e "Fl -$long\b" "$manual" || fail "the manual has no --$long"
        grep -qE "Fl (-$long\b|[a-zA-Z0-9]*${letter:--})" <<< "$of_command" || fail "the manual says nothing of kinfs $command --$long"
    done < <("$KINFS" "$command" --help | sed -nE 's/^ +(-(.), |    )--([a-z-]+).*/\2,\3/p' | grep -vxE '\?,help|,usage')
done

# A kernel is forced, or the command refuses.
KINFS_KERNEL=scalar expect_code 0 "$KINFS" --version
KINFS_KERNEL=abacus expect_code 2 "$KINFS" --version
expect_match 'names what is there' 'KINFS_KERNEL=abacus: this machine has scalar' "$OUT"

# Standard output that cannot be written is a failure.
if [[ -c /dev/full ]]; then
    mkdir "$SOURCE"
    code=0
    "$KINFS" scan "$SOURCE" > /dev/full 2> err || code=$?
    expect_equal 'full output' 3 "$code"
    expect_match 'full output' 'cannot write' "$(cat err)"
    code=0
    "$KINFS" compare --sketch=help > /dev/full 2> err || code=$?
    expect_equal 'a list' 3 "$code"
    code=0 # an error that was noticed before the end, whose reason is lost
    "$KINFS" check --repair "$SOURCE" > /dev/full 2> err || code=$?
    expect_equal 'before the end' '3 kinfs: cannot write the output' "$code $(cat err)"
fi
