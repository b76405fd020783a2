#!/usr/bin/env bash
# What is too short to be found for certain in what contains it, and thresholds below which answers have gaps: both are said, with
# an exit code of their own where nothing was found.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3

mkdir -p "$SOURCE"
words 1 20000 > "$SOURCE/book"
words 50000 116 > "$SOURCE/below" # 112 shingles
words 60000 117 > "$SOURCE/above"
words 70000 10 > "$SOURCE/lonely"
: > "$SOURCE/empty"

ask() { # TREE: nothing of it depends on which keys the store has
    local tree=$1 n i code
    for n in 10 80; do
        for i in 1 2 3; do
            words $((i * 1000)) "$n" > excerpt
            code=0
            "$KINFS" similar --containing --tree "$tree" - < excerpt > out 2> err || code=$?
            expect_match "$n words" '^kinfs: standard input: too short to tell: .* below 113 shingles, 117 words$' "$(< err)"
            expect_equal "$n words" "$([[ -s out ]] && echo 0 || echo 4)" "$code"
            "$KINFS" similar --json --containing --tree "$tree" - < excerpt > json || [[ $? = 4 ]]
            python3 - <<'PYTHON'
import json
rows = [json.loads(line) for line in open('json')]
assert rows and all(row['complete'] is False for row in rows), rows
assert 'path' in rows[0] or rows[0]['incomplete'].startswith('too short to tell'), rows
PYTHON
        done
    done
    for i in 1 2; do
        words $((i * 1000)) 500 > excerpt # missed once in ten million times
        "$KINFS" similar --containing --tree "$tree" - < excerpt > out 2> err
        expect_equal '500 words' "$(printf '0.9999\tbook|')" "$(tr '\n' '|' < out)$(< err)"
        expect_match 'JSON' '"complete":true' "$("$KINFS" similar --json --containing --tree "$tree" - < excerpt)"
    done
    words 90000 500 > excerpt
    expect_code 1 "$KINFS" similar --containing --tree "$tree" - < excerpt
    expect_equal 'nowhere' '' "$OUT"
    expect_code 1 "$KINFS" similar --containing "$tree/above"
    expect_code 4 "$KINFS" similar --containing "$tree/below"
    expect_match 'a document of the tree' "^kinfs: .*below: too short to tell" "$OUT"
    expect_code 4 "$KINFS" similar --containing -0 "$tree/below"
    expect_code 1 "$KINFS" similar --containing "$tree/empty" # what is equal to it is found
    expect_code 1 "$KINFS" similar "$tree/lonely"   # what resembles it at 0.4 is found, however short it is

    expect_code 1 "$KINFS" similar -t 0.26 "$tree/lonely"
    expect_code 1 "$KINFS" similar -t 0.25 "$tree/lonely"
    expect_code 4 "$KINFS" similar -t 0.2499 "$tree/lonely"
    expect_match 'a low threshold' "^kinfs: .*lonely: not complete: what resembles it by less than 0.25 is found by chance" "$OUT"
    expect_match 'JSON' '^\{"incomplete":"not complete: [^"]*","complete":false\}$' "$("$KINFS" similar -t 0.1 --json "$tree/lonely" || true)"
}

"$KINFS" scan "$SOURCE" > scanned
ask "$SOURCE"
start
"$KINFS" settle "$MNT"
ask "$MNT"

query() { # NAME FILE
    (exec 3<> "$MNT/.kinfs/query/$1" && cat "$2" >&3 && cat <&3)
}
expect_match 'a question' '^# too short to tell: ' "$(query x,containing "$SOURCE/lonely" | tail -n 1)"
expect_match 'as records' '^incomplete.too short to tell: ' "$(query x,containing,records "$SOURCE/lonely" | tr '\0\t' '\n.' | head -n 1)"
expect_match 'a low threshold' '^# not complete: ' "$(query x,threshold=0.1 "$SOURCE/lonely" | tail -n 1)"
expect_equal 'nothing is said where nothing is missing' $'1.0000\tlonely' "$(query x "$SOURCE/lonely")"
expect_equal 'nor here' $'1.0000\tabove' "$(query x,containing "$SOURCE/above")"
expect_match 'the manual of the code' 'Exit code 1 .* 4 ' "$("$KINFS" similar --help | xargs)"

