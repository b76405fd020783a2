#!/usr/bin/env bash
# The page of kinfs report, as a browser draws it: what is in its data, by keys, at three widths, light, dark and printed; with names that
# are markup. (Its numbers: command_report.)
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
command -v chromium > /dev/null || command -v chromium-browser > /dev/null || skip 'chromium is not installed'
mkdir -p "$SOURCE"/{a/deep,b} alone
for ((family = 1; family <= 3; family++)); do
    for ((version = 0; version < 7; version++)); do
        { words $((family * 10000)) 300; words $((family * 10000 + 5000 + version * 100)) $((version * version * 4)); } > "$SOURCE/$(printf '%s\n' a a/deep b . | sed -n "$((version % 4 + 1))p")/f$family-v$version"
    done
done
cp "$SOURCE/a/deep/f1-v5" "$SOURCE/b/equal"
{ cat "$SOURCE/b/f2-v6"; words 95000 1; } > "$SOURCE/a/near"
touch -d 1999-12-31 "$SOURCE/a/f1-v4"
touch -d @9223372036854775000 "$SOURCE/b/f1-v6" 2> /dev/null || true
for name in '"><img src=x onerror=alert(1)>' '<!--' $'two\nlines' $'bad\xff' "it's \"quoted\" & <b>" '{{js}}' 'a<script>alert(1)</script >' $'a\u202efdp.exe'; do
    mkdir -p "$SOURCE/b/$(dirname "$name")"
    words 10000 290 > "$SOURCE/b/$name"
done
words 1 100 > alone/one
chmod -R go-w "$SOURCE" alone
"$KINFS" scan "$SOURCE" > /dev/null
"$KINFS" scan alone > /dev/null
"$KINFS" report -o report.html "$SOURCE"
"$KINFS" report -o alone.html alone
"$LIB/browser/report_page.py" "$PWD/report.html" "$PWD/alone.html" || fail 'the page is not as it should be'
