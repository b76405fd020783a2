#include "tools/commands/rebuild_store.h"

#include "tools/options/stored_rules.h"
#include "tools/questions/holder.h"
#include "tools/show/progress.h"

DEFINE_CLEANUP(struct backing *, backing_close);

struct making {
    struct rebuild *rebuild;
    int holder;
    struct progress progress;
};

static void show(void *user, const struct index_status *status)
{
    struct making *making = user;
    struct rebuild *rebuild = making->rebuild;
    if (making->holder < 0) /* not to be told of does no harm */
        (void)holder_hold(rebuild->at->store, rebuild->repair ? "check" : "rebuild",
                          rebuild->at->source, NULL, &making->holder);
    rebuild->documents = status->documents;
    rebuild->clusters = status->clusters;
    rebuild->skipped = status->skipped;
    rebuild->sketched = status->sketched_documents;
    progress_update(&making->progress, status->scan_done, status->scan_found, status->scanning);
}

static int show_stage(void *user, const char *stage, const char *table, uint64_t n_rows)
{
    struct making *making = user;
    progress_stage(&making->progress, stage, table, n_rows);
    return 0;
}

static int pass_found(void *user, const struct index_finding *finding)
{
    struct making *making = user;
    const struct index_repair_options *repair = making->rebuild->repair;
    progress_done(&making->progress);
    return repair->found(repair->user, finding);
}

static int pass_checked(void *user, const struct index_check *counts)
{
    struct making *making = user;
    const struct index_repair_options *repair = making->rebuild->repair;
    progress_done(&making->progress);
    return repair->checked(repair->user, counts);
}

/* The engine lets in one at a time; this says who it is. */
static int refuse_held(const char *store, char **ret_error)
{
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(store, &holder) < 0 || !holder.alive)
        return 0;
    _cleanup_free_ char *who = holder_describe(&holder), *remedy = holder_remedy(&holder);
    return refuse(ret_error, -EBUSY, "%s: %s; %s", store, who, remedy);
}

int rebuild_store(struct rebuild *rebuild, char **ret_error)
{
    const struct location *at = rebuild->at;
    _cleanup_(backing_close_p) struct backing *backing = NULL;
    int r = refuse_held(at->store, ret_error);
    if (r >= 0)
        r = ask_open_tree(at, &backing, ret_error);
    if (r < 0)
        return r;
    _cleanup_(document_rules_done) struct document_rules stored = {0};
    const struct document_rules *rules = rebuild->rules;
    if (!rules) {
        r = stored_rules_load(at->store, &stored, ret_error);
        if (r < 0)
            return r;
        rules = r > 0 ? &stored : &rebuild->configuration->documents;
    }
    struct index_options options = {
        .backing = backing,
        .source = at->source,
        .store_path = at->store,
        .n_workers = rebuild->n_workers,
        .extractors = rebuild->configuration->extractors,
        .n_extractors = rebuild->configuration->n_extractors,
        .log = ask_log,
    };
    document_rules_apply(rules, &options);
    struct making making = {.rebuild = rebuild, .holder = -1};
    progress_init(&making.progress);
    const struct index_repair_options repair = {.deep = rebuild->repair && rebuild->repair->deep,
                                                .found = pass_found,
                                                .checked = pass_checked,
                                                .progress = show,
                                                .stage = show_stage,
                                                .user = &making};
    r = rebuild->repair ? index_repair(&options, &repair, ret_error)
                        : index_rebuild(&options, show, &making, ret_error);
    progress_done(&making.progress);
    if (r >= 0 && rebuild->rules) {
        const int kept = ask_keep_rules(at->store, rules, ret_error);
        r = kept < 0 ? kept : r;
    }
    if (making.holder >= 0)
        close(making.holder);
    return r;
}
