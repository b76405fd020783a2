# Sourced by the scripts of tests/mount/ that have documents read by kinfs-extract, behind mount.sh; skips where it is not
# built.
# shellcheck shell=bash
needs python3
tools=$(dirname "$KINFS")
for program in kinfs-extract kinfs-extract-pdf kinfs-extract-office kinfs-extract-epub; do
    [[ -x $tools/$program ]] || skip "$program is not built"
done

make() { # KIND FILE < TEXT
    python3 "$LIB/documents/documents.py" "$1" "$2"
}

state() { # FILE
    getfattr -n user.kinfs.state --only-values "$MNT/$1"
}
