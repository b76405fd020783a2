/* The work of a subcommand with an index, apart from how it is asked and printed: run by the daemon
 * of a mount for a tool that asks over its socket (control.h), or by the tool itself where there is
 * no daemon (ask.h). A request is a JSON object, an answer a sequence of JSON objects, the rows.
 */
#ifndef KINFS_TOOLS_QUESTIONS_WORK_H
#define KINFS_TOOLS_QUESTIONS_WORK_H

#include <json-c/json.h>

#include "engine/index/index.h"
#include "tools/options/document_rules.h"

struct work_context {
    struct index *index; /* NULL: a mount without one; work_status() alone is ready for it */
    struct backing *backing;
    const char *source;                        /* the tree */
    const char *store;                         /* NULL without an index */
    const char *mountpoint;                    /* NULL when there is no mount */
    const struct index_unique_options *unique; /* the rules of the mount's unique/, or NULL */
    const struct document_rules *rules;        /* by which documents are taken in */
    bool started;                              /* the index has been started: it follows the tree */
    bool scan_is_new;                          /* its first scan began with this very request */
    const int *document; /* what a question is about instead of a file of the tree: seekable, at its
                            beginning; never of a daemon */
    /* Both NULL when there is no mount. settle_mount: as fs_settle(). */
    void (*add_mount_status)(void *user, struct json_object *row);
    int (*settle_mount)(void *user, bool all, uint64_t *ticket, int wait_ms);
    void *user;
    /* The asker waits no longer for the answer: of a daemon's; NULL where the one who waits ends
     * the process. Any threads, several at once. */
    bool (*stop)(void *stop_user);
    void *stop_user;
};

/* Hand out a row. Takes the row (NULL: -ENOMEM). Returns 0 or an error: nobody listens any more. */
typedef int (*row_fn)(void *user, struct json_object *row);

/* Returns 0, -ENOENT when there is no answer to such a question, -EINVAL for a request that is
 * none, or another error, with a line in *ret_error. Any thread. */
typedef int (*work_fn)(const struct work_context *context, struct json_object *request, row_fn row,
                       void *user, char **ret_error);

/* The work function of a command; NULL: it has none. The program says how they are found, before it
 * has other threads. */
typedef work_fn (*work_finder)(const char *command);
void work_set_finder(work_finder finder);
work_fn work_of(const char *command);

/* The bound of waiting for the documents just written, as in a view. */
enum { WORK_SETTLE_MS = 2000 };

/* Before a question about documents: wait until what was closed before, in a mount or beside it, is
 * in the answers, for WORK_SETTLE_MS each at most. */
void work_catch_up(const struct work_context *context);

/* The file of a request as people are told of it: as who asks wrote it (the member with WORK_AS
 * behind its name), else as it is found in the tree. Borrowed from the request. */
#define WORK_AS "_as"
const char *work_shown(struct json_object *request, const char *name);

/* The known document that the path member `name` of a request means; after work_catch_up(), with
 * its record brought up to date. Returns 0, -EINVAL, -ENOENT or an errno of name_to_handle_at(2),
 * with *ret_error. */
int work_document(const struct work_context *context, struct json_object *request, const char *name,
                  char **ret_path, struct file_key *ret_key, struct document_info *ret_info,
                  char **ret_error);

/* The file that a path in the tree means: no symbolic link on it is followed, nor one at its end.
 * Returns 0, -EXDEV in a mount inside the tree, of which nothing is sketched, or an errno of
 * openat2(2) or name_to_handle_at(2). */
int work_find(const struct work_context *context, const char *path, struct file_key *ret_key,
              struct stat *ret_st);

/* The question needs an index, which this mount has not: returns -EOPNOTSUPP, with *ret_error. */
int work_refuse_sketches(const struct work_context *context, char **ret_error);

/* Members of a request, or the default when absent. */
double work_number(struct json_object *request, const char *name, double absent);
uint64_t work_count(struct json_object *request, const char *name, uint64_t absent);
bool work_flag(struct json_object *request, const char *name);

/* Add a ratio as ratio.h shows it, with nine decimals, of which four are printed (json_line.h); NAN
 * as null. */
void work_add_ratio(struct json_object *row, const char *name, double value);
void work_add_count(struct json_object *row, const char *name, uint64_t value);
void work_add_loss(struct json_object *row, const struct index_clustering_loss *loss);

#endif
