#include "tools/mount/mount_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/thread.h"
#include "tools/questions/ask.h"
#include "tools/mount/background.h"
#include "tools/options/configuration.h"
#include "tools/options/stored_rules.h"
#include "tools/questions/holder.h"
#include "tools/show/command_exit.h"
#include "tools/show/message.h"
#include "tools/questions/predecessor.h"

/* A document that was closed before the end is sketched at the next start if its sketching takes
 * longer than this. */
enum { DRAIN_MS = 5000 };

struct taking {
    const struct mount_plan *plan;
    struct index_options index_options;
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    struct mount_hold *hold;
    char *error;
};

static int take_index(void *user)
{
    struct taking *taking = user;
    free(TAKE_PTR(taking->error));
    return index_open(&taking->index_options, &taking->hold->index, &taking->error);
}

static int take_place(void *user)
{
    struct taking *taking = user;
    const struct mount_plan *plan = taking->plan;
    return holder_make(plan->store, plan->source, plan->mountpoint, &taking->hold->holder);
}

static int refuse_held(const struct mount_plan *plan, const char *error, char **ret_error)
{
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(plan->store, &holder) < 0 || !holder.alive)
        return refuse(ret_error, -EBUSY, "%s", error ? error : strerror(EBUSY));
    _cleanup_free_ char *who = holder_describe(&holder), *remedy = holder_remedy(&holder);
    return refuse(ret_error, -EBUSY, "%s: this store is %s; %s%s", plan->store, who,
                  holder_is_mounted(&holder) ? "use that mount, or " : "", remedy);
}

/* The index, held for this process. */
static int hold_index(struct taking *taking, char **ret_error)
{
    const struct mount_plan *plan = taking->plan;
    int r = predecessor_outlive(plan->store, take_index, taking);
    if (r == -EBUSY)
        return refuse_held(plan, taking->error, ret_error);
    if (r < 0)
        return refuse(ret_error, r, "%s", taking->error ? taking->error : strerror(-r));
    taking->hold->store_fd = open(plan->store, O_PATH | O_DIRECTORY | O_CLOEXEC);
    r = holder_hold(plan->store, "mount", plan->source, plan->mountpoint, &taking->hold->holder);
    return r < 0 ? refuse(ret_error, r,
                          "%s/holder cannot be written: %s; make room, or name another store with "
                          "-o store=",
                          plan->store, strerror(-r))
                 : 0;
}

/* Without an index: a place to be asked at. */
static int hold_place(struct taking *taking, char **ret_error)
{
    const struct mount_plan *plan = taking->plan;
    int r = predecessor_outlive(plan->store, take_place, taking);
    if (r == -EBUSY)
        return refuse(ret_error, r,
                      "%s: an earlier mount here, unmounted lazily, is still in use; end that "
                      "first, or mount elsewhere",
                      plan->mountpoint);
    if (r < 0)
        return refuse(ret_error, r,
                      "%s: %s; say with KINFS_STATE_DIR where the daemon's control socket can be",
                      plan->store, strerror(-r));
    taking->hold->place = message("%s", plan->store);
    return 0;
}

/* Those of the configuration, where no option names another by the name. */
static int take_clusterings(const struct mount_options *options, struct taking *taking,
                            char **ret_error)
{
    const struct configuration *configuration = options->configuration;
    size_t n = options->n_clusterings;
    memcpy(taking->clusterings, options->clusterings, sizeof(taking->clusterings));
    for (size_t i = 0; i < configuration->n_clusterings; i++) {
        const struct index_clustering *clustering = &configuration->clusterings[i];
        bool named = false;
        for (size_t k = 0; k < options->n_clusterings && !named; k++)
            named = strcmp(options->clusterings[k].name, clustering->name) == 0;
        if (named)
            continue;
        if (n == INDEX_CLUSTERINGS_MAX)
            return refuse(ret_error, -EINVAL,
                          "clustering %s of the configuration is one too many; %d can be named",
                          clustering->name, INDEX_CLUSTERINGS_MAX);
        taking->clusterings[n++] = *clustering;
    }
    taking->index_options.clusterings = taking->clusterings;
    taking->index_options.n_clusterings = n;
    return 0;
}

