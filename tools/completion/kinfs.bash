# bash completion for kinfs(1)
_kinfs() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local commands="mount umount scan settle status similar clusters shingles cluster compare check rebuild"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
        return
    fi
    case $prev in
        -o)
            mapfile -t COMPREPLY < <(compgen -W "threshold= limit= views= clusters= store= policy= tokens=words+tags stopwords=english stemmer= workers= cache= settle_ms= config= log= watch=auto watch=fanotify watch=inotify watch=none nosketch list_xattr allow_other noallow_other passthrough nopassthrough debug ro nosuid nodev noexec noatime" -- "$cur")
            compopt -o nospace 2>/dev/null
            return ;;
        --tokens) mapfile -t COMPREPLY < <(compgen -W "words words+tags" -- "$cur"); return ;;
        --mode) mapfile -t COMPREPLY < <(compgen -W "exact fast broder1997" -- "$cur"); return ;;
        --scratch) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
        --stopwords) mapfile -t COMPREPLY < <(compgen -W "none english" -- "$cur"); return ;;
        -p | --policy) mapfile -t COMPREPLY < <(compgen -W "default broder1997" -- "$cur"); return ;;
        -c | --config) [[ $command != scan && $command != rebuild && $command != check ]] || { mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null; return; } ;;
        -s | --store) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null; return ;;
        -[tnwi] | --threshold | --limit | --workers | --id | --clustering | --timeout | --shingle | --stemmer | --memory | --threads) return ;;
    esac
    if [[ $cur == -* ]]; then
        local options=--help
        case $command in
            mount) options+=" -o --foreground --sloppy" ;;
            umount) options+=" --lazy --force" ;;
            scan) options+=" --config= --policy= --tokens= --stopwords= --stemmer= --workers= --json --store=" ;;
            settle) options+=" --timeout= --json --store=" ;;
            status) options+=" --json --store=" ;;
            similar) options+=" --threshold= --limit= --containing --absolute --tree= --json --null --store=" ;;
            clusters) options+=" --id= --explain= --clustering= --limit= --absolute --json --null --store=" ;;
            cluster) options+=" --threshold= --mode= --policy= --memory= --scratch= --threads= --stored --store= --keep= --phase= --costs --json --null" ;;
            shingles) options+=" --top= --json --store=" ;;
            compare) options+=" --exact --resample --sketch= --within= --shingle= --tokens= --stopwords= --stemmer= --json --store=" ;;
            check) options+=" --deep --repair --config= --workers= --json --store=" ;;
            rebuild) options+=" --config= --workers= --json --store=" ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        return
    fi
    case $command in
        umount) mapfile -t COMPREPLY < <(compgen -W "$(findmnt -rno TARGET -t fuse.kinfs 2>/dev/null)" -- "$cur") ;;
        mount | scan) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    esac
    compopt -o filenames 2>/dev/null
}
complete -F _kinfs kinfs
