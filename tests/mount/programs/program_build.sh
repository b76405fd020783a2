#!/usr/bin/env bash
# make -j and ninja build C programs on the mount, run them from there, and afterwards build again
# exactly what changed.
# Begins early: it compiles.
. "${0%/mount/*}/lib/shell/mount.sh"
needs make gcc ninja meson rsync
root=$(cd "$LIB/../.." && pwd)

# Twenty units, each with a header of its own and a header in common, and libraries of ten.
generate() { # DIRECTORY
    local i
    mkdir "$1"
    (
        cd "$1"
        {
            echo 'CFLAGS = -O0 -MMD'
            echo 'program: main.o $(patsubst %,lib%.a,0 1)'
            echo '	$(CC) -o $@ $^'
            for i in $(seq 0 1); do
                echo "lib$i.a: $(for j in $(seq 0 9); do printf 'unit%s%s.o ' "$i" "$j"; done)"
                echo '	rm -f $@ && $(AR) rcs $@ $^'
            done
            echo '-include *.d'
        } > Makefile
        echo '#define STEP 1' > common.h
        {
            for i in $(seq -w 00 19); do echo "#include \"unit$i.h\""; done
            echo '#include <stdio.h>'
            echo 'int main(void) { int n = 0;'
            for i in $(seq -w 00 19); do echo "n += unit$i();"; done
            echo 'printf("%d\n", n); return 0; }'
        } > main.c
        for i in $(seq -w 00 19); do
            echo "int unit$i(void);" > "unit$i.h"
            printf '#include "common.h"\n#include "unit%s.h"\nint unit%s(void) { return STEP; }\n' "$i" "$i" > "unit$i.c"
        done
    )
}

made() { grep -c '^cc' || true; } # compilations in what make says

work() { # DIRECTORY
    make -s -C "$1" -j 4
    expect_equal "the program" 20 "$("$1/program")"
    expect_equal "made again" "make: 'program' is up to date." "$(make --no-print-directory -C "$1")"
    # Later than what was made of it, by however little the file system can tell.
    echo '#define STEP 3 /* ' > "$1/common.h.new"
    echo ' */' >> "$1/common.h.new"
    while [[ ! $1/common.h.new -nt $1/program ]]; do touch "$1/common.h.new"; done
    mv "$1/common.h.new" "$1/common.h"
    expect_equal "made for the common header" 21 "$(make -C "$1" -j 4 | made)"
    expect_equal "the program" 60 "$("$1/program")"
    while [[ ! $1/unit12.h -nt $1/program ]]; do touch "$1/unit12.h"; done
    expect_equal "made for one header" 3 "$(make -C "$1" -j 4 | made)"
    make -s -C "$1" -j 4
}

generate plain
work plain
for option in passthrough nopassthrough; do
    start -o "$option"
    generate "$MNT/$option"
    work "$MNT/$option"
    cmp plain/program "$MNT/$option/program"
    stop
    expect_equal "made again in the source" "make: 'program' is up to date." \
        "$(make --no-print-directory -C "$SOURCE/$option")"
done

# A real one, its own: configured by meson, built by ninja. A library of it, or, where PROGRAM_BUILD_ALL
# is set, the program, which is then put to work.
target=base/libbase.a
[[ ! ${PROGRAM_BUILD_ALL-} ]] || target=tools/kinfs
[[ ! -r $root/.deps/env ]] || . "$root/.deps/env"
(cd "$root" && find base store engine fs tools docs meson.build meson_options.txt README.md -type f) > files
start
mkdir "$MNT/kinfs"
rsync -a --files-from=files "$root/" "$MNT/kinfs/"
diff <(cd "$root" && xargs sha256sum < "$SCRATCH/files") <(cd "$MNT/kinfs" && xargs sha256sum < "$SCRATCH/files")
# shellcheck disable=SC2086
meson setup "$MNT/kinfs/build" "$MNT/kinfs" ${KINFS_MESON_OPTIONS-} --buildtype=plain \
    -Dtests=false -Dbench=false > meson.log || fail "$(cat meson.log)"
ninja -C "$MNT/kinfs/build" "$target" > ninja.log || fail "$(tail -n 20 ninja.log)"
expect_match "built again" "no work to do" "$(ninja -C "$MNT/kinfs/build" "$target")"
[[ ! ${PROGRAM_BUILD_ALL-} ]] ||
    expect_equal "its version" "$("$KINFS" --version)" "$("$MNT/kinfs/build/tools/kinfs" --version)"
stop
expect_match "built again in the source" "no work to do|Regenerating" "$(ninja -C "$SOURCE/kinfs/build" -n "$target")"
