# bash completion for kinfs(1)

# The argument before the cursor is taken from the line: bash splits it at "=" and ":" (COMP_WORDBREAKS), and replaces only what is
# behind the last of them, so that is what is answered.
_kinfs_answer() { # CANDIDATE...: whole arguments
    local candidate there=${argument%"${argument##*[=:]}"}
    for candidate; do
        [[ $candidate != "$argument"* ]] || COMPREPLY+=("${candidate#"$there"}")
    done
}

_kinfs_paths() { # -d or -f: behind the "=", where there is one
    mapfile -t COMPREPLY < <(compgen "$1" -- "${argument##*=}")
    compopt -o filenames 2> /dev/null
}

# What has a choice of values, as NAME=VALUE of -o or behind "--".
_kinfs_choices() { # NAME
    case $1 in
        tokens) echo words words+tags letters ;;
        stopwords) echo none english arabic armenian basque catalan danish dutch finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian spanish swedish turkish ;;
        stemmer) echo none arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian porter portuguese romanian russian serbian spanish swedish tamil turkish yiddish ;;
        policy) echo default broder1997 ;;
        mode) echo exact fast center broder1997 supershingle haveliwala2000 ;;
        bags) echo anchor content both ;;
        phase) echo sketch duplicates sort pairs merge clusters filter center ;;
        sketch) kinfs compare --sketch=help 2> /dev/null | cut -d ' ' -f 1 ;;
        do) echo list trash link reflink ;;
        format) echo restic borg rsync tar bsdtar rclone duplicity kopia plain0 ;;
        watch) echo auto fanotify inotify none ;;
        topics) echo off content anchor both ;;
        views) echo similar contains within clusters unique none listed hidden ;;
    esac
}

_kinfs_option() { # PREFIX NAME=...: each with its values
    local prefix=$1 name value values
    shift
    for name; do
        values=
        [[ $name != *= ]] || values=$(_kinfs_choices "${name%=}")
        [[ $values ]] || _kinfs_answer "$prefix$name"
        for value in $values; do
            _kinfs_answer "$prefix$name$value"
        done
    done
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
}

