/* Cluster ids as they are shown: a permutation, against the same one computed by OpenSSL's SipHash.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/members/shown_ids.h"

static struct shown_ids make(struct policy *ret_policy)
{
    struct shown_ids ids;
    assert_int_equal(policy_preset("default", ret_policy), 0);
    shown_ids_init(&ids, ret_policy);
    return ids;
}

static const uint64_t edges[] = {1,
                                 2,
                                 3,
                                 0xffff,
                                 0x10000,
                                 UINT32_MAX - 1,
                                 UINT32_MAX,
                                 UINT64_C(1) << 32,
                                 (UINT64_C(1) << 32) + 1,
                                 UINT64_C(1) << 55,
                                 (UINT64_C(1) << 56) - 1,
                                 (UINT64_C(1) << 56) + 1, /* of other clusterings */
                                 (UINT64_C(63) << 56) + 77,
                                 (UINT64_C(1) << 62) - 1};
enum { N_EDGES = sizeof(edges) / sizeof(edges[0]) };

static void assert_reads_back(const struct shown_ids *ids, uint64_t id)
{
    uint64_t shown = shown_ids_show(ids, id);
    assert_true(shown > 0 && shown < UINT64_C(1) << 62);
    assert_int_equal(shown >> 56, id >> 56);
    assert_int_equal(shown << 8 >> 40 == 0, id << 8 >> 40 == 0);
    assert_int_equal(shown_ids_read(ids, shown), id);
    assert_int_equal(shown_ids_show(ids, shown_ids_read(ids, id)), id);
}

static void test_shown_ids__are_read_back(void **state)
{
    (void)state;
    struct policy policy;
    for (int i = 0; i < 20; i++) {
        const struct shown_ids ids = make(&policy);
        for (size_t j = 0; j < N_EDGES; j++)
            assert_reads_back(&ids, edges[j]);
        for (uint64_t id = 1; id < 20000; id++)
            assert_reads_back(&ids, id);
    }
}

static void test_shown_ids__of_no_id_are_none(void **state)
{
    (void)state;
    struct policy policy;
    const struct shown_ids ids = make(&policy);
    for (int i = 0; i < 4; i++) {
        const uint64_t none = i ? UINT64_C(1) << (60 + i) << (i == 1) : 0;
        assert_int_equal(shown_ids_show(&ids, none), 0);
        assert_int_equal(shown_ids_read(&ids, none), 0);
    }
    assert_int_equal(shown_ids_show(&ids, UINT64_C(5) << 56), 0);
    assert_int_equal(shown_ids_read(&ids, UINT64_C(5) << 56), 0);
    assert_int_equal(shown_ids_show(&ids, UINT64_MAX), 0);
    assert_int_equal(shown_ids_read(&ids, UINT64_MAX), 0);
}

/* -- the other route -- */

static uint64_t openssl_siphash(EVP_MAC *mac, const uint8_t key[16], uint64_t message)
{
    uint8_t bytes[8], digest[8];
    size_t n, digest_bytes = sizeof(digest);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(message >> 8 * i);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &digest_bytes),
                                 OSSL_PARAM_END};
    assert_int_equal(EVP_MAC_init(context, key, 16, params), 1);
    assert_int_equal(EVP_MAC_update(context, bytes, sizeof(bytes)), 1);
    assert_int_equal(EVP_MAC_final(context, digest, &n, sizeof(digest)), 1);
    assert_int_equal(n, sizeof(digest));
    EVP_MAC_CTX_free(context);
    uint64_t value = 0;
    for (int i = 8; i-- > 0;)
        value = value << 8 | digest[i];
    return value;
}

static uint64_t show_slowly(EVP_MAC *mac, const uint8_t key[16], uint64_t id)
{
    const uint64_t clustering = id >> 56;
    id %= UINT64_C(1) << 56;
    const unsigned bits = id >> 32 ? 56 : 32;
    const uint64_t first = id >> 32 ? UINT64_C(1) << 32 : 1;
    do {
        for (uint64_t round = 0; round < 8; round++) {
            const uint64_t low = id % (UINT64_C(1) << bits / 2), high = id >> bits / 2;
            const uint64_t message = ((uint64_t)bits * 256 + round) << 48 | low;
            const uint64_t f = openssl_siphash(mac, key, message) % (UINT64_C(1) << bits / 2);
            id = low << bits / 2 | (high ^ f);
        }
    } while (id < first);
    return clustering << 56 | id;
}

static void test_shown_ids__are_what_another_siphash_makes_them(void **state)
{
    (void)state;
    struct policy policy;
    const struct shown_ids ids = make(&policy);
    uint8_t derived[POLICY_KEY_BYTES], key[16];
    policy_derive(&policy, "kinfs shown ids", derived);
    for (int i = 0; i < 8; i++) {
        key[i] = derived[7 - i]; /* SipHash reads its key lowest byte first */
        key[8 + i] = derived[15 - i];
    }
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    if (!mac)
        skip();
    for (size_t i = 0; i < N_EDGES; i++)
        assert_int_equal(shown_ids_show(&ids, edges[i]), show_slowly(mac, key, edges[i]));
    for (uint64_t id = 1; id < 500; id++)
        assert_int_equal(shown_ids_show(&ids, id), show_slowly(mac, key, id));
    EVP_MAC_free(mac);
}

/* -- what can be told from them -- */

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first ids of a store are spread over the whole range: each of 64 parts of it has about as
 * many, and half of all neighbours go up. */
static void test_shown_ids__are_of_no_order(void **state)
{
    (void)state;
    enum { N = 64000, PARTS = 64 };
    static uint64_t shown[N];
    struct policy policy;
    const struct shown_ids ids = make(&policy);
    int in_part[PARTS] = {0}, n_up = 0;
    for (int i = 0; i < N; i++) {
        shown[i] = shown_ids_show(&ids, (uint64_t)i + 1);
        in_part[shown[i] >> 26]++;
        n_up += i && shown[i] > shown[i - 1];
    }
    /* Six standard errors: of 1000 in a part 32 each, of the way up at most 127. */
    for (int i = 0; i < PARTS; i++)
        assert_in_range(in_part[i], 1000 - 190, 1000 + 190);
    assert_in_range(n_up, N / 2 - 760, N / 2 + 760);
    qsort(shown, N, sizeof(shown[0]), ascending);
    for (int i = 1; i < N; i++)
        assert_true(shown[i] != shown[i - 1]);
}

static void test_shown_ids__are_those_of_their_store(void **state)
{
    (void)state;
    struct policy policy, other;
    const struct shown_ids ids = make(&policy), others = make(&other);
    struct shown_ids again;
    int n_same = 0;
    shown_ids_init(&again, &policy);
    for (uint64_t id = 1; id < 1000; id++) {
        assert_int_equal(shown_ids_show(&again, id), shown_ids_show(&ids, id));
        n_same += shown_ids_show(&others, id) == shown_ids_show(&ids, id);
    }
    assert_true(n_same < 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown_ids__are_read_back),
        cmocka_unit_test(test_shown_ids__of_no_id_are_none),
        cmocka_unit_test(test_shown_ids__are_what_another_siphash_makes_them),
        cmocka_unit_test(test_shown_ids__are_of_no_order),
        cmocka_unit_test(test_shown_ids__are_those_of_their_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
