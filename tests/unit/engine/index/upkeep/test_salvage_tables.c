/* Whatever is damaged in a table of a store, or in the file that has it, is mended. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "tests/lib/share.h"
#include "tests/lib/fixtures/salvage_fixture.h"

static void test_salvage__any_table_is_mended(void **state)
{
    static const char *const damages[N_DAMAGES] = {"lost", "half lost", "garbled", "cut"};
    struct fixture *f = *state;
    for (unsigned table = TABLE_META; table < TABLE_INTENTS; table++)
        for (unsigned damage = 0; damage < N_DAMAGES; damage++) {
            char what[64];
            snprintf(what, sizeof(what), "%s %s", schema_tables[table].name, damages[damage]);
            if (damage == CUT &&
                (table == TABLE_LINKS || (table >= TABLE_TIER_R && table <= TABLE_CLASSES)))
                continue; /* no values */
            if ((table + damage) % failure_share() != 0)
                continue; /* another table has this damage */
            damage_table(f, table, damage);
            assert_noticed(f, what);
            repair(f, what, true);
            if (table >= TABLE_NAMES) /* not documents, nor what is known of files */
                assert_int_equal(sketched, 0);
        }
}

/* The file that has a table is lost, after a clean end or a crash, or its first rows are garbage.
 */
static void test_salvage__a_damaged_file_of_any_table_is_mended(void **state)
{
    struct fixture *f = *state;
    for (uint64_t table = TABLE_META; table < TABLE_INTENTS; table += failure_step()) {
        const bool lost = table % 2, crashed = table % 4 == 3;
        char what[64], path[PATH_MAX];
        snprintf(what, sizeof(what), "file of %s %s", schema_tables[table].name,
                 lost ? "lost" : "garbled");
        move_to_a_file(f, (unsigned)table, path);
        if (lost) {
            assert_int_equal(unlink(path), 0);
        } else {
            int fd = open(path, O_WRONLY);
            assert_int_equal(pwrite(fd, "garbage", 7, 3), 7);
            close(fd);
        }
        if (crashed)
            assert_int_equal(unlink(scratch_path(f->tree.store, "db/SEAL")), 0);
        assert_noticed(f, what);
        repair(f, what, true);
        if (table >= TABLE_NAMES)
            assert_int_equal(sketched, 0);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_salvage__any_table_is_mended),
        CASE(test_salvage__a_damaged_file_of_any_table_is_mended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