_kinfs() {
    local command=${COMP_WORDS[1]} line=${COMP_LINE:0:COMP_POINT} argument before point
    argument=${line##*[[:space:]]}
    before=${line%"$argument"}
    before=${before%"${before##*[![:space:]]}"}
    before=${before##*[[:space:]]}
    COMPREPLY=()
    local stem= # of options that are joined to their letter or name
    case $command:$argument in
        mount:--options=*) stem=--options= before=-o ;;
        mount:-o?*) stem=-o before=-o ;;
    esac
    if ((COMP_CWORD == 1)); then
        _kinfs_answer mount umount scan settle status similar passages related topics copies basis clusters watch report map group pairs mirrors lost history changes shingles cluster links compare explain bag stopwords classify distinct skip restore-list tidy check rebuild stores forget help --help --version
        return
    fi
    case $command:$before in
        report:-o | map:-o) _kinfs_paths -f; return ;;
        report:--members | map:--members) return ;;
    esac
    case $before in
        -o | --options)
            local listed=$stem last=${argument#"$stem"}
            [[ $last != *,* ]] || listed=${argument%,*},
            last=${last##*,}
            case $last in
                views=*:*) _kinfs_option "$listed${last%:*}:" similar contains within passages related topics lost clusters unique listed hidden; return ;;
                representative=*) _kinfs_option "$listed" representative={oldest,newest,shortest-path,largest,most-central}; return ;;
                stand_in=*) _kinfs_option "$listed" stand_in={owner,anyone}; return ;;
                store=* | config=* | log=*)
                    _kinfs_paths -f
                    return ;;
            esac
            _kinfs_option "$listed" threshold= limit= views= near= representative= stand_in= prefer= reference= clusters= store= policy= tokens= stopwords= stemmer= workers= cache= settle_ms= passages passages= topics= keep_lost= config= exclude= exclude_type= type= min_size= max_size= log= watch= \
                nosketch list_xattr robots allow_other noallow_other passthrough nopassthrough debug ro suid nosuid dev nodev noexec noatime relatime strictatime nodiratime lazytime
            return ;;
        -p | --policy | --tokens | --stopwords | --stemmer | --mode | --bags | --phase | --sketch | --format | --do | --topics)
            [[ $before != -p ]] || before=--policy
            local value
            for value in $(_kinfs_choices "${before#--}"); do
                _kinfs_answer "$value"
            done
            return ;;
        -s | --store | --scratch | --keep | --as | --trash | --in) _kinfs_paths -d; return ;;
        -[cT] | --config | --output | --tree | --ignore | --kept | --dropped | --against | --undo-file) _kinfs_paths -f; return ;;
        -[tnwi] | --threshold | --limit | --workers | --id | --explain | --clusters | --passages | --clustering | --timeout | --top | --memory | --threads | --within | --shingle | --min | --near | --decay | --documents | --most | --words | --window | --ignore-common | --text-field | --id-field | --since | --by) return ;;
    esac
    case $argument in
        --store=* | --scratch=* | --keep=* | --as=* | --trash=* | --in=*) _kinfs_paths -d; return ;;
        --config=* | --output=* | --tree=* | --ignore=* | --kept=* | --dropped=* | --against=* | --apply=* | --undo=* | --undo-file=*) _kinfs_paths -f; return ;;
        -*)
            local options=--help
            case $command in
                mount) options+=" --foreground --sloppy --options=" ;;
                umount) options+=" --lazy --force --json" ;;
                scan) options+=" --exclude= --type= --exclude-type= --min-size= --max-size= --config= --policy= --tokens= --stopwords= --stemmer= --passages --passages= --topics= --workers= --json --store=" ;;
                settle) options+=" --timeout= --json --store=" ;;
                status) options+=" --json --store=" ;;
                similar) options+=" --threshold= --limit= --containing --contained --absolute --tree= --json --null --store=" ;;
                passages) options+=" --words= --ignore-common= --ignore= --limit= --absolute --tree= --config= --json --null --store=" ;;
                stopwords) options+=" --top= --plain --tokens= --stemmer= --config= --json" ;;
                classify) options+=" --by= --limit= --threshold= --best --tree= --json --null --store=" ;;
                related) options+=" --threshold= --limit= --absolute --tree= --json --null --store=" ;;
                topics) options+=" --id= --explain= --words= --limit= --absolute --json --null --store=" ;;
                copies) options+=" --min= --limit= --absolute --tree= --json --null --store=" ;;
                basis) options+=" --min= --tree= --json --null --store=" ;;
                clusters) options+=" --id= --explain= --members --clustering= --limit= --absolute --json --null --store=" ;;
                watch) options+=" --near= --decay= --exec= --absolute --json --store=" ;;
                report) options+=" --output= --clusters= --members= --passages= --force --config= --json --store=" ;;
                map) options+=" --output= --members= --force --json --store=" ;;
                group) options+=" --config= --all --min= --tree= --json --null --store=" ;;
                pairs) options+=" --min= --between --all --exact --absolute --json --store=" ;;
                mirrors) options+=" --min= --near= --documents= --most= --absolute --json --store=" ;;
                cluster) options+=" --threshold= --mode= --bags= --window= --policy= --config= --exclude= --type= --exclude-type= --min-size= --max-size= --memory= --scratch= --threads= --stored --store= --keep= --phase= --jsonl --text-field= --id-field= --kept= --dropped= --against= --strict --zst --costs --json --null" ;;
                links) options+=" --broken --to --in= --json" ;;
                lost) options+=" --threshold= --limit= --absolute --json --null --store=" ;;
                history) options+=" --json --store=" ;;
                changes) options+=" --since= --by= --json --store=" ;;
                shingles) options+=" --top= --json --store=" ;;
                compare) options+=" --exact --resample --sketch= --within= --shingle= --tokens= --stopwords= --stemmer= --config= --json --store=" ;;
                explain) options+=" --words= --limit= --config= --json --html" ;;
                bag) options+=" --limit= --window= --tokens= --stopwords= --stemmer= --config= --json" ;;
                distinct) options+=" --undo --json --store=" ;;
                skip) options+=" --format= --keep --as= --config= --json --store=" ;;
                restore-list) options+=" --apply --json" ;;
                tidy) options+=" --do= --near --apply= --undo-file= --trash= --undo= --config= --json --store=" ;;
                check) options+=" --deep --repair --config= --workers= --json --store=" ;;
                stores | forget) options+=" --json" ;;
                rebuild) options+=" --config= --workers= --json --store=" ;;
            esac
            local -a long=()
            local option
            for option in $options; do
                long+=("${option#--}")
            done
            _kinfs_option -- "${long[@]}"
            return ;;
    esac
    case $command in
        help) _kinfs_answer mount umount scan settle status similar passages related topics copies basis clusters watch report map group pairs mirrors lost history changes shingles cluster links compare explain bag stopwords classify distinct skip restore-list tidy check rebuild stores forget help; return ;;
        forget)
            local store
            for store in $(kinfs stores 2> /dev/null | cut -f 4); do
                _kinfs_answer "$store"
            done
            return ;;
        umount)
            # Anybody names mount points, and compgen -W would run the commands that are in a name.
            while read -r point; do
                printf -v point %b "$point"
                _kinfs_answer "$point"
            done < <(findmnt -rno TARGET -t fuse.kinfs 2> /dev/null)
            compopt -o filenames 2> /dev/null
            ;;
        mount | scan) _kinfs_paths -d ;;
        *) _kinfs_paths -f ;;
    esac
}
complete -F _kinfs kinfs