int mount_hold_take(const struct mount_plan *plan, const struct mount_options *options,
                    struct backing *backing, struct mount_hold *ret_hold, char **ret_error)
{
    _cleanup_(mount_hold_done) struct mount_hold hold = {
        .backing = backing, .holder = -1, .store_fd = -1};
    struct taking taking = {
        .plan = plan,
        .index_options = {.backing = backing,
                          .source = plan->source,
                          .store_path = plan->store,
                          .create = true,
                          .policy = options->policy,
                          .tokens = options->tokens,
                          .stopwords = options->stopwords,
                          .stemmer = options->stemmer,
                          .n_workers = options->n_workers,
                          .cache_bytes = options->cache_bytes,
                          .passages = options->passages,
                          .topics = options->topics ? options->topics
                                    : options->configuration->topics
                                        ? options->configuration->topics
                                        : INDEX_TOPICS_OFF,
                          .keep_lost_s = options->keep_lost_s ? options->keep_lost_s
                                                              : options->configuration->keep_lost_s,
                          .extractors = options->configuration->extractors,
                          .n_extractors = options->configuration->n_extractors,
                          .log = background_log},
        .hold = &hold,
    };
    int r = take_clusterings(options, &taking, ret_error);
    if (r == 0)
        r = document_rules_join(&options->configuration->documents, &options->documents,
                                &hold.documents, ret_error);
    if (r == 0)
        r = unique_rules_join(&options->configuration->unique, &options->unique, &hold.unique);
    document_rules_apply(&hold.documents, &taking.index_options);
    if (r == 0)
        r = ask_make_parents(plan->store, ret_error);
    if (r == 0)
        r = options->sketch ? hold_index(&taking, ret_error) : hold_place(&taking, ret_error);
    free(taking.error);
    if (r < 0)
        return r;
    *ret_hold = hold;
    hold = (struct mount_hold)MOUNT_HOLD_NONE;
    return 0;
}

void mount_hold_remember_rules(const struct mount_hold *hold, const char *store)
{
    _cleanup_free_ char *error = NULL;
    if (stored_rules_save(hold->store_fd, store, &hold->documents, &error) < 0)
        background_log(NULL, INDEX_LOG_WARNING, error);
}

/* -- an end that somebody is in the way of -- */

/* A thread that stands in the kernel can neither be ended nor, when it is back, do without what it
 * works on. Nor does the process let go of what it has locked while it ends and waits for that one.
 * So all is stored, the locks are given up one by one, and nothing is freed. */
struct late_end {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_over;
    struct index *index; /* or NULL, like place */
    const char *place;
    int holder;
};

/* Returns whether it has ended by then. */
static bool await_end(struct late_end *late, int wait_ms)
{
    const struct timespec until = deadline_after_ms(wait_ms);
    LOCKED(&late->lock);
    while (!late->is_over)
        if (pthread_cond_timedwait(&late->changed, &late->lock, &until) == ETIMEDOUT)
            break;
    return late->is_over;
}

static void *end_late(void *user)
{
    enum { ORDERLY_MS = 10000, JOIN_MS = 10000 };
    struct late_end *late = user;
    if (await_end(late, ORDERLY_MS))
        return NULL;
    if (late->index)
        index_end(late->index, DRAIN_MS); /* or waits for who does that already */
    if (await_end(late, JOIN_MS))
        return NULL;
    background_log(NULL, INDEX_LOG_WARNING,
                   "the daemon ends while threads of it wait for a file system that does not "
                   "answer, or for a directory that somebody keeps locked; all is stored");
    if (late->index)
        index_let_go(late->index);
    holder_remove(late->place);
    holder_let_go(late->holder);
    _exit(COMMAND_OK);
}

void mount_hold_end_soon(struct mount_hold *hold)
{
    struct late_end *late = calloc(1, sizeof(*late));
    if (!late)
        return;
    *late = (struct late_end){.index = hold->index, .place = hold->place, .holder = hold->holder};
    pthread_mutex_init(&late->lock, NULL);
    thread_cond_init(&late->changed);
    if (thread_start(&late->thread, end_late, late) == 0)
        hold->late = late;
    else
        free(late); /* then the end takes as long as it takes */
}

static void end_in_time(struct late_end *late)
{
    if (!late)
        return;
    {
        LOCKED(&late->lock);
        late->is_over = true;
        pthread_cond_signal(&late->changed);
    }
    pthread_join(late->thread, NULL);
    pthread_cond_destroy(&late->changed);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

void mount_hold_done(struct mount_hold *hold)
{
    if (hold->used && hold->index) {
        index_end(hold->index, DRAIN_MS);
        index_stop(hold->index);
    }
    end_in_time(hold->late);
    if (hold->used)
        index_close(hold->index, 0);
    else
        index_abandon(hold->index, "holder");
    backing_close(hold->backing);
    holder_remove(hold->place);
    free(hold->place);
    document_rules_done(&hold->documents);
    unique_rules_done(&hold->unique);
    if (hold->store_fd >= 0)
        close(hold->store_fd);
    if (hold->holder >= 0)
        close(hold->holder);
    *hold = (struct mount_hold){.holder = -1};
}
