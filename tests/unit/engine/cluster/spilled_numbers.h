/* Numbers in one partition of a spill, for tests of what sorts and reads it. */
#ifndef KINFS_TESTS_UNIT_ENGINE_CLUSTER_SPILLED_NUMBERS_H
#define KINFS_TESTS_UNIT_ENGINE_CLUSTER_SPILLED_NUMBERS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/cluster/large/spill.h"
#include "tests/lib/scratch.h"

enum { N_PARTITIONS = 3, WHICH = 1 };

struct files {
    struct scratch_file spill, runs;
    struct scratch_use use; /* of runs */
};

static void open_files(const char *directory, struct files *ret_files)
{
    *ret_files = (struct files){0};
    assert_int_equal(scratch_file_open(directory, &ret_files->spill), 0);
    assert_int_equal(scratch_file_open(directory, &ret_files->runs), 0);
    ret_files->runs.use = &ret_files->use;
}

static void close_files(struct files *files)
{
    scratch_file_done(&files->spill);
    scratch_file_done(&files->runs);
}

/* All in one partition. */
static struct spill *spill_numbers(struct files *files, const uint64_t *numbers, size_t n)
{
    struct spill *spill;
    struct spill_writer writer;
    assert_int_equal(spill_new(&files->spill, 8, N_PARTITIONS, 64 << 10, 1 << 20, &spill), 0);
    assert_int_equal(spill_writer_init(spill, &writer), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(spill_add(&writer, WHICH, &numbers[i]), 0);
    assert_int_equal(spill_writer_flush(&writer), 0);
    spill_writer_done(&writer);
    return spill;
}

#endif
