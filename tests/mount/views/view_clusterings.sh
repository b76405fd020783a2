#!/usr/bin/env bash
# clusters/NAME/ has the clusters of a named clustering, beside those of the default one.
. "${0%/mount/*}/lib/shell/mount.sh"
needs getfattr

value() { getfattr --only-values --absolute-names -n "user.kinfs.$2" "$1"; }
sketched() { "$KINFS" status --json "$MNT" | sed -n 's/.*"sketched_documents": *\([0-9]*\).*/\1/p'; }

mkdir -p "$SOURCE/x"
words 1 100 > "$SOURCE/x/a"
words 11 100 > "$SOURCE/b" # 86 of 106 windows are those of a
words 46 100 > "$SOURCE/c" # 51 of 141, of b 61 of 131: in no cluster of the default
words 9001 1800 > "$SOURCE/whole"
words 9001 480 > "$SOURCE/part" # 476 of 1,796: enough that by no key of a store none of them is sampled
words 9001 480 > "$SOURCE/x/copy"

# What is wrong is named, before anything is mounted.
refused() { expect_code 2 "$KINFS" mount -o "$1" "$SOURCE" "$MNT"; expect_match "$1" "$2" "$OUT"; }
mkdir -p "$MNT"
refused clusters=7:components:0.5 '"7" is no name of a clustering'
refused clusters=near:closest:0.5 '"closest" is no rule'
refused clusters=near:components:2 'a number above 0'
refused clusters=near:components:0.5,near:components:0.6 'clustering near is there a second time'
refused clusters=a:components:0.5,b:components 'clustering b: components takes'
refused ro,b:components:0.5 'no such option'

start
"$KINFS" settle "$MNT"
expect_equal 'clusters of the default' 2 "$(ls "$MNT/clusters" | wc -l)"
stop

