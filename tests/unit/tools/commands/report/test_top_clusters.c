/* The costliest of many clusters, beside a sort of all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/report/top_clusters.h"

enum { CLUSTERS = 300, MOST = 7, MEMBERS = 6 };

static const double resemblances[] = {1, 0.97, 0.95, 0.9499, 0.6};

static struct top_member member_of(uint64_t cluster, unsigned i)
{
    const uint64_t drawn = mix64(cluster * MEMBERS + i);
    return (struct top_member){
        .id = cluster,
        .path = "path",
        .size_bytes = drawn % 900,
        .mtime = (int64_t)(drawn >> 40),
        .resemblance = i ? resemblances[(drawn >> 20) % 5] : 1,
    };
}

static unsigned n_members(uint64_t cluster)
{
    return 2 + (unsigned)(cluster % (MEMBERS - 1));
}

struct slow {
    uint64_t id, near, loose;
};

static int compare(const void *a, const void *b)
{
    const struct slow *x = a, *y = b;
    if (x->near != y->near)
        return x->near < y->near ? 1 : -1;
    return (x->loose < y->loose) - (x->loose > y->loose);
}

static void test_top_clusters__are_the_first_of_all(void **state)
{
    struct top_clusters top = {.most = MOST};
    struct slow all[CLUSTERS] = {0};
    (void)state;
    for (unsigned c = 0; c < CLUSTERS; c++) {
        all[c].id = c + 1;
        for (unsigned i = 0; i < n_members(c + 1); i++) {
            const struct top_member member = member_of(c + 1, i);
            assert_int_equal(top_clusters_is_first(&top, c + 1), i == 0);
            assert_int_equal(top_clusters_add(&top, &member), 0);
            if (i && member.resemblance >= 0.95)
                all[c].near += member.size_bytes;
            else if (i)
                all[c].loose += member.size_bytes;
        }
    }
    top_clusters_finish(&top);
    qsort(all, CLUSTERS, sizeof(all[0]), compare);
    assert_int_equal(top.n, MOST);
    assert_int_equal(top.n_all, CLUSTERS);
    for (unsigned c = 0; c < MOST; c++) {
        const struct top_cluster *cluster = &top.clusters[c];
        int64_t first = INT64_MAX, last = 0;
        uint64_t bytes = 0;
        assert_int_equal(cluster->id, all[c].id);
        assert_int_equal(cost_near_bytes(&cluster->cost), all[c].near);
        assert_int_equal(cluster->cost.copy_bytes[COST_LOOSE], all[c].loose);
        assert_int_equal(cluster->cost.documents, n_members(cluster->id));
        for (unsigned i = 0; i < n_members(cluster->id); i++) {
            const struct top_member member = member_of(cluster->id, i);
            first = member.mtime < first ? member.mtime : first;
            last = member.mtime > last ? member.mtime : last;
            bytes += member.size_bytes;
        }
        assert_int_equal(cluster->first, first);
        assert_int_equal(cluster->last, last);
        assert_int_equal(cluster->cost.bytes, bytes);
    }
    top_clusters_done(&top);
}

static void test_top_clusters__may_be_fewer_than_wanted(void **state)
{
    struct top_clusters top = {.most = MOST};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct top_member member = member_of(9, i);
        assert_int_equal(top_clusters_add(&top, &member), 0);
    }
    top_clusters_finish(&top);
    assert_int_equal(top.n, 1);
    assert_string_equal(top.clusters[0].representative, "path");
    top_clusters_done(&top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_clusters__are_the_first_of_all),
        cmocka_unit_test(test_top_clusters__may_be_fewer_than_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
