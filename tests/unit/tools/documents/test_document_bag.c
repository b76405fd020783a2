/* What a document links to takes no more memory than its windows, however many links it has. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/documents/document_bag.h"

enum { MORE = 1000, LONG = 1000 };

static char root[64];

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

/* n links, whose targets begin with as many letters, and words behind each. */
static void read_links(unsigned n, unsigned n_letters, const char *words, struct document_bag *bag)
{
    const char *path = scratch_path(root, "page");
    const struct word_options options = bag_words_default();
    FILE *page = fopen(path, "w");
    assert_non_null(page);
    fputs("<!DOCTYPE html>", page);
    for (unsigned i = 0; i < n; i++)
        fprintf(page, "<a href=%0*u></a>%s", (int)n_letters, i, words);
    assert_int_equal(fclose(page), 0);
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    const struct text_source text = {.fd = fd};
    assert_int_equal(document_bag_read(&text, &options, 2, bag), 0);
    for (size_t i = 0; i < bag->n_windows; i++)
        assert_non_null(spellings_of(&bag->targets, bag->windows[i].target));
}

static void test_document_bag__targets_are_bounded(void **state)
{
    (void)state;
    _cleanup_(document_bag_done) struct document_bag bag = {0};
    read_links(DOCUMENT_BAG_MOST_WINDOWS + MORE, 1, "", &bag);
    assert_int_equal(bag.targets.n, DOCUMENT_BAG_MOST_WINDOWS);
}

static void test_document_bag__so_is_their_length(void **state)
{
    (void)state;
    const unsigned most = DOCUMENT_BAG_MOST_TARGET_BYTES / LONG;
    _cleanup_(document_bag_done) struct document_bag bag = {0};
    read_links(most + MORE, LONG, " fox hen ", &bag);
    assert_int_equal(bag.targets.n, most);
    assert_int_equal(bag.n_windows, most);
    assert_int_equal(bag.counts.n_windows, most + MORE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_document_bag__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(targets_are_bounded),
        TEST(so_is_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