# Others come, without a document being read.
start -o clusters=near:components:0.95,loose:components:0.45,parts:components:0.9:containment:0.9,ro,clusters=tight:center:0.5,super:supershingle
"$KINFS" settle "$MNT"
expect_equal 'read' 0 "$(sketched)"
expect_equal 'names' 'loose near parts super tight' "$(ls "$MNT/clusters" | grep -v '^[0-9]' | xargs)"
expect_equal 'ids beside' 2 "$(ls "$MNT/clusters" | grep -c '^[0-9]')"
expect_equal 'state' current "$(value "$MNT/clusters/near" state)"
expect_equal 'near' 1 "$(ls "$MNT/clusters/near" | wc -l)"
expect_equal 'loose' 2 "$(ls "$MNT/clusters/loose" | wc -l)"
expect_equal 'tight' 2 "$(ls "$MNT/clusters/tight" | wc -l)"
expect_equal 'one of a and b is the centre' 2 "$(ls "$MNT/clusters/tight/$(value "$MNT/b" cluster.tight)" | grep -cE '^(100|081)-[ab]$')"
expect_equal 'super shingles' "$(value "$MNT/part" cluster.super)" "$(value "$MNT/x/copy" cluster.super)"
id=$(value "$MNT/x/a" cluster.loose)
expect_equal 'all three' "$id" "$(value "$MNT/c" cluster.loose)"
getfattr -n user.kinfs.cluster "$MNT/c" 2> /dev/null && fail 'c is in a cluster of the default'
getfattr -n user.kinfs.cluster.none "$MNT/c" 2> /dev/null && fail 'in a clustering that is not'
cluster=$MNT/clusters/loose/$id
expect_equal 'size' 3 "$(value "$cluster" size)"
for link in "$cluster"/*; do
    [[ $(readlink "$link") = ../../../* ]] || fail "$link leads elsewhere"
    cat "$link" > /dev/null
done
id=$(value "$MNT/whole" cluster.parts)
expect_equal 'the part' "$id" "$(value "$MNT/part" cluster.parts)"
expect_equal 'members' '100-whole' "$(ls "$MNT/clusters/parts/$id" | grep whole)"
expect_equal 'from .kinfs' '../../../../whole' "$(readlink "$MNT/.kinfs/clusters/parts/$id/100-whole")"
for name in 0 01 none "$(value "$MNT/whole" cluster.parts)x" near; do
    [[ ! -e $MNT/clusters/near/$name ]] || fail "clusters/near/$name is there"
done
[[ -e $MNT/clusters/CACHEDIR.TAG ]] || fail 'no CACHEDIR.TAG'

# And the command.
expect_equal 'clusters of loose' 2 "$("$KINFS" clusters --clustering=loose "$MNT" | wc -l)"
expect_equal 'members of one' 3 "$("$KINFS" clusters --clustering=parts "$MNT/whole" | wc -l)"
expect_equal 'by id' 3 "$("$KINFS" clusters --clustering=parts -i "$id" "$MNT" | wc -l)"
"$KINFS" clusters --clustering=parts --explain="$id" "$MNT" | grep -q 'documents       3' || fail 'not explained'
expect_code 3 "$KINFS" clusters --clustering=other "$MNT"
expect_match 'no such clustering' 'no clustering other' "$OUT"
"$KINFS" status "$MNT" | grep -q '^  loose .*2, with 5 documents (components:0.45)' || fail 'not in the status'

# They follow what is written.
stop
start -o clusters=near:components:0.95,loose:components:0.45
rm "$MNT/b" "$MNT/whole"
"$KINFS" settle "$MNT"
expect_equal 'near' "$(value "$MNT/part" cluster.near)" "$(ls "$MNT/clusters/near")"
getfattr -n user.kinfs.cluster.loose "$MNT/x/a" 2> /dev/null && fail 'a is still in a cluster'
getfattr -n user.kinfs.cluster.loose "$MNT/c" 2> /dev/null && fail 'c is still in a cluster'
expect_equal 'loose' 1 "$(ls "$MNT/clusters/loose" | wc -l)"
[[ ! -e $MNT/clusters/parts ]] || fail 'parts is there'
stop

# By the configuration; an option of the same name comes first.
printf '[clustering "near"]\nrule = components:0.3\n[clustering "also"]\nrule = components:0.6\n' > "$SCRATCH/conf"
start -o "config=$SCRATCH/conf,clusters=near:components:0.7"
"$KINFS" settle "$MNT"
"$KINFS" status "$MNT" > "$SCRATCH/status"
grep -q '^  near .*(components:0.7)' "$SCRATCH/status" || fail 'near'
grep -q '^  also .*(components:0.6)' "$SCRATCH/status" || fail 'also'
stop

# What a batch makes of the sketches stands in the store, and is made anew after changes.
shown() {
    local cluster link
    for cluster in "$MNT/clusters/$1"/*/; do
        for link in "$cluster"*; do readlink "$link"; done | sed 's|^\.\./\.\./\.\./||' | sort | xargs
    done | sort
}
batch() {
    "$KINFS" cluster --stored --mode="$1" -t "$2" "$SOURCE" |
        awk -F '\t' -v root="$SOURCE/" '{ sub(root, "", $2); of[$1] = of[$1] " " $2 } END { for (i in of) print substr(of[i], 2) }' | sort
}
for i in 1 2 3 4 5 6; do words $((20000 + 40 * i)) 400; done > "$SOURCE/long"
for i in 1 2 3 4 5; do words $((20000 + 40 * i)) 400; done > "$SOURCE/longer"
start -o clusters=paper:broder1997:0.3,quick:fast:0.4
"$KINFS" settle "$MNT"
expect_equal 'state' current "$(value "$MNT/clusters/paper" state)"
expect_equal 'equal documents' "$(value "$MNT/part" cluster.paper)" "$(value "$MNT/x/copy" cluster.paper)"
"$KINFS" status "$MNT" | grep -q '^  paper .* (broder1997:0.3)$' || fail 'paper is not in the status'
before=$(value "$MNT/part" cluster.paper)
expect_match 'no loss' 'left out +none of [1-9][0-9]* shared shingles' "$("$KINFS" clusters --clustering=paper --explain="$before" "$MNT")"
expect_match 'counted' "  paper +[1-9][0-9]*, with [1-9][0-9]* documents"$'\n'"  quick +[1-9]" "$("$KINFS" check "$MNT")"
cp "$SOURCE/long" "$MNT/more"
rm "$MNT/longer"
# While the tree does not come to rest they are behind it.
(for ((i = 0; ; i++)); do words "$i" 50 > "$MNT/busy" && [[ ! -e $SCRATCH/enough ]] && sleep 0.05 || break; done) &
writer=$!
is_stale() { [[ $(value "$MNT/clusters/paper" state) == stale && $(value "$MNT/clusters/paper/$before" state) == stale ]]; }
says_stale() { "$KINFS" status "$MNT" | grep -q '^  paper .*; stale$'; }
soon 'the clustering and its clusters are stale' is_stale
soon 'the status says so' says_stale
touch "$SCRATCH/enough" # not by a signal, which whom it has started would outlive
wait "$writer" || true
"$KINFS" settle "$MNT"
expect_equal 'state' current "$(value "$MNT/clusters/paper" state)"
expect_equal 'state of a cluster' current "$(value "$MNT/clusters/paper/$before" state)"
expect_equal 'the id' "$before" "$(value "$MNT/part" cluster.paper)"
expect_equal 'the copy' "$(value "$MNT/long" cluster.paper)" "$(value "$MNT/more" cluster.paper)"
paper=$(shown paper) quick=$(shown quick)
stop
expect_equal 'as kinfs cluster says it' "$(batch broder1997 0.3)" "$paper"
expect_equal 'and by its other mode' "$(batch fast 0.4)" "$quick"
