#!/usr/bin/env bash
# What shells complete: every command, and every long option that its --help has, in bash, zsh and fish; values behind "=" and, of -o, ",".
. "${0%/mount/*}/lib/shell/mount.sh"
completions=$(realpath "$LIB/../../tools/completion")
# shellcheck disable=SC1091
. "$completions/kinfs.bash"
export PATH=${KINFS%/*}:$PATH

complete_line() { # LINE: what bash would offer behind it, a line each, sorted
    local COMPREPLY=() COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD
    # As bash splits it: "=" is a word of its own.
    read -ra COMP_WORDS <<< "${1//=/ = }"
    [[ $1 != *[[:space:]=] ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _kinfs 2> /dev/null
    printf '%s\n' "${COMPREPLY[@]}" | sort
}
offers() { # LINE EXPECTED...
    local line=$1
    shift
    expect_equal "kinfs: '$line'" "$(printf '%s\n' "$@" | sort)" "$(complete_line "$line")"
}

help=$("$KINFS" --help)
mapfile -t commands < <(sed -nE 's/^  ([^ ]+) .*/\1/p' <<< "$help")
offers 'kinfs ' "${commands[@]}" help --help --version
offers 'kinfs help ' "${commands[@]}" help
said=$(sed -nE 's/^  ([^ ]+) +/\1:/p' <<< "$help")
expect_equal 'zsh: commands' "$said" "$(sed -nE "s/^ +'([a-z-]+:.*)'$/\1/p" "$completions/_kinfs")"
expect_equal 'fish: commands' "$said" "$(sed -nE "s/.*_use_subcommand -f -a ([^ ]+) -d '(.*)'$/\1:\2/p" "$completions/kinfs.fish")"
for command in "${commands[@]}"; do
    mapfile -t long < <("$KINFS" "$command" --help | sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p' | grep -v -x -e --help -e --usage)
    [[ $command =~ ^(status|stores|forget)$ || ${#long[@]} -ge 2 ]] || fail "no options in $command --help"
    bash=$(complete_line "kinfs $command --")
    for option in "${long[@]}"; do
        # One that has values is there with each.
        grep -q -x -e "$option=\?" <<< "$bash" || [[ $(complete_line "kinfs $command $option=") ]] || fail "bash: kinfs $command $option is not completed"
        grep -E "^ *$command\)|^ *\*\)" "$completions/_kinfs" | grep -q -e "$option" || fail "zsh: kinfs $command $option is not completed"
        grep -E "_from ([a-z-]+ )*${command}[ ']" "$completions/kinfs.fish" | grep -q -e "-l ${option#--} " || fail "fish: kinfs $command $option is not completed"
    done
done
# Values: those that the message about a wrong one has; each shell has one line of each kind.
for option in 'scan --policy' 'scan --tokens' 'scan --stopwords' 'scan --stemmer' 'cluster --mode' 'cluster --phase' 'skip --format' 'tidy --do'; do
    # shellcheck disable=SC2086
    mapfile -t values < <("$KINFS" $option=x . 2>&1 | sed -n '1{s/.*: //;s/,\? or /, /;s/, /\n/g;p}')
    ((${#values[@]} > 1)) || fail "no values in the message about $option"
    for shell in kinfs.bash _kinfs kinfs.fish; do
        has=$(grep -E "^ *(local kinfs_|set -g __kinfs_)?${option#*--}[ =)]" "$completions/$shell" | tr "'\n" '  ' || true)
        for value in "${values[@]}"; do
            [[ "$has " == *" $value "* ]] || fail "$shell: $option=$value is not completed"
        done
    done
done

offers 'kinfs com' compare
offers 'kinfs cluster --mo' --mode=exact --mode=fast --mode=haveliwala2000 --mode=center --mode=broder1997 --mode=supershingle
offers 'kinfs cluster --mode=' exact fast haveliwala2000 center broder1997 supershingle
offers 'kinfs cluster --mode=f' fast
offers 'kinfs scan --tokens=words+' words+tags
offers 'kinfs mount -o watch=f' fanotify
offers 'kinfs mount -o thr' threshold=
offers 'kinfs mount -o threshold=0.5,watch=i' inotify
offers 'kinfs mount -o nosketch,lim' nosketch,limit=
offers 'kinfs mount --options=watch=f' fanotify
offers 'kinfs mount --options=ro,thr' ro,threshold=
offers 'kinfs mount -owatch=f' fanotify
offers 'kinfs mount -oro,wat' -oro,watch=auto -oro,watch=fanotify -oro,watch=inotify -oro,watch=none
offers 'kinfs mount -o views=similar:h' hidden
offers 'kinfs mount -oro,views=similar:c' clusters contains
offers 'kinfs help sta' status
offers 'kinfs help hel' help
# The value is a word of its own.
offers 'kinfs scan --policy ' default broder1997
offers 'kinfs cluster --mode ' exact fast haveliwala2000 center broder1997 supershingle
offers 'kinfs cluster --mode f' fast
offers 'kinfs scan --tokens words+' words+tags
mkdir -p place/inside
offers 'kinfs check --store=pla' place
offers 'kinfs similar --store=place/in' place/inside
offers 'kinfs similar --store place/in' place/inside
offers 'kinfs cluster --threshold pla' ''
offers 'kinfs mount -o limit=3,store=place/in' place/inside
offers 'kinfs mount pla' place

if command -v fish > /dev/null; then
    expect_equal 'fish' "$(printf '%s\n' broder1997 default)" \
        "$(fish -c "source $completions/kinfs.fish; complete -C 'kinfs scan --policy '" | cut -f 1 | sort)"
    expect_equal 'fish, -o' "$(printf 'ro,watch=%s\n' auto fanotify inotify none)" \
        "$(fish -c "source $completions/kinfs.fish; complete -C 'kinfs mount -o ro,watch='" | cut -f 1 | sort)"
fi
if command -v zsh > /dev/null; then
    zsh -n "$completions/_kinfs" || fail "zsh does not read it"
fi
