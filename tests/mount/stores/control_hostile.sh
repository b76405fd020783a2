#!/usr/bin/env bash
# What listens on a store's socket is asked where it is root or the owner of the store, and what it answers is one clear error where it
# is nothing that a daemon says.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
mkdir -p "$SOURCE"
words 1 100 > "$SOURCE/doc"
STORE=$SCRATCH/store
"$KINFS" scan --store="$STORE" "$SOURCE" > /dev/null
mkfifo alive ready

# listen UID [ROW]
listen() {
    python3 "$LIB/callers/forged_daemon.py" "$STORE" "$@" < alive > ready &
    exec 9> alive
    read -r said < ready && [[ $said = ready ]] || fail 'no daemon'
}
end() {
    exec 9>&-
    wait
}

# not_understood ROW REGEX ARGUMENTS...
not_understood() {
    local row=$1 regex=$2
    shift 2
    listen "$EUID" "$row"
    expect_code 3 "$KINFS" "$1" --store="$STORE" "${@:2}"
    case " $* " in
    *' --json '*) expect_match "$* told $row" "^\{\"error\":\"$regex\"\}$" "$OUT" ;;
    *) expect_match "$* told $row" "^kinfs: $regex$" "$OUT" ;;
    esac
    end
}

answer="the daemon's answer is not understood"
for links in '' ', "weakest_links": null' ', "weakest_links": 5' ', "weakest_links": [1]' ', "weakest_links": {"a": 1}'; do
    not_understood "{\"cluster\": 1, \"size\": 2$links}" "$answer" clusters --explain 1 "$SOURCE"
    not_understood "{\"cluster\": 1, \"size\": 2$links}" "$answer" clusters --absolute --json --explain 1 "$SOURCE"
done
for row in '{"counts": 5}' '{"counts": null}' '{"counts": {"clusterings": 1}}' '{"counts": {"clusterings": ["a"]}}' '{"finding": "a"}'; do
    not_understood "$row" "$answer" check "$SOURCE"
    not_understood "$row" "$answer" check --json "$SOURCE"
done
for how in --deep --json; do
    not_understood '{"other": 1}' "store $STORE: the answer has no counts" check $how "$SOURCE"
done
for row in '"clusterings": 1' '"clusterings": [1]' '"unread": {}' '"unread": [[]]' '"sandbox_without": "a"'; do
    not_understood "{\"sketching\": true, $row}" "$answer" status "$SOURCE"
done
not_understood '{"samples": "a"}' "$answer" shingles "$SOURCE"
for row in '{"event": "left"}' '{"instance": 0, "next": 1}' '[]' '{}'; do not_understood "$row" "$answer" watch "$SOURCE"; done
not_understood '[]' "$answer" similar "$SOURCE/doc"
not_understood '[]' "$answer" copies "$SOURCE/doc"
not_understood '[]' "$answer" basis "$SOURCE/doc"
for row in '{"counts": 5}' '{"progress": []}' '{"a": "a", "b": "b"}' '{"of_a": 5}'; do not_understood "$row" "$answer" mirrors "$SOURCE"; done
for row in '{}' '[]' '{"path": "a"}' '{"generation": 1}' '{"about": 1}'; do not_understood "$row" "$answer" report "$SOURCE" -o page; done
for pairs in 5 '[]' '[1, 2]' '[10001]' '[-2]' '["a"]'; do
    not_understood "{\"members\": [{\"path\": \"a\"}, {\"path\": \"b\"}], \"pairs\": $pairs}" "$answer" map 1 "$SOURCE" -o page
done
for members in 5 '[]' '[5, 5]' '[{"path": 1}, {}]'; do not_understood "{\"members\": $members, \"pairs\": [1]}" "$answer" map 1 "$SOURCE" -o page; done
[[ ! -e page ]] || fail 'a page of nothing'

# -- another user, as who has kept a descriptor from when the socket was his --

((EUID == 0)) || exit 0
listen 54321
for arguments in "status $SOURCE/doc" "check $SOURCE" "similar $SOURCE/doc" "copies $SOURCE/doc" "basis $SOURCE/doc" "mirrors $SOURCE" "clusters $SOURCE" \
    "watch $SOURCE" "report -o page $SOURCE" "map 1 -o page $SOURCE"; do
    # shellcheck disable=SC2086
    expect_code 3 "$KINFS" ${arguments%% *} --store="$STORE" ${arguments#* }
    expect_match "$arguments" "^kinfs: store $STORE is not asked: user 54321 listens on its socket" "$OUT"
done
end
