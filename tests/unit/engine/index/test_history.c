/* C19: clusters that followed every change, over a process killed at any moment, are those of an
 * index made anew, of the batch, and of comparing all pairs and dividing what is loose.
 *
 *   test_history                                        a small history, as a test
 *   test_history OPERATIONS SEED [PLACES]               a long one, as a table
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/lib/histories/history.h"

/* A number that depends on the seed and on how far it has come. */
static unsigned draw(uint64_t seed, uint64_t n, unsigned below)
{
    uint64_t z = (seed + n) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return (unsigned)((z ^ (z >> 31)) % below);
}

/* Operations up to `until` in lives of `mean` each, of which most end by a kill: some before the
 * first operation, some at the end. Returns how many did, or -1 when one ended otherwise. */
static int live_in_pieces(struct history *history, uint64_t until, unsigned mean)
{
    int n_killed = 0;
    for (unsigned life = 0; history_n_done(history) < until; life++) {
        uint64_t at = until + 4 * (uint64_t)life;
        uint64_t next = history_n_done(history) + draw(history->seed, at, 2 * mean);
        unsigned kind = draw(history->seed, at + 1, 8);
        bool good = kind == 0 ? history_live(history, next)
                              : history_live_and_die(history, next, kind > 5,
                                                     draw(history->seed, at + 2, 30000));
        if (!good)
            return -1;
        n_killed += kind > 0;
    }
    return n_killed;
}

static void
test_history__living_clusters_are_those_of_an_index_made_anew_and_of_the_batch(void **state)
{
    uint64_t n_divided = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct history history;
        struct history_truth truth;
        history_begin(&history, seed, 300);
        for (uint64_t until = 500; until <= 1500; until += 500) {
            assert_true(live_in_pieces(&history, until, 80) > 0);
            assert_true(history_check(&history, &truth));
            assert_true(truth.same_as_all_pairs || truth.n_apart16 > 0);
            n_divided += truth.n_divided;
        }
        assert_true(truth.n_documents > 100 && truth.n_clusters > 10);
        history_end(&history);
    }
    assert_true(n_divided > 0);
}

static int run_long(uint64_t n_operations, uint64_t seed, unsigned n_places)
{
    enum { CHECKS = 20 };
    struct history history;
    history_begin(&history, seed, n_places);
    printf("seed %lu, %lu operations, %u places\n\n", (unsigned long)seed,
           (unsigned long)n_operations, n_places);
    printf(
        "| operations | killed | documents | clusters | in clusters | largest | divided | pairs"
        " | with none of 16 in common | of 24 | all equal |\n|---|---|---|---|---|---|---|---|---|"
        "---|---|\n");
    int n_killed = 0;
    for (unsigned i = 1; i <= CHECKS; i++) {
        struct history_truth truth;
        int n = live_in_pieces(&history, n_operations * i / CHECKS, 150);
        if (n < 0 || !history_check(&history, &truth)) {
            printf("\nNOT EQUAL after %lu operations; what there is stands in %s\n",
                   (unsigned long)history_n_done(&history), history.root);
            return 1;
        }
        n_killed += n;
        printf("| %lu | %d | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %s |\n",
               (unsigned long)history_n_done(&history), n_killed, (unsigned long)truth.n_documents,
               (unsigned long)truth.n_clusters, (unsigned long)truth.n_clustered,
               (unsigned long)truth.largest, (unsigned long)truth.n_divided,
               (unsigned long)truth.n_pairs, (unsigned long)truth.n_apart16,
               (unsigned long)truth.n_apart24,
               truth.same_as_all_pairs ? "yes" : "but for those pairs");
        fflush(stdout);
    }
    history_end(&history);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_history__living_clusters_are_those_of_an_index_made_anew_and_of_the_batch),
    };
    if (argc > 2)
        return run_long(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10),
                        argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1200);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
