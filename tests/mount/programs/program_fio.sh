#!/usr/bin/env bash
# fio writes at random through each of the kernel's ways to do so and verifies what it reads back,
# on the mount and in the source.
# Begins early: it writes much, in many ways.
. "${0%/mount/*}/lib/shell/mount.sh"
needs fio

# name, options; --verify makes each block say what and where it is.
jobs=(
    "psync --ioengine=psync --rw=randwrite --bsrange=512-64k --bs_unaligned=1"
    "psync_direct --ioengine=psync --rw=randrw --bs=4k --direct=1"
    "append --ioengine=sync --rw=write --bs=3k --file_append=1"
    "vectors --ioengine=pvsync2 --rw=randwrite --bs=8k --fsync=64"
    "libaio --ioengine=libaio --rw=randwrite --bs=4k --iodepth=16"
    "libaio_direct --ioengine=libaio --rw=randwrite --bs=4k --iodepth=16 --direct=1"
    "mmap --ioengine=mmap --rw=randwrite --bs=4k"
    "mmap_sync --ioengine=mmap --rw=randrw --bs=4k --fsync=64"
    "io_uring --ioengine=io_uring --rw=randwrite --bs=4k --iodepth=16"
    "io_uring_direct --ioengine=io_uring --rw=randrw --bs=4k --iodepth=16 --direct=1 --registerfiles --fixedbufs"
    "two_jobs --ioengine=psync --rw=randwrite --bs=4k --numjobs=2 --offset_increment=4m"
    "falloc --ioengine=psync --rw=randwrite --bs=4k --fallocate=native"
)

# run DIRECTORY JOB [OPTION...]
run() {
    local directory=$1 name options
    read -r name options <<< "$2"
    shift 2
    # shellcheck disable=SC2086
    fio --name="$name" --filename="$directory/$name" --size=4m $options --verify=crc32c --verify_fatal=1 \
        --randseed=4711 --allrandrepeat=1 --output="$SCRATCH/fio.log" "$@"
}

# Not every file system has O_DIRECT, not every kernel io_uring.
mkdir plain
possible=()
for job in "${jobs[@]}"; do
    if run plain "$job" 2> fio.err; then
        possible+=("$job")
    else
        echo "not asked of the mount, since it fails without: $job: $(head -n 1 fio.err)"
    fi
done
[[ ${#possible[@]} -ge 6 ]] || fail "most fail without the mount"

for option in passthrough nopassthrough; do
    start -o "$option"
    mkdir "$MNT/$option"
    for job in "${possible[@]}"; do
        run "$MNT/$option" "$job" --do_verify=1 || fail "$job with $option: $(cat fio.log)"
        cmp "$MNT/$option/${job%% *}" "$SOURCE/$option/${job%% *}"
    done
    stop
    for job in "${possible[@]}"; do
        # Read and write at random in one: what was written cannot be told from the options alone.
        [[ $job != *randrw* && $job != append* ]] || continue
        run "$SOURCE/$option" "$job" --verify_only || fail "$job with $option, in the source: $(cat fio.log)"
    done
done

# The other way round, and a block that is not what it says: it would be told.
read -r -a first <<< "${possible[0]}"
printf 'wrong' | dd of="plain/${first[0]}" bs=1 seek=70000 conv=notrunc status=none
expect_code 1 run plain "${possible[0]}" --verify_only
