/* An index whose committer reads and writes through a store with faults. Included behind cmocka.h.
 */
#ifndef KINFS_TESTS_LIB_COMMITTER_FIXTURE_H
#define KINFS_TESTS_LIB_COMMITTER_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "engine/index/index_private.h"
#include "tests/lib/kv_fault.h"
#include "tests/lib/scratch.h"

struct fixture {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct index *index;
    struct kv *kv, *fault; /* the index's own, and what stands before it */
    bool dies;             /* by its plan; perhaps only at the last write */
    pthread_mutex_t lock;
    unsigned n_logged[INDEX_LOG_INFO + 1];
    char last_message[256];
};

static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    pthread_mutex_init(&f->lock, NULL);
    *state = f;
    return 0;
}

static inline void take_message(void *user, enum index_log_level level, const char *message)
{
    struct fixture *f = user;
    LOCKED(&f->lock);
    f->n_logged[level]++;
    snprintf(f->last_message, sizeof(f->last_message), "%s", message);
}

static inline unsigned n_logged(struct fixture *f, enum index_log_level level)
{
    LOCKED(&f->lock);
    return f->n_logged[level];
}

/* What the committer itself reads and writes goes through the plan; clusters and postings do not.
 */
static inline void open_index(struct fixture *f, const struct kv_fault_plan *plan)
{
    char *error = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = {.backing = f->backing,
                                    .source = f->tree,
                                    .store_path = f->store,
                                    .create = true,
                                    .log = take_message,
                                    .log_user = f};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    f->kv = f->index->kv;
    assert_int_equal(kv_fault_open(f->kv, plan, &f->fault), 0);
    f->index->kv = f->index->counts.kv = f->fault;
    f->dies = plan->crash_after_writes > 0;
}

static inline void start(struct fixture *f, const struct kv_fault_plan *plan)
{
    open_index(f, plan);
    assert_int_equal(index_start(f->index), 0);
}

static inline void stop(struct fixture *f)
{
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    index_stop(f->index);
    if (f->index->store_error == 0) {
        int r = committer_flush(f->index);
        assert_true(r == 0 || (f->dies && r == -EIO));
    }
    f->index->kv = f->index->counts.kv = f->kv;
    index_close(f->index, 0);
    kv_close(f->fault);
    backing_close(f->backing);
    f->index = NULL;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->index)
        stop(f);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static const struct kv_fault_plan no_fault;

static inline void settle(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
}

static inline void settle_foreground(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static inline void write_text(struct fixture *f, const char *name, unsigned version)
{
    char *text = scratch_text(1, version, 600, version % 8);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static inline struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

static inline struct index_status status_of(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status;
}

static inline size_t n_similar(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct index_query query = {.threshold = 0.4};
    struct kin_list list = {0};
    int r = index_similar(f->index, &key, &query, &list);
    assert_true(r == 0 || r == -ENOENT);
    size_t n = list.n_kin;
    kin_list_done(&list);
    return n;
}

#endif
