# Sourced by tests of what an index answers: all it says of the tree SOURCE, to be compared with what another
# says. Asked of a store without a daemon, so that nothing is looked at again on the way.
# shellcheck shell=bash

# Clusters without their ids, their members with numbers.
clusters_of_source() {
    local id rest
    "$KINFS" clusters "$SOURCE" | while IFS=$'\t' read -r id rest; do
        echo "$rest"
        "$KINFS" clusters --id="$id" "$SOURCE"
    done | LC_ALL=C sort
}

# What resembles one document in ten, down to little: each question opens the store.
kin_in_source() {
    local file
    find "$SOURCE" -type f | LC_ALL=C sort | sed -n '1~10p' | while IFS= read -r file; do
        echo "$file"
        "$KINFS" similar --limit=0 --threshold=0.3 "$file" || [[ $? = 1 ]]
    done
}
