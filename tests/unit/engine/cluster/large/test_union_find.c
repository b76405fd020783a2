#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "engine/cluster/large/union_find.h"

static void test_union_find__starts_with_every_member_alone(void **state)
{
    (void)state;
    struct union_find sets;
    assert_int_equal(union_find_init(&sets, 10), 0);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(union_find_root(&sets, i), i);
    union_find_done(&sets);
    assert_int_equal(union_find_init(&sets, 0), 0);
    union_find_done(&sets);
    union_find_done(&sets);
    assert_int_equal(union_find_init(&sets, (size_t)UINT32_MAX + 1), -EOVERFLOW);
}

static void test_union_find__agrees_with_relabelling_everything(void **state)
{
    (void)state;
    enum { N = 200, ROUNDS = 50 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct union_find sets;
        uint32_t label[N];
        unsigned seed = round;
        assert_int_equal(union_find_init(&sets, N), 0);
        for (uint32_t i = 0; i < N; i++)
            label[i] = i;
        for (unsigned joins = 0; joins < N; joins++) {
            uint32_t x = (uint32_t)rand_r(&seed) % N, y = (uint32_t)rand_r(&seed) % N;
            uint32_t keep = label[x] < label[y] ? label[x] : label[y];
            uint32_t drop = label[x] < label[y] ? label[y] : label[x];
            assert_int_equal(union_find_join(&sets, x, y), keep != drop);
            for (uint32_t i = 0; i < N; i++)
                if (label[i] == drop)
                    label[i] = keep;
        }
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(union_find_root(&sets, i), label[i]);
        union_find_done(&sets);
    }
}

enum { N_SHARED = 20000, N_THREADS = 3, N_JOINS = 15000 };

struct joins {
    struct union_find *sets;
    unsigned seed, n_joined;
};

static void *join_some(void *user)
{
    struct joins *joins = user;
    unsigned seed = joins->seed;
    for (unsigned i = 0; i < N_JOINS; i++) {
        uint32_t x = (uint32_t)rand_r(&seed) % N_SHARED;
        uint32_t y = i % 2 ? x / 2 : (uint32_t)rand_r(&seed) % N_SHARED;
        joins->n_joined += (unsigned)union_find_join(joins->sets, x, y);
    }
    return NULL;
}

/* C6: several threads that join at once make the sets that one makes, of as many joins. */
static void test_union_find__threads_make_the_same_sets(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++) {
        struct union_find once, shared;
        struct joins joins[N_THREADS];
        pthread_t threads[N_THREADS];
        unsigned n_once = 0, n_shared = 0;
        assert_int_equal(union_find_init(&once, N_SHARED), 0);
        assert_int_equal(union_find_init(&shared, N_SHARED), 0);
        for (unsigned i = 0; i < N_THREADS; i++) {
            joins[i] = (struct joins){&once, round * N_THREADS + i, 0};
            join_some(&joins[i]);
            n_once += joins[i].n_joined;
        }
        for (unsigned i = 0; i < N_THREADS; i++) {
            joins[i] = (struct joins){&shared, round * N_THREADS + i, 0};
            assert_int_equal(pthread_create(&threads[i], NULL, join_some, &joins[i]), 0);
        }
        for (unsigned i = 0; i < N_THREADS; i++) {
            pthread_join(threads[i], NULL);
            n_shared += joins[i].n_joined;
        }
        assert_int_equal(n_once, n_shared);
        for (uint32_t i = 0; i < N_SHARED; i++)
            assert_int_equal(union_find_root(&once, i), union_find_root(&shared, i));
        union_find_done(&once);
        union_find_done(&shared);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_union_find__starts_with_every_member_alone),
        cmocka_unit_test(test_union_find__agrees_with_relabelling_everything),
        cmocka_unit_test(test_union_find__threads_make_the_same_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
