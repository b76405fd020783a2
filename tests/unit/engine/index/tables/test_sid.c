/* Each decoder of a store's rows takes the largest number that there can be, and refuses a larger
 * one as damage. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/tables/classes.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/members/member.h"
#include "engine/index/members/membership.h"
#include "engine/index/postings/postings.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "tests/lib/stores/kv_memory.h"

static void write_row(struct kv *kv, unsigned table, const void *key, size_t key_bytes,
                      const void *value, size_t value_bytes)
{
    struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, table, (struct kv_slice){key, key_bytes},
                 (struct kv_slice){value, value_bytes});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
}

static int ignore_record(void *user, uint64_t sid, const struct record *record)
{
    (void)user, (void)sid, (void)record;
    return 0;
}

static int read_record(struct kv *kv, uint64_t sid)
{
    const struct record record = {.key = {.size_bytes = FILE_KEY_MIN_BYTES},
                                  .form.type = TEXT_BINARY,
                                  .sketch = {.s = 128, .m = 25, .v_below = UINT64_MAX / 25}};
    struct record_key key;
    struct kv_buf value;
    assert_int_equal(record_encode(&record, &value), 0);
    write_row(kv, TABLE_RECORDS, record_key(&key, sid).data, 8, value.data, value.size_bytes);
    kv_buf_done(&value);
    return records_each(kv, 1, ignore_record, NULL);
}

static int read_file(struct kv *kv, uint64_t sid)
{
    const struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    const struct file_row row = {.sid = sid};
    struct file_row found;
    struct kv_batch *batch = kv_batch_new();
    catalogue_put_file(batch, &key, &row);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    return catalogue_get_file(kv, &key, &found);
}

static int read_class(struct kv *kv, uint64_t sid)
{
    uint8_t key[CLASS_BYTES + 8] = "T";
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    put_be64(key + CLASS_BYTES, sid);
    write_row(kv, TABLE_CLASSES, key, sizeof(key), "", 0);
    return classes_list(kv, key, 0, 1, &sids);
}

static int read_postings(struct kv *kv, uint64_t sid, bool all)
{
    static const unsigned tables[POSTINGS_N_TIERS] = {TABLE_TIER_R, TABLE_TIER_C};
    uint64_t fingerprint = 7;
    const struct min_sketch sketch = {.n_values = 1, .values = &fingerprint};
    struct postings *postings;
    uint8_t key[16];
    put_be64(key, fingerprint);
    put_be64(key + 8, sid);
    write_row(kv, TABLE_TIER_R, key, sizeof(key), "", 0);
    assert_int_equal(postings_open(kv, tables, 1, &postings), 0);
    struct sid_list list = {0};
    int r = all ? postings_candidates(postings, POSTINGS_TIER_R, &sketch, &list)
                : postings_first(postings, POSTINGS_TIER_R, fingerprint, 1, &list);
    sid_list_done(&list);
    postings_close(postings);
    return r;
}

static int read_candidates(struct kv *kv, uint64_t sid)
{
    return read_postings(kv, sid, true);
}

static int read_first_posting(struct kv *kv, uint64_t sid)
{
    return read_postings(kv, sid, false);
}

static int read_member(struct kv *kv, uint64_t sid)
{
    const struct record record = {.key = {.size_bytes = FILE_KEY_MIN_BYTES}};
    uint8_t bytes[MEMBER_KEY_MAX_BYTES];
    struct member member, found;
    (void)kv;
    member_init(&member, sid, &record);
    const struct kv_slice key = member_key(bytes, 1, &member);
    return member_parse(&key, &found);
}

static int read_cluster_of(struct kv *kv, uint64_t sid)
{
    uint8_t bytes[CLUSTER_OF_KEY_BYTES], cluster[8];
    put_be64(cluster, 1);
    const struct kv_entry row = {member_cluster_of_key(bytes, sid, 0), {cluster, 8}};
    (void)kv;
    return member_is_cluster_of(&row) ? 0 : -EUCLEAN;
}

/* By one document, and with others. */
static int read_cluster(struct kv *kv, unsigned clustering, uint64_t cluster)
{
    const uint64_t sid = 3;
    uint8_t key[CLUSTER_OF_KEY_BYTES], value[8];
    const struct kv_slice row = member_cluster_of_key(key, sid, clustering);
    struct membership membership;
    uint64_t found, among_others;
    put_be64(value, cluster);
    write_row(kv, TABLE_CLUSTER_OF, row.data, row.size_bytes, value, 8);
    assert_int_equal(membership_init(&membership, kv, clustering), 0);
    int r = membership_cluster_of(&membership, sid, &found);
    assert_int_equal(membership_look_up(&membership, &sid, 1, &among_others), r);
    assert_true(r < 0 || (found == cluster && among_others == cluster));
    membership_done(&membership, true);
    return r;
}

static int read_alias(struct kv *kv, uint64_t cluster)
{
    uint8_t key[8], value[8];
    uint64_t found;
    put_be64(key, CLUSTER_ALIAS_MARK | 5);
    put_be64(value, cluster);
    write_row(kv, TABLE_MEMBERS, key, 8, value, 8);
    return cluster_aliases_find(kv, 5, &found);
}

static int read_intent(struct kv *kv, enum intent kind, uint64_t number)
{
    _cleanup_(number_vector_done) struct number_vector numbers = {0};
    struct kv_batch *batch = kv_batch_new();
    intent_put(batch, kind, number, (struct kv_slice){"", 0});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    return intents_list(kv, kind, &numbers);
}

static int read_posted(struct kv *kv, uint64_t sid)
{
    return read_intent(kv, INTENT_POSTED, sid);
}

static int read_deleted(struct kv *kv, uint64_t sid)
{
    return read_intent(kv, INTENT_DELETE, sid);
}

static void test_sid__one_that_no_store_has_given_out_is_damage(void **state)
{
    static const struct {
        const char *what;
        int (*read)(struct kv *kv, uint64_t sid);
    } places[] = {
        {"record", read_record},
        {"file", read_file},
        {"class", read_class},
        {"candidates", read_candidates},
        {"first posting", read_first_posting},
        {"member", read_member},
        {"cluster of", read_cluster_of},
        {"former id", read_alias},
        {"posted", read_posted},
        {"deleted", read_deleted},
    };
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (uint64_t j = 0; j < 2; j++) {
            const uint64_t sid = (uint64_t)INT64_MAX + j;
            struct kv *kv;
            assert_int_equal(kv_memory_open(&options, &kv), 0);
            int r = places[i].read(kv, sid);
            kv_close(kv);
            if (r != (j ? -EUCLEAN : 0))
                fail_msg("%s: %d of %llx", places[i].what, r, (unsigned long long)sid);
        }
}

static void test_sid__a_cluster_of_another_clustering_is_damage(void **state)
{
    static const unsigned clusterings[] = {0, 1, CLUSTERING_CENTRES_FROM, CLUSTERING_MAX};
    enum { N = sizeof(clusterings) / sizeof(clusterings[0]) };
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    (void)state;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= N; j++) {
            struct kv *kv;
            assert_int_equal(kv_memory_open(&options, &kv), 0);
            const uint64_t id = j < N ? clustering_base(clusterings[j]) + 5 : UINT64_MAX;
            assert_int_equal(read_cluster(kv, clusterings[i], id), i == j ? 0 : -EUCLEAN);
            kv_close(kv);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sid__one_that_no_store_has_given_out_is_damage),
        cmocka_unit_test(test_sid__a_cluster_of_another_clustering_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
