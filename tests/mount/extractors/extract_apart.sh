#!/usr/bin/env bash
# Two documents that are read at the same time: what reads the one finds out nothing of the other, also where the kernel
# has no Landlock.
. "${0%/mount/*}/lib/shell/mount.sh"
needs setpriv unshare pgrep
python=/usr/bin/python3
[[ -x $python ]] || skip "$python is not installed"
tools=$(dirname "$KINFS")
[[ -x $tools/kinfs-extract ]] || skip 'kinfs-extract is not built'
((EUID == 0)) || skip 'users of their own need root'
without_landlock=("$python" "$LIB/callers/without_call.py" landlock)
"${without_landlock[@]}" true || skip 'no seccomp filter can be set here'
seconds=120 # for those that wait for each other on a busy machine

# -- one that looks for what the other has read --

mkfifo to_1 to_2 end_1 end_2
chmod 644 to_* end_*
chmod 711 .
cat > look << SCRIPT
#!$python
import ctypes, os, sys
mine = sys.stdin.buffer.read()
print(os.getpid(), *os.getresuid(), *os.getresgid(), len(os.getgroups()), flush=True)
with open(sys.argv[1]) as told:
    other = int(told.read())
def attempt(name, action):
    try:
        print("could" if action() else "saw nothing by", name)
    except OSError as error:
        print(name, error.errno)
def by_maps(read):
    for line in open("/proc/%d/maps" % other):
        first, last = (int(number, 16) for number in line.split()[0].split("-"))
        if line.split()[1].startswith("rw") and b"hidden" in read(first, last - first):
            return True
def by_file(address, size):
    with open("/proc/%d/mem" % other, "rb", 0) as memory:
        memory.seek(address)
        return memory.read(size)
def by_call(address, size):
    libc = ctypes.CDLL(None, use_errno=True)
    there, here = ctypes.create_string_buffer(size), (ctypes.c_size_t * 4)()
    here[0], here[1], here[2], here[3] = ctypes.addressof(there), size, address, size
    if libc.process_vm_readv(other, here, 1, ctypes.byref(here, 16), 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "")
    return there.raw
attempt("memory", lambda: by_maps(by_file))
attempt("process_vm_readv", lambda: by_maps(by_call))
attempt("memory, blindly", lambda: by_file(0x400000, 1))
attempt("process_vm_readv, blindly", lambda: by_call(0x400000, 1))
attempt("document", lambda: open("/proc/%d/fd/0" % other, "rb").read())
attempt("environment", lambda: open("/proc/%d/environ" % other, "rb").read())
print("done", flush=True)
open(sys.argv[2]).read() # the other may not have looked yet
SCRIPT
chmod 755 look

run() { # NUMBER COMMAND...: until it is told to end
    echo "hidden $1" > "document_$1"
    chmod 600 "document_$1"
    "${@:2}" "$tools/kinfs-extract" "$BASHPID" "$seconds" 1024 "$PWD/look" "$PWD/to_$1" "$PWD/end_$1" < "document_$1"
    echo "exit code $?"
}
# look_at_each_other COMMAND...: what the two said, in SAID_1 and SAID_2, and who they were, in WHO_1 and WHO_2.
look_at_each_other() {
    local out_1 out_2
    exec {out_1}< <(run 1 "$@") {out_2}< <(run 2 "$@")
    read -r -u "$out_1" WHO_1
    read -r -u "$out_2" WHO_2
    echo "${WHO_2%% *}" > to_1
    echo "${WHO_1%% *}" > to_2
    SAID_1=$(sed '/^done$/q' <&"$out_1")
    SAID_2=$(sed '/^done$/q' <&"$out_2")
    : > end_1
    : > end_2
    expect_equal 'the first ends' 'exit code 0' "$(cat <&"$out_1")"
    expect_equal 'the second ends' 'exit code 0' "$(cat <&"$out_2")"
    exec {out_1}<&- {out_2}<&-
}
for kernel in without ''; do
    if [[ $kernel ]]; then look_at_each_other "${without_landlock[@]}"; else look_at_each_other; fi
    for said in "$SAID_1" "$SAID_2"; do
        expect_equal 'attempts' 7 "$(wc -l <<< "$said")"
        [[ $said != *could* && $said != *nothing* ]] || fail "$kernel: $said"
    done
    # A user and a group of its own each, real, effective and saved, and no other group.
    for who in "$WHO_1" "$WHO_2"; do
        read -r _ user effective saved group effective_group saved_group n_groups <<< "$who"
        expect_equal 'one user' "$user $user" "$effective $saved"
        expect_equal 'one group' "$user $user $user 0" "$group $effective_group $saved_group $n_groups"
        ((user >= 2100000000 && user < 2104194304)) || fail "the user $user"
    done
    [[ $(cut -d ' ' -f 2 <<< "$WHO_1") != "$(cut -d ' ' -f 2 <<< "$WHO_2")" ]] || fail "the same user: $WHO_1, $WHO_2"
