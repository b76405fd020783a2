/* A deep check finds clusters that are not what resemblance makes them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_sizes.h"
#include "engine/index/index_state.h"
#include "engine/index/members/member.h"
#include "engine/index/members/membership.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/indexed_tree.h"

/* Rows that agree with each other, and not with what resembles what. */
static void test_check__clusters_that_are_wrong_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    struct member member;
    uint64_t from = 0, to = 0;
    _cleanup_(record_done) struct record record = {0}, other = {0};
    write_some(f);
    uint64_t sid = document_of(f, "1-1", &record), other_sid = document_of(f, "2-1", &other), size;
    assert_int_equal(living_clusters_of(f->index->clusters, sid, &from, &size), 0);
    assert_int_equal(living_clusters_of(f->index->clusters, other_sid, &to, &size), 0);

    struct membership membership;
    assert_int_equal(membership_init(&membership, f->index->kv, 0), 0);
    member_init(&member, sid, &record);
    assert_int_equal(membership_move(&membership, from, to, &member, 1), 0);
    (void)assert_right(f, false);
    struct report report = check_now(f, true);
    assert_true(report.counts.findings > 0);
    assert_non_null(strstr(report.path, "1-")); /* it, or those it was taken from */
    assert_int_equal(membership_move(&membership, to, from, &member, 1), 0);
    (void)assert_right(f, true);

    /* Two clusters as one. */
    assert_int_equal(membership_move_all(&membership, from, to), 0);
    (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
    membership_done(&membership, false);
}

/* What each of two documents is in, of a clustering. */
struct pair {
    struct membership membership;
    struct member members[2];
    uint64_t clusters[2];
};

static bool take_pair(struct indexed_tree *f, unsigned clustering, struct pair *pair)
{
    static const char *const names[] = {"1-1", "2-1"};
    assert_int_equal(membership_init(&pair->membership, f->index->kv, clustering), 0);
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_(record_done) struct record record = {0};
        uint64_t sid = document_of(f, names[i], &record);
        member_init(&pair->members[i], sid, &record);
        assert_int_equal(membership_cluster_of(&pair->membership, sid, &pair->clusters[i]), 0);
    }
    return pair->clusters[0] > 0 && pair->clusters[1] > 0;
}

static void move(struct pair *pair, uint64_t from, uint64_t to)
{
    assert_int_equal(membership_move(&pair->membership, from, to, &pair->members[0], 1), 0);
}

/* By the store's chance key a cluster may have had two members, and is left with one: that is seen
 * without --deep. */
static bool is_left_with_one(struct indexed_tree *f, uint64_t id)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[SIZE_KEY_BYTES];
    put_be64(key, id);
    int r = kv_get(f->index->kv, TABLE_MEMBERS, (struct kv_slice){key, sizeof(key)}, &value);
    return r == 0 && get_be64(value.data) < 2;
}

static void assert_deeply_wrong(struct indexed_tree *f, uint64_t left)
{
    if (!is_left_with_one(f, left))
        (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
}

/* Of each clustering by its own rule: one in the cluster of others, in none, and two clusters that
 * are one. */
static void test_check__named_clusters_that_are_wrong_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    open_with_clusterings(f);
    write_some(f);
    unsigned n_looked_at = 0;
    for (size_t i = 0; i < f->index->named.n_wanted; i++) {
        struct pair pair;
        if (!take_pair(f, f->index->named.wanted[i].number, &pair)) {
            membership_done(&pair.membership, false); /* super shingles are too much to ask */
            continue;
        }
        n_looked_at++;
        const uint64_t from = pair.clusters[0], to = pair.clusters[1];
        move(&pair, from, to);
        assert_deeply_wrong(f, from);
        move(&pair, to, from);
        move(&pair, from, 0);
        assert_deeply_wrong(f, from);
        move(&pair, 0, from);
        if (f->index->named.wanted[i].remade) { /* alone, under an id that was never given out */
            move(&pair, from, from + 1000);
            assert_true(check_now(f, true).counts.findings > check_now(f, false).counts.findings);
            move(&pair, from + 1000, from);
        }
        (void)assert_right(f, true);
        assert_int_equal(membership_move_all(&pair.membership, from, to), 0);
        assert_deeply_wrong(f, from);
        for (unsigned version = 0; version < 3; version++) { /* those of its family back */
            char name[32];
            _cleanup_(record_done) struct record record = {0};
            snprintf(name, sizeof(name), "%s1-%u", version ? "" : "sub/", version);
            uint64_t sid = document_of(f, name, &record), cluster;
            member_init(&pair.members[0], sid, &record);
            assert_int_equal(membership_cluster_of(&pair.membership, sid, &cluster), 0);
            if (cluster == to)
                move(&pair, to, from);
        }
        membership_done(&pair.membership, false);
        (void)assert_right(f, true);
    }
    assert_true(n_looked_at >= 3);
}

/* Of 80 words each version has 60 of the one before it: those some apart have nothing in common. */
static void write_versions(struct indexed_tree *f)
{
    for (unsigned i = 0; i < 12; i++) {
        char *text = scratch_text(77, 0, 400, 0);
        size_t at = (size_t)8 * 20 * i;
        text[at + (size_t)8 * 80] = '\0';
        scratch_write(scratch_path(f->tree, "v%02u", i), text + at);
        free(text);
    }
    for (unsigned version = 0; version < 3; version++) {
        char name[8];
        snprintf(name, sizeof(name), "1-%u", version);
        write_long(f, name, 1, version);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    index_stop(f->index); /* at rest, for us to write into it */
}

/* Which components are divided: a document missing in one, all of one, and one that hangs together.
 */
static void test_check__components_wrongly_divided_are_found_by_a_deep_check(void **state)
{
    struct indexed_tree *f = *state;
    struct membership divided;
    _cleanup_(record_done) struct record version = {0}, member_of_whole = {0};
    struct member member, other;
    uint64_t component;
    write_versions(f);
    const uint64_t sid = document_of(f, "v03", &version);
    const uint64_t whole = document_of(f, "1-1", &member_of_whole);
    assert_int_equal(membership_init(&divided, f->index->kv, CLUSTERING_DIVIDED), 0);
    assert_int_equal(membership_cluster_of(&divided, sid, &component), 0);
    assert_true(component > 0);
    (void)assert_right(f, true);
    member_init(&member, sid, &version);
    member_init(&other, whole, &member_of_whole);

    assert_int_equal(membership_move(&divided, component, 0, &member, 1), 0);
    (void)assert_right(f, false);
    assert_true(check_now(f, true).counts.findings > 0);
    assert_int_equal(membership_move(&divided, 0, component, &member, 1), 0);
    (void)assert_right(f, true);
    assert_int_equal(membership_move(&divided, 0, component, &other, 1), 0);
    assert_true(check_now(f, true).counts.findings > 0);
    assert_int_equal(membership_move(&divided, component, 0, &other, 1), 0);
    (void)assert_right(f, true);
    assert_int_equal(membership_move_all(&divided, component, 0), 0);
    assert_true(check_now(f, true).counts.findings > 0);
    membership_done(&divided, false);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__clusters_that_are_wrong_are_found_by_a_deep_check),
        CASE(test_check__components_wrongly_divided_are_found_by_a_deep_check),
        CASE(test_check__named_clusters_that_are_wrong_are_found_by_a_deep_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
