#include "engine/index/named/remaking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"
#include "engine/index/topics/topics_finding.h"

enum {
    PAGE_RECORDS = 256,
    WORK_BYTES = 64 << 20, /* beside what a batch needs for each document */
};

/* Documents get numbers here, all that there are. */
static int list_sids(struct remaking_task *task, const bool *stop)
{
    uint64_t from = 0;
    for (;;) {
        struct record_key key;
        const struct kv_range range = {.from = record_key(&key, from)};
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = kv_scan(task->kv, TABLE_RECORDS, &range, PAGE_RECORDS, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
            r = record_decode_key(page.entries[i].key, &from);
            if (r == 0)
                r = number_vector_push(&task->plan.sids, from++);
        }
        if (r == 0 && parallel_told(stop))
            r = -ESHUTDOWN;
        if (r < 0 || !page.more || page.n_entries == 0)
            return r;
    }
}

struct reading {
    const struct number_vector *sids;
    const bool *stop;
    struct batch_writer *writer;
    size_t next;
};

/* A document that came meanwhile has no number; one that went has a number, and resembles nothing.
 */
static int add_record(void *user, uint64_t sid, const struct record *record)
{
    struct reading *reading = user;
    const struct number_vector *sids = reading->sids;
    if (parallel_told(reading->stop))
        return -ESHUTDOWN;
    while (reading->next < sids->n_numbers && sids->numbers[reading->next] < sid)
        reading->next++;
    if (reading->next == sids->n_numbers || sids->numbers[reading->next] != sid)
        return 0;
    struct document_sketch sketch = {
        .form = record->form, .size_bytes = record->size_bytes, .sketch = record->sketch};
    memcpy(sketch.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.text_fingerprint, record->text_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.shingle_fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES);
    return batch_writer_add(reading->writer, (uint32_t)reading->next, &sketch);
}

static int add_records(struct remaking_task *task, const bool *stop, struct batch *batch)
{
    struct reading reading = {.sids = &task->plan.sids, .stop = stop};
    int r = batch_writer_new(batch, &reading.writer);
    if (r == 0)
        r = records_each(task->kv, 1, add_record, &reading);
    if (r == 0)
        r = batch_writer_flush(reading.writer);
    batch_writer_free(reading.writer);
    return r;
}

static int cluster(struct remaking_task *task, const bool *stop)
{
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    struct move_plan *plan = &task->plan;
    const size_t n = plan->sids.n_numbers;
    if (n >= UINT32_MAX)
        return -E2BIG;
    struct batch_options options = task->how;
    options.scratch = task->scratch;
    options.memory_bytes = batch_least_memory((uint32_t)n) + WORK_BYTES;
    options.n_threads = 1;
    options.n_documents = (uint32_t)n;
    options.stop = stop;
    plan->groups = calloc(n + 1, sizeof(*plan->groups));
    int r = plan->groups ? batch_new(task->policy, &options, &batch) : -ENOMEM;
    if (r == 0)
        r = add_records(task, stop, batch);
    if (r == 0)
        r = batch_run(batch);
    if (r < 0)
        return r;
    if (n)
        memcpy(plan->groups, batch_clusters(batch), n * sizeof(*plan->groups));
    const struct batch_totals *totals = batch_totals(batch);
    task->loss = (struct index_clustering_loss){
        .postings = totals->lists.n_postings,
        .lists = totals->lists.n_lists,
        .lists_left_out = totals->lists.n_left_out,
        .postings_left_out = totals->lists.n_postings_left_out,
    };
    return 0;
}

/* The other ones are planned here, as they have a plan of their own. */
static int find_topics(struct remaking_task *task, const bool *stop)
{
    _cleanup_(kv_close_p) struct kv *snapshot = NULL;
    _cleanup_(topics_finding_done) struct topics_finding_task found = {.scratch = task->scratch,
                                                                       .stop = stop};
    int r = task->is_unchanging ? 0 : kv_snapshot(task->kv, &snapshot);
    found.kv = task->is_unchanging ? task->kv : snapshot;
    if (r == 0)
        r = topics_find(&found);
    for (size_t i = 0; r == 0 && task->also && i < found.sids.n_numbers; i++)
        r = number_vector_push(&task->also_plan.sids, found.sids.numbers[i]);
    if (r < 0)
        return r;
    if (task->also)
        task->also_plan.groups = TAKE_PTR(*(task->is_fine ? &found.topics : &found.subtopics));
    task->plan.groups = TAKE_PTR(*(task->is_fine ? &found.subtopics : &found.topics));
    task->plan.sids = found.sids;
    found.sids = (struct number_vector){0};
    task->also_plan.a_step = task->plan.a_step;
    return task->also ? move_plan_make(&task->also_plan, task->kv, task->also, stop) : 0;
}

int remaking_work(void *user, const bool *stop)
{
    struct remaking_task *task = user;
    struct move_plan *plan = &task->plan;
    plan->a_step = task->a_step ? task->a_step : MOVE_PLAN_STEP_MAX;
    int r = task->is_topics ? find_topics(task, stop) : list_sids(task, stop);
    if (r == 0 && !task->is_topics)
        r = cluster(task, stop);
    if (r == 0)
        r = move_plan_make(plan, task->kv, task->number, stop);
    if (r < 0) {
        move_plan_done(plan);
        move_plan_done(&task->also_plan);
    }
    return r;
}
