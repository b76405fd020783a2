/* What happens to a world. */
#include "tests/lib/histories/cluster_world_private.h"

static int world_put_record(struct world *world, const struct world_document *document)
{
    struct kv_batch *batch = kv_batch_new();
    struct kv_buf value;
    uint8_t key[8];
    int r;

    assert_non_null(batch);
    assert_int_equal(record_encode(&document->record, &value), 0);
    put_be64(key, document->sid);
    kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 8}, kv_buf_slice(&value));
    do
        r = kv_apply(world->kv, batch);
    while (r == -EAGAIN || r == -ETIMEDOUT);
    kv_batch_free(batch);
    kv_buf_done(&value);
    return r;
}

/* Another document, or all that are in its cluster, or all but one. */
static void world_choose_more(struct world *world, struct world_step *step)
{
    uint64_t id = step->old[0]->model_id;
    if (world_random(world, 2)) {
        struct world_document *more = world_pick(world);
        if (more != step->old[0])
            step->old[step->n_old++] = more;
    }
    bool but_one = world_random(world, 2);
    for (unsigned i = 0; id && i < world->n_documents && step->n_old < WORLD_OLD; i++) {
        struct world_document *document = &world->documents[i];
        if (!document->live || document->model_id != id || document == step->old[0] ||
            (step->n_old > 1 && document == step->old[1]))
            continue;
        if (but_one)
            but_one = false;
        else
            step->old[step->n_old++] = document;
    }
}

struct world_step world_choose(struct world *world, unsigned n_target)
{
    struct world_step step = {0};
    unsigned n_live = 0;

    for (unsigned i = 0; i < world->n_documents; i++)
        n_live += world->documents[i].live;
    if (world_random(world, 12) == 0)
        return step;
    bool grow = world_random(world, 2 * n_target) >= n_live;
    unsigned kind = (unsigned)world_random(world, 4);
    if (n_live > 0 && (kind == 0 || (kind < 3 && !grow)))
        step.old[step.n_old++] = world_pick(world);
    if (!step.n_old || kind == 0)
        step.new[step.n_new++] = world_write(
            world, step.n_old && world_random(world, 3) ? step.old[0] : world_pick(world));
    else if (world_random(world, 3) == 0)
        world_choose_more(world, &step);
    /* Some that come together, of one kind or of several. */
    while (step.n_new && !step.n_old && step.n_new < WORLD_NEW && world_random(world, 3) == 0) {
        struct world_document *like =
            world_random(world, 2) ? step.new[step.n_new - 1] : world_pick(world);
        step.new[step.n_new++] = world_write(world, like);
    }
    return step;
}

int world_do(struct world *world, const struct world_step *step)
{
    const struct world_document *old = step->old[0], *new = step->new[0];
    uint64_t last = world->n_documents ? world->n_documents - 1 : 0, sids[WORLD_OLD];
    const struct record *records[WORLD_OLD];
    int r = 0;

    static_assert(WORLD_NEW <= WORLD_OLD, "one array for both");

    if (!old && !new) {
        r = living_clusters_flush_postings(world->clusters);
        if (r == 0)
            world->flushed_sid = last;
        return r;
    }
    for (unsigned i = 0; r == 0 && i < step->n_new; i++)
        r = world_put_record(world, step->new[i]);
    if (r < 0)
        return r;
    if (old && new)
        return living_clusters_replace(world->clusters, old->sid, &old->record, new->sid,
                                       &new->record);
    for (unsigned i = 0; i < step->n_new; i++) {
        sids[i] = step->new[i]->sid;
        records[i] = &step->new[i]->record;
    }
    if (new)
        return living_clusters_insert_all(world->clusters, sids, records, step->n_new);
    for (unsigned i = 0; i < step->n_old; i++) {
        sids[i] = step->old[i]->sid;
        records[i] = &step->old[i]->record;
    }
    return living_clusters_delete_all(world->clusters, sids, records, step->n_old);
}

int world_recluster(struct world *world)
{
    int r;
    while ((r = living_clusters_recluster(world->clusters)) > 0)
        ;
    return r;
}

int world_do_all(struct world *world, const struct world_step *step)
{
    int r = world_do(world, step);
    return r < 0 ? r : world_recluster(world);
}

int world_recover(struct world *world, const struct world_step *step)
{
    int r = living_clusters_recover(world->clusters);
    for (uint64_t sid = world->flushed_sid + 1; r == 0 && sid < world->n_documents; sid++) {
        struct kv_buf value;
        uint8_t key[8];
        put_be64(key, sid);
        r = kv_get(world->kv, TABLE_RECORDS, (struct kv_slice){key, 8}, &value);
        if (r == 0) {
            kv_buf_done(&value);
            r = step && step->n_new && step->n_old && step->new[0]->sid == sid
                    ? world_do(world, step)
                    : living_clusters_insert(world->clusters, sid, &world->documents[sid].record);
        } else if (r == -ENOENT) {
            r = 0;
        }
    }
    return r;
}

static void do_all(struct world *world, const struct world_step *step)
{
    assert_int_equal(world_do_all(world, step), 0);
    world_model_step(world, step);
}

void world_insert(struct world *world, struct world_document *document)
{
    do_all(world, &(struct world_step){.new = {document}, .n_new = 1});
}

void world_delete(struct world *world, struct world_document *document)
{
    do_all(world, &(struct world_step){.old = {document}, .n_old = 1});
}

uint64_t world_id_of(struct world *world, const struct world_document *document)
{
    uint64_t id, size;
    assert_int_equal(living_clusters_of(world->clusters, document->sid, &id, &size), 0);
    return id;
}
