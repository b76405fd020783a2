/* Whole histories over a world (cluster_world.h), compared with the slow way after every step. */
#ifndef KINFS_TESTS_LIB_HISTORIES_CLUSTER_HISTORIES_H
#define KINFS_TESTS_LIB_HISTORIES_CLUSTER_HISTORIES_H

#include "tests/lib/histories/cluster_world.h"

static const struct kv_fault_plan no_fault;

/* All of it, to an end at which nothing is left to be finished. Closes the world, as those below.
 */
static inline void world_run(struct world *world, unsigned n_steps, unsigned n_target)
{
    for (unsigned i = 0; i < n_steps; i++) {
        struct world_step step = world_choose(world, n_target);
        assert_int_equal(world_do_all(world, &step), 0);
        world_model_step(world, &step);
        world_check(world);
    }
    assert_int_equal(living_clusters_flush_postings(world->clusters), 0);
    assert_int_equal(world_count_rows(world, TABLE_INTENTS), 0);
    world_close(world);
}

/* The store died: a new process over what survived. step: what it died of, may be NULL. */
static inline void world_restart(struct world *world, const struct world_step *step)
{
    world_stop(world);
    world_start(world, &no_fault);
    assert_int_equal(world_recover(world, step), 0);
}

/* As world_do_all(); where the store dies of it, for the first time (*crashed), a new process over
 * what survived does it again. */
static inline void world_do_or_restart(struct world *world, const struct world_step *step,
                                       bool *crashed)
{
    int r = world_do_all(world, step);

    if (r == -EIO && !*crashed) {
        *crashed = true;
        world_restart(world, step);
        r = world_do_all(world, step);
    }
    assert_int_equal(r, 0);
}

/* The store fails at a call, of whatever kind, and then works again: no new process, the step is
 * repeated. Returns whether it failed at all. */
static inline bool world_run_with_failure(struct world *world, unsigned n_steps, unsigned n_target)
{
    bool failed = false;

    for (unsigned i = 0; i < n_steps; i++) {
        struct world_step step = world_choose(world, n_target);
        int r = world_do_all(world, &step);
        if (r == -ENOSPC) {
            failed = true;
            r = world_do_all(world, &step);
        }
        assert_int_equal(r, 0);
        world_model_step(world, &step);
        world_check(world);
    }
    world_close(world);
    return failed;
}

static inline struct world_document *write_tokens(struct world *world, unsigned from, unsigned n)
{
    struct world_document *document = world_new_document(world);
    document->n_tokens = n;
    for (unsigned i = 0; i < n; i++)
        document->tokens[i] = from + i;
    document->content = world->n_documents; /* each its own */
    world_finish_document(world, document);
    return document;
}

#endif