# What another user is told of excerpts of `long`, each with its exit code.
as_another() {
    setpriv --reuid=54321 --regid=54321 --clear-groups "$@"
}
told_another() {
    local n code
    for n in 100 130 300 2500 40000; do # the last far above 18,860, as the length is an estimate
        words 1000000 "$n" > excerpt
        code=0
        as_another "$KINFS" similar --containing --tree "$MNT" - < excerpt 2>&1 || code=$?
        echo "$n words: $code"
        as_another "$KINFS" similar --json --containing --tree "$MNT" - < excerpt || true
        as_another bash -c 'exec 3<> "$1" && cat >&3 && cat <&3' _ "$MNT/.kinfs/query/another$n,containing" < excerpt |
            grep '^#' || true
    done
}
others=
if [[ $EUID = 0 ]] && command -v setpriv > /dev/null; then others=yes; fi
if [[ $others ]]; then
    chmod 755 "$SCRATCH"
    before=$(told_another)
fi

# A very long document: of its 449,996 shingles one in 128 is a key (one in 64 were more than 4,096), so that 99 in 100 of
# 588 shingles have one.
words 1000000 450000 > "$SOURCE/long"
ask_long() { # TREE
    local tree=$1 i n code
    for n in 130 200 300; do
        for ((i = 0; i < 3; i++)); do
            words $((1000000 + i * 140000)) "$n" > excerpt
            code=0
            "$KINFS" similar --json --containing --tree "$tree" - < excerpt > json || code=$?
            grep -q '"path"' json || expect_equal "$n words, where nothing is found" 4 "$code"
            expect_equal "$n words" '' "$(grep -v '"complete":false' json || true)"
        done
    done
    code=0
    "$KINFS" similar --containing --tree "$tree" - < excerpt > out 2> err || code=$?
    expect_match '300 words' ': too short to tell: .* below 588 shingles, 592 words$' "$(< err)"
    words 1000000 2500 > excerpt # missed once in three hundred million times
    expect_match '2,500 words' '"path":"long".*"complete":true' "$("$KINFS" similar --json --containing --tree "$tree" - < excerpt)"
}
chmod 600 "$SOURCE/long"
"$KINFS" settle "$MNT"
ask_long "$MNT"
if [[ $others ]]; then
    # One that is hidden changes no word of it, and no code.
    expect_equal 'of what is hidden' "$before" "$(told_another)"
    expect_equal 'codes' '4 4 4 4 1' "$(sed -n 's/^[0-9]* words: //p' <<< "$before" | xargs)"
    expect_match 'too short' 'too short to tell: .* below 113 shingles, 117 words' "$(grep -m 1 '^kinfs:' <<< "$before")"
    expect_equal 'longer' 3 "$(grep -c '^kinfs: .*not complete: certain only of documents of up to 102400 shingles$' <<< "$before")"
    expect_equal 'a question' 3 "$(grep -c '^# not complete: certain only of' <<< "$before")"
    expect_equal 'JSON' 3 "$(grep -c '"not complete: certain only of .*"complete":false' <<< "$before")"
    # Of one that is not, nobody is told that it contains nothing.
    chmod 644 "$SOURCE/long"
    told=$(told_another)
    expect_equal 'none' '' "$(grep ' words: 1$' <<< "$told" || true)"
    expect_match 'long enough' '"path":"long".*"complete":true' "$(grep '"complete":true' <<< "$told")"
fi
stop
ask_long "$SOURCE"
rm "$SOURCE/long"
"$KINFS" scan "$SOURCE" > scanned
"$KINFS" check "$SOURCE" > checked
