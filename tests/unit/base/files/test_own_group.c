/* A group is a user's own where its name and number are that user's and nobody else is in it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/own_group.h"

enum { ANN = 1000, BOB = 1001 };

static const char USERS[] = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n"
                            "bob:x:1001:1001::/home/bob:/bin/sh\n";
static char dir[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_own_group.XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(dir);
}

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

static bool is_own(const char *users, const char *groups, uid_t user, gid_t number)
{
    char passwd[PATH_MAX], group[PATH_MAX];
    snprintf(passwd, sizeof(passwd), "%s/passwd", dir);
    snprintf(group, sizeof(group), "%s/group", dir);
    write_text(passwd, users);
    write_text(group, groups);
    bool is = own_group_is(passwd, group, user, number);
    assert_int_equal(unlink(passwd), 0);
    assert_int_equal(unlink(group), 0);
    return is;
}

static void test_own_group__is_the_users_alone(void **state)
{
    (void)state;
    static const char GROUPS[] = "root:x:0:\nann:x:1000:\nbob:x:1001:bob\nstaff:x:50:\n";
    assert_true(is_own(USERS, GROUPS, ANN, 1000));
    assert_true(is_own(USERS, GROUPS, BOB, 1001));   /* named in it once more */
    assert_false(is_own(USERS, GROUPS, ANN, 1001));  /* another's */
    assert_false(is_own(USERS, GROUPS, ANN, 50));    /* nobody's first group */
    assert_false(is_own(USERS, GROUPS, ANN, 4711));  /* no group */
    assert_false(is_own(USERS, GROUPS, 4711, 1000)); /* no user */
    assert_false(is_own(USERS, GROUPS, 0, 0));       /* of root's the system decides */
}

static void test_own_group__with_anybody_else_in_it_is_none(void **state)
{
    (void)state;
    assert_false(is_own(USERS, "ann:x:1000:bob\n", ANN, 1000));
    assert_false(is_own(USERS, "ann:x:1000:ann,bob\n", ANN, 1000));
    assert_false(is_own(USERS, "ann:x:1000:\nann:x:1000:bob\n", ANN, 1000));
    assert_false(is_own(USERS, "users:x:1000:\n", ANN, 1000));
    assert_false(is_own(USERS, "ann:x:1000:\nusers:x:1000:\n", ANN, 1000));
    char others[sizeof(USERS) + 64];
    snprintf(others, sizeof(others), "%seve:x:1002:1000::/:/bin/sh\n", USERS);
    assert_false(is_own(others, "ann:x:1000:\n", ANN, 1000));
}

static void test_own_group__is_none_where_that_cannot_be_read(void **state)
{
    (void)state;
    assert_false(own_group_is("/nowhere/passwd", "/etc/group", ANN, 1000));
    assert_false(own_group_is("/etc/passwd", "/nowhere/group", ANN, 1000));
    assert_false(is_own("", "ann:x:1000:\n", ANN, 1000));
    assert_false(is_own(USERS, "", ANN, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_group__is_the_users_alone),
        cmocka_unit_test(test_own_group__with_anybody_else_in_it_is_none),
        cmocka_unit_test(test_own_group__is_none_where_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
