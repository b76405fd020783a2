#include "tools/questions/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/files/trust.h"
#include "tools/options/stored_rules.h"
#include "tools/questions/control.h"
#include "tools/questions/holder.h"
#include "tools/show/message.h"
#include "tools/questions/predecessor.h"

/* The work is on disk either way; this bounds the wait at the end for the last documents. */
enum { CLOSE_WAIT_MS = 60000 };

void ask_log(void *user, enum index_log_level level, const char *text)
{
    (void)user;
    if (level != INDEX_LOG_INFO)
        complain("%s", text);
}

DEFINE_CLEANUP(struct backing *, backing_close);
DEFINE_CLEANUP(struct control *, control_stop);

static void index_close_p(struct index **index)
{
    index_close(*index, CLOSE_WAIT_MS);
}

int ask_make_parents(const char *store, char **ret_error)
{
    _cleanup_free_ char *why = NULL;
    int r = trust_make_parents(store, &why);
    if (r == -EPERM)
        return refuse(ret_error, r, "store %s is not made: %s", store, why ? why : strerror(EPERM));
    return r < 0
               ? refuse(ret_error, r,
                        "the directories above store %s: %s; say where the store can be made with "
                        "--store or -o store=",
                        store, strerror(-r))
               : 0;
}

int ask_open_tree(const struct location *at, struct backing **ret_backing, char **ret_error)
{
    _cleanup_close_ int fd = trust_open_anywhere(at->source, NULL);
    int r = fd < 0 ? fd : backing_open_at(fd, ret_backing);
    if (r == -ENOENT)
        return refuse(ret_error, r,
                      "%s: no such directory any more, the tree of store %s; bring it back, or "
                      "remove the store",
                      at->source, at->store);
    return r < 0 ? refuse(ret_error, r, "%s, the tree of store %s: %s", at->source, at->store,
                          error_text(r))
                 : 0;
}

int ask_keep_rules(const char *store, const struct document_rules *rules, char **ret_error)
{
    _cleanup_close_ int store_fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return store_fd < 0 ? refuse(ret_error, -errno, "%s: %s", store, strerror(errno))
                        : stored_rules_save(store_fd, store, rules, ret_error);
}

static int ask_here(const struct ask *ask, struct json_object *request, row_fn row, void *user,
                    char **ret_error)
{
    const struct location *at = ask->location;
    _cleanup_(backing_close_p) struct backing *backing = NULL;
    _cleanup_(index_close_p) struct index *index = NULL;
    _cleanup_(control_stop_p) struct control *control = NULL;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_(document_rules_done) struct document_rules stored = {0};
    const struct document_rules *rules = ask->rules;
    _cleanup_close_ int holder = -1;
    const struct configuration *configured =
        ask->configuration ? ask->configuration : &configuration;

    if ((ask->start || ask->document) && !ask->configuration) {
        int r = configuration_read(NULL, &configuration, ret_error);
        if (r < 0)
            return r;
    }
    int r = ask->create ? ask_make_parents(at->store, ret_error) : 0;
    if (r < 0)
        return r;
    r = ask_open_tree(at, &backing, ret_error);
    if (r < 0)
        return r;
    if (!rules) {
        r = stored_rules_load(at->store, &stored, ret_error);
        if (r < 0)
            return r;
        rules = r > 0 ? &stored : &configured->documents;
    }
    struct index_options options = {
        .backing = backing,
        .source = at->source,
        .store_path = at->store,
        .create = ask->create,
        .policy = ask->policy,
        .tokens = ask->tokens,
        .stopwords = ask->stopwords,
        .stemmer = ask->stemmer,
        .n_workers = ask->n_workers,
        .passages = ask->passages,
        .topics = ask->topics,
        .extractors = configured->extractors,
        .n_extractors = configured->n_extractors,
        .clusterings = ask->sets_clusterings ? configured->clusterings : NULL,
        .n_clusterings = ask->sets_clusterings ? configured->n_clusterings : 0,
        .log = ask_log,
    };
    document_rules_apply(rules, &options);
    r = index_open(&options, &index, ret_error);
    if (r == 0 && ask->rules)
        r = ask_keep_rules(at->store, rules, ret_error);
    if (r < 0)
        return r;
    /* Not holding the store does no harm but that others cannot say who has it. */
    (void)holder_hold(at->store, ask->command, at->source, NULL, &holder);
    struct work_context context = {.index = index,
                                   .backing = backing,
                                   .source = at->source,
                                   .store = at->store,
                                   .document = ask->document,
                                   .rules = rules,
                                   .started = ask->start,
                                   .scan_is_new = ask->start};
    if (ask->start) {
        r = index_start(index);
        if (r < 0)
            return refuse(ret_error, r, "%s: %s", at->store,
                          r == -EAGAIN ? "no more threads can be begun; see what ulimit -u and "
                                         "ulimit -v allow"
                                       : strerror(-r));
        (void)control_start(at->store, &context, work_of, &control);
    }
    do
        r = work_of(ask->command)(&context, request, row, user, ret_error);
    while (r >= 0 && ask->next && ask->next(user, request));
    return r;
}

struct asking {
    const struct ask *ask;
    struct json_object *request;
    row_fn row;
    void *user;
    char *error;
};

static int ask_once(void *user)
{
    struct asking *asking = user;
    free(TAKE_PTR(asking->error));
    return ask_here(asking->ask, asking->request, asking->row, asking->user, &asking->error);
}

static int ask_daemon(const struct ask *ask, struct json_object *request, row_fn row, void *user,
                      char **ret_error)
{
    int r;
    do
        r = control_ask(ask->location->store, request, row, user, ret_error);
    while (r >= 0 && ask->next && ask->next(user, request));
    return r;
}

int ask(const struct ask *ask, struct json_object *request, row_fn row, void *user,
        char **ret_error)
{
    const char *store = ask->location->store;
    json_object_object_add(request, "command", json_object_new_string(ask->command));

    _cleanup_free_ char *refused = NULL;
    int r = ask->document ? -ECONNREFUSED : ask_daemon(ask, request, row, user, &refused);
    if (r == -ECONNREFUSED) {
        struct asking asking = {ask, request, row, user, NULL};
        r = predecessor_outlive(store, ask_once, &asking);
        _cleanup_free_ char *error = asking.error;
        if (r != -EBUSY) {
            /* A mount without sketches can say that there is nothing to ask. */
            if (r < 0 && ask->document &&
                control_ask(store, request, row, user, &refused) == -EOPNOTSUPP)
                *ret_error = TAKE_PTR(refused);
            else if (r < 0)
                *ret_error = TAKE_PTR(error);
            return r;
        }
        /* A daemon may have started between the two. */
        free(TAKE_PTR(refused));
        if (!ask->document)
            r = ask_daemon(ask, request, row, user, &refused);
        if (ask->document || r == -ECONNREFUSED) {
            _cleanup_(holder_done) struct holder holder = {0};
            if (holder_read(store, &holder) < 0 || !holder.alive)
                return refuse(ret_error, -EBUSY, "%s", error ? error : strerror(EBUSY));
            _cleanup_free_ char *who = holder_describe(&holder), *remedy = holder_remedy(&holder);
            return refuse(ret_error, -EBUSY, "%s: %s; %s", store, who, remedy);
        }
    }
    if (r < 0)
        *ret_error = TAKE_PTR(refused);
    return r;
}
