#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/index.h"

static void test_clustering__texts_are_read_and_printed(void **state)
{
    static const struct {
        const char *text, *printed;
    } good[] = {{"near:components:0.95", "near:components:0.95"},
                {"a-b_9:components:1.0", "a-b_9:components:1"},
                {"x:components:.5:containment:9e-1", "x:components:0.5:containment:0.9"},
                {"c:center:0.25", "c:center:0.25"},
                {"s:supershingle", "s:supershingle"},
                {"p:broder1997", "p:broder1997:0.5"},
                {"p:broder1997:0.35", "p:broder1997:0.35"},
                {"e:exact:0.9", "e:exact:0.9"},
                {"f:fast:1", "f:fast:1"}};
    static const char *const bad[] = {"",
                                      "near",
                                      "near:",
                                      "7:components:0.5",
                                      "a/b:components:0.5",
                                      "CACHEDIR.TAG:components:0.5",
                                      "size:components:0.5",
                                      ":components:0.5",
                                      "near:component:0.5",
                                      "near:components",
                                      "near:components:",
                                      "near:components:0",
                                      "near:components:1.1",
                                      "near:components:nan",
                                      "near:components:0.5x",
                                      "near:components:0.5:containment",
                                      "near:components:0.5:containment:0",
                                      "near:components:0.5:containment:0.9:x",
                                      "near:components:0.5:0.9",
                                      "near:center",
                                      "near:supershingle:0.9",
                                      "near:center:2",
                                      "near:exact",
                                      "near:fast:0",
                                      "near:broder1997:",
                                      "near:broder1997:0.5:0.5",
                                      "near:center:0.5:containment:0.9",
                                      "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn:components:0.5"};
    struct index_clustering clustering;
    char printed[INDEX_CLUSTERING_TEXT_BYTES];
    (void)state;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(index_clustering_parse(good[i].text, &clustering, NULL), 0);
        index_clustering_print(&clustering, printed);
        assert_string_equal(printed, good[i].printed);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *error = NULL;
        assert_int_equal(index_clustering_parse(bad[i], &clustering, &error), -EINVAL);
        assert_non_null(error);
        assert_non_null(strstr(error, "clustering"));
        assert_null(strchr(error, '\n'));
        free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clustering__texts_are_read_and_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
