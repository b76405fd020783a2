/* What passes between tool and daemon: rows, and which document is meant. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/backing.h"
#include "tests/lib/scratch.h"

#include "tools/show/json_path.h"
#include "tools/questions/work.h"

static double through_text(double value)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    struct json_object *member;
    work_add_ratio(row, "r", value);
    _cleanup_json_ struct json_object *parsed =
        json_tokener_parse(json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN));
    assert_true(json_object_object_get_ex(parsed, "r", &member));
    return member ? json_object_get_double(member) : NAN;
}

/* What a tool shows of a ratio is what a view shows of it, which was not sent. */
static void test_work__ratios_are_shown_as_if_not_sent(void **state)
{
    char shown[16], sent[16];
    (void)state;
    for (unsigned b = 1; b < 700; b++)
        for (unsigned a = 0; a <= b; a++) {
            snprintf(shown, sizeof(shown), "%.4f", (double)a / b);
            snprintf(sent, sizeof(sent), "%.4f", through_text((double)a / b));
            assert_string_equal(sent, shown);
        }
    /* which six digits would round up twice */
    snprintf(sent, sizeof(sent), "%.4f", through_text(0.9593497));
    assert_string_equal(sent, "0.9593");
}

static void test_work__ratios_below_one_are_not_one(void **state)
{
    (void)state;
    assert_true(through_text(1) == 1);
    assert_true(through_text(1 - 1e-15) < 1);
    assert_true(isnan(through_text(NAN)));
}

/* -- which document -- */

static int find(const struct work_context *context, const char *path)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    _cleanup_free_ char *found = NULL, *error = NULL;
    struct file_key key;
    struct document_info info;
    json_path_add(request, "path", path);
    return work_document(context, request, "path", &found, &key, &info, &error);
}

/* In a mount namespace of its own; returns what is wrong, for the exit code. */
static int ask_for_what_is_mounted(const char *tree)
{
    const char *point = scratch_path(tree, "point"), *in_it = scratch_path(tree, "point/x");
    struct backing *backing;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", point, "tmpfs", 0, NULL) < 0)
        return 77;
    if (mkdir(in_it, 0755) < 0 || symlink("point", scratch_path(tree, "link")) < 0 ||
        backing_open(tree, &backing) < 0)
        return 1;
    const struct work_context context = {.backing = backing};
    const int at = find(&context, "point"), below = find(&context, "point/x"),
              by_link = find(&context, "link/x"), none = find(&context, "none");
    backing_close(backing);
    return at != -EXDEV ? 2 : below != -EXDEV ? 3 : by_link != -ELOOP ? 4 : none != -ENOENT ? 5 : 0;
}

/* A server of another user's may be there, and never answer. */
static void test_work__nothing_mounted_in_the_tree_is_asked(void **state)
{
    char root[64];
    int status;
    (void)state;
    scratch_make(root);
    assert_int_equal(mkdir(scratch_path(root, "point"), 0755), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(ask_for_what_is_mounted(root));
    assert_int_equal(waitpid(child, &status, 0), child);
    scratch_remove(root);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work__ratios_are_shown_as_if_not_sent),
        cmocka_unit_test(test_work__ratios_below_one_are_not_one),
        cmocka_unit_test(test_work__nothing_mounted_in_the_tree_is_asked),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
