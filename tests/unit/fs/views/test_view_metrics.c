/* The numbers of an index in the text format of Prometheus. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fs/views/view_metrics.h"

static bool has_line(const char *text, const char *line)
{
    const size_t n = strlen(line);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += at > text;
        if (strncmp(at, line, n) == 0 && at[n] == '\n')
            return true;
    }
    return false;
}

static void test_metrics_text__has_numbers_and_labels(void **state)
{
    struct index_status status = {.version = "1.2",
                                  .source = "/a \"b\\c\n\xff\xc3\xa4",
                                  .policy = "p",
                                  .documents = UINT64_MAX,
                                  .scanning = true,
                                  .store_error = -28,
                                  .failed = 7,
                                  .sketched_bytes = 8};
    struct index_clustering_status clusterings[2] = {
        {.clustering.name = "a", .clusters = 3, .clustered_documents = 9, .current = true},
        {.clustering.name = "b\"", .clusters = 4}};
    (void)state;

    char *text = metrics_text(&status, clusterings, 2);
    assert_non_null(text);
    /* As `ls -b` has it, and that escaped. */
    assert_true(has_line(
        text, "kinfs_info{version=\"1.2\",source=\"/a\\\\ \\\"b\\\\\\\\c\\\\n\\\\377\xc3\xa4\","
              "policy=\"p\"} 1"));
    assert_true(has_line(text, "kinfs_documents 18446744073709551615"));
    assert_true(has_line(text, "kinfs_scanning 1"));
    assert_true(has_line(text, "kinfs_store_errno 28"));
    assert_true(has_line(text, "kinfs_failed_writes_total 7"));
    assert_true(has_line(text, "kinfs_sketched_bytes_total 8"));
    assert_true(has_line(text, "kinfs_named_clusters{clustering=\"a\"} 3"));
    assert_true(has_line(text, "kinfs_named_clusters{clustering=\"b\\\"\"} 4"));
    assert_true(has_line(text, "kinfs_named_clustered_documents{clustering=\"a\"} 9"));
    assert_true(has_line(text, "kinfs_named_current{clustering=\"a\"} 1"));
    assert_true(has_line(text, "kinfs_named_current{clustering=\"b\\\"\"} 0"));
    free(text);
}

/* A family without samples would be none. */
static void test_metrics_text__says_nothing_of_no_clusterings(void **state)
{
    struct index_status status = {.version = "1"};
    (void)state;

    char *text = metrics_text(&status, NULL, 0);
    assert_non_null(text);
    assert_null(strstr(text, "named"));
    assert_true(has_line(text, "kinfs_store_errno 0"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_text__has_numbers_and_labels),
        cmocka_unit_test(test_metrics_text__says_nothing_of_no_clusterings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
