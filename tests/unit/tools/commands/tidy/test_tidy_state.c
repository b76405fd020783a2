/* The state of a file is read as it was written, and each member of it tells two files apart. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tools/commands/tidy/tidy_state.h"
#include "tools/show/json_path.h"

static const struct stat file = {.st_ino = UINT64_MAX,
                                 .st_size = 1 << 20,
                                 .st_nlink = 3,
                                 .st_mode = S_IFREG | 04755,
                                 .st_uid = UINT32_MAX - 1,
                                 .st_gid = 54321,
                                 .st_mtim = {.tv_sec = -77, .tv_nsec = 500000000},
                                 .st_ctim = {.tv_sec = 1700000000, .tv_nsec = 999999999}};

static void test_tidy_state__is_read_as_it_was_written(void **state)
{
    (void)state;
    const struct tidy_state is = tidy_state_of(&file);
    struct tidy_state read = {0};
    _cleanup_json_ struct json_object *written = json_object_new_object();
    assert_int_equal(tidy_state_add(written, "is", &is), 0);
    _cleanup_json_ struct json_object *object =
        json_tokener_parse(json_object_to_json_string(written));
    assert_int_equal(tidy_state_get(object, "is", &read), 0);
    assert_true(tidy_state_is_same(&is, &read));
    assert_int_equal(read.inode, file.st_ino);
    assert_int_equal(read.n_links, 3);
    assert_int_equal(read.mode, 04755);
    assert_int_equal(read.uid, UINT32_MAX - 1);
    assert_int_equal(read.gid, 54321);
    assert_int_equal(read.mtime.tv_sec, -77);
    assert_int_equal(read.ctime.tv_nsec, 999999999);
}

static void test_tidy_state__lacks_nothing(void **state)
{
    (void)state;
    const struct tidy_state is = tidy_state_of(&file);
    static const char *const members[] = {"inode", "size",     "links", "mtime", "mtime_ns",
                                          "ctime", "ctime_ns", "mode",  "uid",   "gid"};
    struct tidy_state read = {0};
    struct json_object *member;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        _cleanup_json_ struct json_object *object = json_object_new_object();
        assert_int_equal(tidy_state_add(object, "is", &is), 0);
        assert_true(json_object_object_get_ex(object, "is", &member));
        json_object_object_add(member, members[i], json_object_new_string("1"));
        assert_int_equal(tidy_state_get(object, "is", &read), -EINVAL);
        json_object_object_del(member, members[i]);
        assert_int_equal(tidy_state_get(object, "is", &read), -EINVAL);
    }
    _cleanup_json_ struct json_object *other = json_tokener_parse("{\"is\": 1}");
    assert_int_equal(tidy_state_get(other, "is", &read), -EINVAL);
    assert_int_equal(tidy_state_get(other, "none", &read), -EINVAL);
}

static void test_tidy_state__tells_files_and_contents_apart(void **state)
{
    (void)state;
    const struct tidy_state is = tidy_state_of(&file);
    struct tidy_state others[] = {is, is, is, is, is};
    others[0].inode--;
    others[1].size_bytes++;
    others[2].mtime.tv_sec++;
    others[3].mtime.tv_nsec++;
    for (int i = 0; i < 4; i++) {
        assert_false(tidy_state_has_same_content(&is, &others[i]));
        assert_false(tidy_state_is_same(&is, &others[i]));
    }
    others[4].ctime.tv_nsec--;
    others[4].n_links++;
    assert_true(tidy_state_has_same_content(&is, &others[4]));
    assert_false(tidy_state_is_same(&is, &others[4]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tidy_state__is_read_as_it_was_written),
        cmocka_unit_test(test_tidy_state__lacks_nothing),
        cmocka_unit_test(test_tidy_state__tells_files_and_contents_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
