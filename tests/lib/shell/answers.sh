# Sourced by tests of what an index answers: what it says of a tree, to be compared with what another says.
# shellcheck shell=bash

# clusters_of [OPTION...] PATH: by their representatives and without their ids, their members with numbers.
clusters_of() {
    {
        "$KINFS" clusters "$@" | cut -f 2- &&
            "$KINFS" clusters --members "$@" | cut -f 1,2,5 |
                awk -F '\t' -v OFS='\t' '$1 != id { id = $1; representative = $3 } { $1 = representative; print }'
    } | LC_ALL=C sort
}

# What resembles one document in ten of SOURCE, down to little. Asked of a store without a daemon, each question opens the store, and
# nothing is looked at again on the way.
kin_in_source() {
    local file
    find "$SOURCE" -type f | LC_ALL=C sort | sed -n '1~10p' | while IFS= read -r file; do
        echo "$file"
        "$KINFS" similar --limit=0 --threshold=0.3 "$file" || [[ $? = 1 ]]
    done
}
