/* Lines are read as they were written, but for one that was not written to its end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "tools/commands/tidy/tidy_lines.h"
#include "tools/show/json_path.h"

struct reading {
    int64_t sum;
    int n, refused; /* the line that is refused, from 1 */
};

static int take(void *user, struct json_object *line)
{
    struct reading *reading = user;
    struct json_object *member;
    if (++reading->n == reading->refused)
        return -EXDEV;
    assert_true(json_object_object_get_ex(line, "n", &member));
    reading->sum += json_object_get_int64(member);
    return 0;
}

static int read_all(const char *path, struct reading *reading, unsigned long *ret_number)
{
    _cleanup_free_ char *error = NULL;
    int r = tidy_lines_read(path, take, reading, ret_number, &error);
    assert_int_equal(r < 0 && !*ret_number, error != NULL);
    return r;
}

static void test_tidy_lines__are_read_as_they_were_written(void **state)
{
    const char *path = scratch_path(*state, "lines");
    _cleanup_free_ char *error = NULL, *why = NULL;
    struct reading reading = {0};
    unsigned long number;
    struct stat st;
    _cleanup_close_ int fd = tidy_lines_make(path, &error);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(tidy_lines_make(path, &why), -EEXIST);
    assert_non_null(why);
    for (int i = 1; i <= 100; i++) {
        _cleanup_json_ struct json_object *line = json_object_new_object();
        json_object_object_add(line, "n", json_object_new_int(i));
        json_path_add(line, "path", "new\nline");
        assert_int_equal(tidy_lines_append(fd, line), 0);
    }
    assert_int_equal(read_all(path, &reading, &number), 0);
    assert_int_equal(reading.n, 100);
    assert_int_equal(reading.sum, 100 * 101 / 2);
    /* Cut anywhere, it has one line less, or all where but the end of the last is missing. */
    const off_t last = strlen("{\"n\":100,\"path\":\"new\\nline\"}\n");
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t cut = 0; cut <= last; cut++) {
        assert_int_equal(truncate(path, st.st_size - cut), 0);
        reading = (struct reading){0};
        assert_int_equal(read_all(path, &reading, &number), 0);
        assert_int_equal(reading.n, cut < 2 ? 100 : 99);
    }
}

static void test_tidy_lines__are_refused_by_their_numbers(void **state)
{
    static const struct {
        const char *text;
        int r;
        unsigned long number;
    } cases[] = {
        {"", 0, 0},
        {"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n", -EXDEV, 3},
        {"{\"n\":1}\n[1]\n", -EINVAL, 2},
        {"\n", -EINVAL, 1},
        {"{\"n\":1}\n{\"n\n{\"n\":1}\n", -EINVAL, 2},
        {"{\"n\":1}\n{\"n", 0, 0},
        {"{\"n\":1}", 0, 0},
    };
    const char *path = scratch_path(*state, "cases");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading reading = {.refused = 3};
        unsigned long number;
        scratch_write(path, cases[i].text);
        assert_int_equal(chmod(path, 0600), 0);
        assert_int_equal(read_all(path, &reading, &number), cases[i].r);
        assert_int_equal(number, cases[i].number);
    }
    struct reading reading = {0};
    unsigned long number;
    assert_int_equal(chmod(path, 0622), 0);
    assert_int_equal(read_all(path, &reading, &number), -EPERM);
    assert_int_equal(read_all(scratch_path(*state, "none"), &reading, &number), -ENOENT);
    assert_int_equal(read_all(*state, &reading, &number), -EINVAL);
    assert_int_equal(reading.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tidy_lines__are_read_as_they_were_written),
        cmocka_unit_test(test_tidy_lines__are_refused_by_their_numbers),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
