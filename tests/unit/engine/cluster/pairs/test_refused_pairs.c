#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/cluster/pairs/refused_pairs.h"
#include "tests/lib/trials.h"

/* Whatever the room: nothing is remembered that was not added, the last one always is, in either
 * order; and where there is room, most of all. */
static void test_refused_pairs__remembers_only_what_was_added(void **state)
{
    (void)state;
    enum { N = 20000, N_DOCUMENTS = 300 };
    const size_t rooms[] = {0, 8, 100, 1 << 12, 1 << 24};
    static bool added[N_DOCUMENTS][N_DOCUMENTS];
    for (unsigned i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        struct refused_pairs refused;
        uint64_t x = i;
        unsigned n_added = 0, n_found = 0;
        memset(added, 0, sizeof(added));
        assert_int_equal(refused_pairs_init(rooms[i], &refused), 0);
        for (unsigned j = 0; j < N; j++) {
            uint32_t a = (uint32_t)(mix64_next(&x) % N_DOCUMENTS),
                     b = (uint32_t)(mix64_next(&x) % N_DOCUMENTS);
            if (a == b)
                continue;
            assert_true(added[a][b] || !refused_pairs_has(&refused, a, b));
            refused_pairs_add(&refused, a, b);
            assert_true(refused_pairs_has(&refused, a, b) && refused_pairs_has(&refused, b, a));
            added[a][b] = added[b][a] = true;
        }
        for (uint32_t a = 0; a < N_DOCUMENTS; a++) {
            for (uint32_t b = 0; b < a; b++) {
                n_added += added[a][b];
                n_found += refused_pairs_has(&refused, a, b);
                assert_true(added[a][b] || !refused_pairs_has(&refused, a, b));
            }
        }
        assert_true(n_found > 0 && n_found <= refused.n);
        assert_true(rooms[i] < 1 << 24 || n_found > n_added / 10 * 9);
        refused_pairs_done(&refused);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_pairs__remembers_only_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