done

extract() { # PROGRAM...: as `as` says
    "${as[@]}" "$tools/kinfs-extract" "$BASHPID" 20 1024 "$@" < /dev/null 2>&1 || echo "exit code $?"
}

# -- a user namespace that has not so many users: nobody runs as its root --

as=(unshare --user --map-root-user)
if "${as[@]}" true 2> /dev/null; then
    expect_match 'nothing is run as root' 'another user: .*exit code 1' "$(extract /usr/bin/id -u | paste -sd ' ')"
fi

# -- capabilities that a service was given --

as=(setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
if [[ $("${as[@]}" awk '/^CapEff/ { print $2 }' /proc/self/status) != 0000000000000000 ]]; then
    for set in Prm Eff Amb; do
        expect_equal "$set" 0000000000000000 "$(extract /usr/bin/awk "/^Cap$set/ { print \$2 }" /proc/self/status)"
    done
fi

# -- installed, those that read documents cannot be read by others --

programs=$tools
build=$(cd "$tools/.." && pwd)
if [[ -e $build/build.ninja ]] && command -v meson > /dev/null; then
    meson install -C "$build" --no-rebuild --destdir "$SCRATCH/root" > install.log 2>&1 || fail "$(cat install.log)"
    programs=$PWD/$(dirname "$(find root -name kinfs-extract -type f)")
    for program in "$programs"/kinfs-extract-*; do
        expect_equal "$program" 711 "$(stat -c %a "$program")"
    done
fi

# -- the built-in programs are hidden even from their own user --

if [[ -x $programs/kinfs-extract-office ]]; then
    mkfifo document
    (
        exec setpriv --reuid=54321 --regid=54321 --clear-groups bash -c '
            "$0/kinfs-extract" "$BASHPID" "$1" 1024 "$0/kinfs-extract-office" 2> /dev/null; true' "$programs" "$seconds"
    ) < document > output &
    exec {bytes}> document # it waits for more
    shell=$!
    is_hidden() {
        reader=$(pgrep -P "$(pgrep -P "$shell" -x kinfs-extract)" -x kinfs-extract-o) && [[ $(stat -c %u "/proc/$reader/environ") == 0 ]]
    }
    soon 'hidden from its own user' is_hidden
    expect_equal 'one process, which starts no other' 0 "$(awk '/^Max processes/ { print $3 }' "/proc/$reader/limits")"
    expect_equal 'the first to go when memory runs out' 1000 "$(< "/proc/$reader/oom_score_adj")"
    ! setpriv --reuid=54321 --regid=54321 --clear-groups cat "/proc/$reader/environ" 2> /dev/null || fail 'it is not hidden'
    exec {bytes}>&-
    wait
fi

# -- status says what is missing --

needs_fuse
mkdir -p "$SOURCE"
sandbox() {
    "$KINFS" status "$MNT" | sed -n 's/^sandbox *//p'
    "$KINFS" status --json "$MNT" | python3 -c 'import json, sys; print(json.load(sys.stdin)["sandbox_without"])'
}
printf '[extractor "image/png"]\ncommand = /bin/cat\n' > kinfs.conf
mkdir -p "$MNT"
"${without_landlock[@]}" "$KINFS" mount -o "config=$PWD/kinfs.conf" "$SOURCE" "$MNT"
expect_equal 'without Landlock' "without Landlock|['Landlock']" "$(sandbox | paste -sd '|')"
stop
start -o "config=$PWD/kinfs.conf"
if "$python" -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)'; then
    expect_equal 'whole' 'whole|[]' "$(sandbox | paste -sd '|')"
fi
stop
