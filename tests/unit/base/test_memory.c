#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "tests/lib/scratch.h"

static void bound(const char *root, const char *group, const char *text)
{
    assert_int_equal(mkdir(scratch_path(root, "%s", group), 0755), 0);
    if (text)
        scratch_write(scratch_path(root, "%s/memory.max", group), text);
}

/* As the kernel shows them: the root has no file, "max" is no bound, and a group may have more than
 * the one above it lets it take. */
static void test_memory__the_least_bound_of_all_groups_above_counts(void **state)
{
    const char *root = *state;
    bound(root, "free", "max\n");
    bound(root, "free/none", NULL);
    bound(root, "slice", "3000000000\n");
    bound(root, "slice/small", "1073741824\n");
    bound(root, "slice/small/max", "max\n");
    bound(root, "slice/large", "8000000000\n");
    assert_true(memory_of_group(root, "") == UINT64_MAX);
    assert_true(memory_of_group(root, "/") == UINT64_MAX);
    assert_true(memory_of_group(root, "/free") == UINT64_MAX);
    assert_true(memory_of_group(root, "/free/none") == UINT64_MAX);
    assert_true(memory_of_group(root, "/slice") == 3000000000u);
    assert_true(memory_of_group(root, "/slice/small") == 1073741824u);
    assert_true(memory_of_group(root, "/slice/small/max") == 1073741824u);
    assert_true(memory_of_group(root, "/slice/small/max/") == 1073741824u);
    assert_true(memory_of_group(root, "/slice/large") == 3000000000u);
    assert_true(memory_of_group(root, "/slice/gone/deeper") == 3000000000u);
}

static void test_memory__a_process_has_at_most_what_the_machine_has(void **state)
{
    (void)state;
    unsigned long long machine_kb = 0;
    char line[256];
    FILE *file = fopen("/proc/meminfo", "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) && sscanf(line, "MemTotal: %llu", &machine_kb) != 1)
        ;
    fclose(file);
    assert_in_range(memory_of_process(), 1 << 20, machine_kb * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory__the_least_bound_of_all_groups_above_counts),
        cmocka_unit_test(test_memory__a_process_has_at_most_what_the_machine_has),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
