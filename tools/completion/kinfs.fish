# fish completion for kinfs(1)
set -g __kinfs_policy default broder1997
set -g __kinfs_types text html xml table roff mail markdown json notebook rtf latex wiki pdf office epub extracted binary
set -g __kinfs_tokens words words+tags letters
set -g __kinfs_stopwords none english arabic armenian basque catalan danish dutch finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian russian spanish swedish turkish
set -g __kinfs_stemmer none arabic armenian basque catalan danish dutch english finnish french german greek hindi hungarian indonesian irish italian lithuanian nepali norwegian porter portuguese romanian russian serbian spanish swedish tamil turkish yiddish
set -g __kinfs_mode exact fast center broder1997 supershingle
set -g __kinfs_phase sketch duplicates sort pairs merge clusters
complete -c kinfs -n __fish_use_subcommand -f -a mount -d 'mount a tree of documents with its views'
complete -c kinfs -n __fish_use_subcommand -f -a umount -d 'unmount it and wait for the daemon to end'
complete -c kinfs -n __fish_use_subcommand -f -a scan -d 'index a tree without a mount, or again'
complete -c kinfs -n __fish_use_subcommand -f -a settle -d 'wait until every document is sketched'
complete -c kinfs -n __fish_use_subcommand -f -a status -d 'what an index holds and does'
complete -c kinfs -n __fish_use_subcommand -f -a similar -d 'which documents resemble one'
complete -c kinfs -n __fish_use_subcommand -f -a clusters -d 'which clusters there are, or who is in one'
complete -c kinfs -n __fish_use_subcommand -f -a group -d 'of the paths of a search, one of each cluster'
complete -c kinfs -n __fish_use_subcommand -f -a pairs -d 'all pairs of documents that resemble each other'
complete -c kinfs -n __fish_use_subcommand -f -a cluster -d 'which documents resemble each other, without an index'
complete -c kinfs -n __fish_use_subcommand -f -a shingles -d 'what most documents have in common'
complete -c kinfs -n __fish_use_subcommand -f -a compare -d 'how alike two documents are'
complete -c kinfs -n __fish_use_subcommand -f -a explain -d 'which passages two documents share'
complete -c kinfs -n __fish_use_subcommand -f -a check -d 'whether what is stored is whole'
complete -c kinfs -n __fish_use_subcommand -f -a rebuild -d 'make everything derived anew'
complete -c kinfs -l help -d 'tell more'
complete -c kinfs -n '__fish_seen_subcommand_from scan settle status similar clusters group pairs cluster shingles compare explain check rebuild' -s j -l json -d 'print JSON'
complete -c kinfs -n '__fish_seen_subcommand_from scan settle status similar clusters group pairs cluster shingles compare check rebuild' -s s -l store -r -d 'the store'
complete -c kinfs -n '__fish_seen_subcommand_from similar clusters group cluster' -s 0 -l null -d 'print only paths'
complete -c kinfs -n '__fish_seen_subcommand_from similar group' -s T -l tree -r -d 'tree to ask in'
complete -c kinfs -n '__fish_seen_subcommand_from similar clusters pairs' -s a -l absolute -d 'absolute paths'
complete -c kinfs -n '__fish_seen_subcommand_from similar cluster' -s t -l threshold -x -d 'least resemblance'
complete -c kinfs -n '__fish_seen_subcommand_from similar clusters explain' -s n -l limit -x -d 'most answers'
complete -c kinfs -n '__fish_seen_subcommand_from similar' -l containing -d 'what it is contained in'
complete -c kinfs -n '__fish_seen_subcommand_from clusters' -s i -l id -x -d 'of one cluster'
complete -c kinfs -n '__fish_seen_subcommand_from clusters' -l clustering -x -d 'of a named clustering'
complete -c kinfs -n '__fish_seen_subcommand_from clusters' -s m -l members -d 'of all clusters'
complete -c kinfs -n '__fish_seen_subcommand_from clusters' -l explain -x -d 'how it hangs together'
complete -c kinfs -n '__fish_seen_subcommand_from group pairs' -l all -d 'all of equal ones, or of a group'
complete -c kinfs -n '__fish_seen_subcommand_from group pairs' -l min -x -d 'least resemblance'
complete -c kinfs -n '__fish_seen_subcommand_from pairs' -l between -d 'of two directories'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l mode -x -a "$__kinfs_mode" -d 'how'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l stored -d 'sketches of the store'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l keep -r -d 'leave what phases make'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l phase -x -a "$__kinfs_phase" -d 'begin with'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l memory -x -d 'most memory'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l exclude -x -d 'leave out'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l exclude-type -x -a "$__kinfs_types" -d 'leave out documents of a type'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l min-size -x -d 'of a document'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l max-size -x -d 'of a document'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l scratch -r -d 'for what does not fit'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l threads -x -d 'threads'
complete -c kinfs -n '__fish_seen_subcommand_from cluster' -l costs -d 'what each phase took'
complete -c kinfs -n '__fish_seen_subcommand_from shingles' -l top -x -d 'how many'
complete -c kinfs -n '__fish_seen_subcommand_from pairs compare' -s e -l exact -d 'from the texts'
complete -c kinfs -n '__fish_seen_subcommand_from compare' -l resample -d 'under a fresh key'
complete -c kinfs -n '__fish_seen_subcommand_from compare' -l sketch -x -a "(kinfs compare --sketch=help 2>/dev/null | string replace -r ' .*' '')" -d 'by another family'
complete -c kinfs -n '__fish_seen_subcommand_from compare' -l within -x -d 'most shingles that differ'
complete -c kinfs -n '__fish_seen_subcommand_from scan cluster' -s p -l policy -x -a "$__kinfs_policy" -d 'of sketches'
complete -c kinfs -n '__fish_seen_subcommand_from scan compare' -l tokens -x -a "$__kinfs_tokens" -d 'what counts'
complete -c kinfs -n '__fish_seen_subcommand_from scan compare' -l stopwords -x -a "$__kinfs_stopwords" -d 'words left out'
complete -c kinfs -n '__fish_seen_subcommand_from scan compare' -l stemmer -x -a "$__kinfs_stemmer" -d 'words by their stems'
complete -c kinfs -n '__fish_seen_subcommand_from scan check rebuild cluster compare explain' -s c -l config -r -d 'the configuration'
complete -c kinfs -n '__fish_seen_subcommand_from explain' -l words -x -d 'least words of a passage'
complete -c kinfs -n '__fish_seen_subcommand_from explain' -l html -d 'print a page'
complete -c kinfs -n '__fish_seen_subcommand_from settle' -l timeout -x -d 'give up after'
function __kinfs_mount_options
    set -l before (commandline -ct | string match -r '.*,'; or echo '')
    set -l options threshold= limit= views={similar,clusters,none,listed,hidden} clusters= store= policy=$__kinfs_policy \
        tokens=$__kinfs_tokens stopwords=$__kinfs_stopwords stemmer=$__kinfs_stemmer workers= cache= settle_ms= config= exclude= exclude_type=$__kinfs_types min_size= max_size= log= \
        watch={auto,fanotify,inotify,none} nosketch list_xattr allow_other noallow_other passthrough nopassthrough debug \
        ro suid nosuid dev nodev noexec noatime relatime strictatime nodiratime lazytime
    printf '%s\n' $before$options
end
complete -c kinfs -n '__fish_seen_subcommand_from mount' -s o -l options -x -a '(__kinfs_mount_options)' -d 'mount options'
complete -c kinfs -n '__fish_seen_subcommand_from mount' -s f -l foreground -d 'stay in front'
complete -c kinfs -n '__fish_seen_subcommand_from umount' -s l -l lazy -d 'when nobody uses it'
complete -c kinfs -n '__fish_seen_subcommand_from umount' -l force -d 'when the daemon hangs'
complete -c kinfs -n '__fish_seen_subcommand_from mount' -l sloppy -d 'pass over unknown options'
complete -c kinfs -n '__fish_seen_subcommand_from check' -s d -l deep -d 'find clusters anew'
complete -c kinfs -n '__fish_seen_subcommand_from check' -s r -l repair -d 'mend what is wrong'
complete -c kinfs -n '__fish_seen_subcommand_from scan check rebuild' -s w -l workers -x -d 'threads'
complete -c kinfs -n '__fish_seen_subcommand_from compare' -l shingle -x -d 'tokens in a shingle'
