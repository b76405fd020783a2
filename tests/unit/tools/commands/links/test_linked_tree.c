/* What names in documents may take: no owner's all of the time there is, and nothing that is
 * mounted or made up for them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "tools/commands/links/linked_tree.h"

enum { ANN = 1000, BOB = 1001 };

static char root[64];
static struct linked_owners owners = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct linked_tree tree;

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    mkdir(scratch_path(root, "d"), 0700);
    scratch_write(scratch_path(root, "d/f"), "document");
    tree = (struct linked_tree){.owners = &owners};
    return linked_tree_open(&tree, root, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    linked_tree_done(&tree);
    linked_owners_done(&owners);
    scratch_remove(root);
    return 0;
}

/* A document whose links take some time. True: they are followed. */
static bool follows(uid_t owner, int64_t ms)
{
    linked_tree_begin(&tree, &(struct stat){.st_uid = owner});
    const bool is_followed = linked_tree_is(&tree, "d/f") == LINK_IS_FILE;
    tree.spent_us += 1000 * ms;
    linked_tree_end(&tree, "document");
    return is_followed;
}

static void test_linked_tree__an_owner_has_some_time(void **state)
{
    (void)state;
    const int64_t most_ms = 1000 * LINKED_TREE_OWNER_S, third_ms = most_ms / 3;
    for (int i = 0; i < 3; i++)
        assert_true(follows(ANN, third_ms));
    assert_true(follows(ANN, 1000)); /* some of each was free */
    assert_false(follows(ANN, 0));
    assert_false(follows(ANN, 0));
    assert_true(follows(BOB, most_ms));
    assert_true(follows(BOB, 1000));
    assert_false(follows(BOB, 0));
}

static void test_linked_tree__short_documents_take_none(void **state)
{
    (void)state;
    for (int i = 0; i < 10 * LINKED_TREE_OWNER_S * 1000 / LINKED_TREE_FREE_MS; i++)
        assert_true(follows(ANN, LINKED_TREE_FREE_MS / 2));
}

/* Reading counts but for what the bytes on the disk may take. */
static void test_linked_tree__a_document_that_is_long_to_read_takes_time(void **state)
{
    (void)state;
    for (int large = 1; large >= 0; large--) {
        const struct stat document = {.st_uid = BOB,
                                      .st_size = INT64_C(400) << 30, /* of holes, or not */
                                      .st_blocks = large ? INT64_C(800) << 20 : 2};
        linked_tree_begin(&tree, &document);
        tree.begin_thread_us -= INT64_C(1000000) * (LINKED_TREE_OWNER_S + 1);
        linked_tree_end(&tree, "document");
        linked_tree_begin(&tree, &document);
        assert_true(tree.is_over == !large);
    }
}

static void test_linked_tree__what_is_made_up_is_not_asked(void **state)
{
    (void)state;
    linked_tree_begin(&tree, &(struct stat){.st_uid = ANN});
    assert_int_equal(symlink("/proc/self/fd", scratch_path(root, "d/kernel")), 0);
    assert_int_equal(symlink(".kinfs", scratch_path(root, "d/views")), 0);
    assert_int_equal(symlink("d", scratch_path(root, "link")), 0);
    static const struct {
        const char *name;
        enum link_is is;
    } names[] = {
        {"", LINK_IS_DIRECTORY},
        {"d", LINK_IS_DIRECTORY},
        {"d/f", LINK_IS_FILE},
        {"d/none", LINK_IS_NOTHING},
        {"d/f/none", LINK_IS_NOTHING},
        {"link", LINK_IS_DIRECTORY},
        {"link/f", LINK_IS_FILE},
        {"link/none", LINK_IS_NOTHING},
        {".kinfs/none", LINK_IS_FILE},
        {"d/.kinfs", LINK_IS_FILE},
        {"d/views/none", LINK_IS_FILE},
        {"d/x.kinfs", LINK_IS_NOTHING},
        {"d/.kinfsx/.kinf", LINK_IS_NOTHING},
        {"d/kernel/none", LINK_IS_FILE},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (linked_tree_is(&tree, names[i].name) != names[i].is)
            fail_msg("%s", names[i].name);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_linked_tree__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_owner_has_some_time),
        TEST(short_documents_take_none),
        TEST(a_document_that_is_long_to_read_takes_time),
        TEST(what_is_made_up_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
