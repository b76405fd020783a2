#include "engine/index/named/remaking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/thread.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"

enum {
    PAGE_RECORDS = 256,
    WORK_BYTES = 64 << 20, /* beside what a batch needs for each document */
};

struct remaking {
    struct remaking_task task;
    pthread_t thread;
    bool stop, done; /* by atomic operations */
    int result;
    struct move_plan plan;
    struct index_clustering_loss loss;
    struct batch_writer *writer; /* the thread's */
    size_t next;
};

/* Documents get numbers here, all that there are. */
static int list_sids(struct remaking *remaking)
{
    uint64_t from = 0;
    for (;;) {
        struct record_key key;
        const struct kv_range range = {.from = record_key(&key, from)};
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = kv_scan(remaking->task.kv, TABLE_RECORDS, &range, PAGE_RECORDS, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
            r = record_decode_key(page.entries[i].key, &from);
            if (r == 0)
                r = number_vector_push(&remaking->plan.sids, from++);
        }
        if (r == 0 && parallel_told(&remaking->stop))
            r = -ESHUTDOWN;
        if (r < 0 || !page.more || page.n_entries == 0)
            return r;
    }
}

/* A document that came meanwhile has no number; one that went has a number, and resembles nothing.
 */
static int add_record(void *user, uint64_t sid, const struct record *record)
{
    struct remaking *remaking = user;
    const struct number_vector *sids = &remaking->plan.sids;
    if (parallel_told(&remaking->stop))
        return -ESHUTDOWN;
    while (remaking->next < sids->n_numbers && sids->numbers[remaking->next] < sid)
        remaking->next++;
    if (remaking->next == sids->n_numbers || sids->numbers[remaking->next] != sid)
        return 0;
    struct document_sketch sketch = {
        .form = record->form, .size_bytes = record->size_bytes, .sketch = record->sketch};
    memcpy(sketch.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.text_fingerprint, record->text_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.shingle_fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES);
    return batch_writer_add(remaking->writer, (uint32_t)remaking->next, &sketch);
}

static int add_records(struct remaking *remaking, struct batch *batch)
{
    int r = batch_writer_new(batch, &remaking->writer);
    if (r == 0)
        r = records_each(remaking->task.kv, 1, add_record, remaking);
    if (r == 0)
        r = batch_writer_flush(remaking->writer);
    batch_writer_free(remaking->writer);
    remaking->writer = NULL;
    return r;
}

static int cluster(struct remaking *remaking)
{
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    struct move_plan *plan = &remaking->plan;
    const size_t n = plan->sids.n_numbers;
    if (n >= UINT32_MAX)
        return -E2BIG;
    struct batch_options options = remaking->task.how;
    options.scratch = remaking->task.scratch;
    options.memory_bytes = batch_least_memory((uint32_t)n) + WORK_BYTES;
    options.n_threads = 1;
    options.n_documents = (uint32_t)n;
    options.stop = &remaking->stop;
    plan->groups = calloc(n + 1, sizeof(*plan->groups));
    int r = plan->groups ? batch_new(remaking->task.policy, &options, &batch) : -ENOMEM;
    if (r == 0)
        r = add_records(remaking, batch);
    if (r == 0)
        r = batch_run(batch);
    if (r < 0)
        return r;
    if (n)
        memcpy(plan->groups, batch_clusters(batch), n * sizeof(*plan->groups));
    const struct batch_totals *totals = batch_totals(batch);
    remaking->loss = (struct index_clustering_loss){
        .postings = totals->lists.n_postings,
        .lists = totals->lists.n_lists,
        .lists_left_out = totals->lists.n_left_out,
        .postings_left_out = totals->lists.n_postings_left_out,
    };
    return 0;
}

static int make_plan(struct remaking *remaking)
{
    const struct remaking_task *task = &remaking->task;
    remaking->plan.a_step = task->a_step ? task->a_step : MOVE_PLAN_STEP_MAX;
    int r = list_sids(remaking);
    if (r == 0)
        r = cluster(remaking);
    return r < 0 ? r : move_plan_make(&remaking->plan, task->kv, task->number, &remaking->stop);
}

int remaking_plan_now(const struct remaking_task *task, struct move_plan *ret_plan)
{
    struct remaking remaking = {.task = *task};
    int r = make_plan(&remaking);
    if (r < 0)
        move_plan_done(&remaking.plan);
    else
        *ret_plan = remaking.plan;
    return r;
}

static void *run(void *user)
{
    struct remaking *remaking = user;
    const struct remaking_task *task = &remaking->task;
    niceness_join(task->niceness);
    int r = make_plan(remaking);
    niceness_leave(task->niceness);
    remaking->result = r;
    __atomic_store_n(&remaking->done, true, __ATOMIC_RELEASE);
    return NULL;
}

int remaking_start(const struct remaking_task *task, struct remaking **ret_remaking)
{
    struct remaking *remaking = calloc(1, sizeof(*remaking));
    if (!remaking)
        return -ENOMEM;
    remaking->task = *task;
    int r = thread_start(&remaking->thread, run, remaking);
    if (r < 0) {
        free(remaking);
        return r;
    }
    *ret_remaking = remaking;
    return 0;
}

bool remaking_is_ready(struct remaking *remaking)
{
    return __atomic_load_n(&remaking->done, __ATOMIC_ACQUIRE);
}

int remaking_result(struct remaking *remaking, struct move_plan **ret_plan,
                    struct index_clustering_loss *ret_loss)
{
    *ret_plan = &remaking->plan;
    *ret_loss = remaking->loss;
    return remaking->result;
}

void remaking_free(struct remaking *remaking)
{
    if (!remaking)
        return;
    __atomic_store_n(&remaking->stop, true, __ATOMIC_RELAXED);
    pthread_join(remaking->thread, NULL);
    move_plan_done(&remaking->plan);
    free(remaking);
}
