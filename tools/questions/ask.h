/* A question to an index, whether a daemon has it or not. */
#ifndef KINFS_TOOLS_QUESTIONS_ASK_H
#define KINFS_TOOLS_QUESTIONS_ASK_H

#include "tools/options/configuration.h"
#include "tools/questions/locate.h"
#include "tools/questions/work.h"

struct ask {
    const struct location *location;
    const char *command; /* of the command table */
    bool start;          /* without a daemon: follow the tree while answering, from a scan on */
    bool create;         /* make the store when there is none */
    const int *document; /* of work_context; then no daemon is asked. NULL: none */
    /* A question that is too long for one request: after each answer but a failed one, puts the
     * next request in the place of the last, or returns false: that was all. It gets ask()'s user.
     * NULL: one request */
    bool (*next)(void *user, struct json_object *request);
    const char *policy;                       /* of a new store, NULL for the default */
    const char *tokens, *stopwords, *stemmer; /* the same */
    unsigned n_workers;                       /* 0: the engine's choice */
    unsigned passages;                        /* as of struct index_options, like the next */
    enum index_topics topics;
    const struct configuration *configuration; /* with start; NULL: that of no name is read */
    /* The rules of documents from now on; NULL: those that the store has */
    const struct document_rules *rules;
    bool sets_clusterings; /* the named clusterings are those of the configuration; else as the
                              store has them */
};

/* Ask the daemon that holds the store, or else open the store in this process. request is borrowed;
 * its member "command" is set. A daemon that ends between two requests is followed by the store,
 * which this process opens once for all. Returns what the work function returned, or why it could
 * not be asked, with a line in *ret_error. */
int ask(const struct ask *ask, struct json_object *request, row_fn row, void *user,
        char **ret_error);

/* An index_options.log of a tool in front: complains of what is not mere information. */
void ask_log(void *user, enum index_log_level level, const char *text);

/* Make the directories above a store (0700). Returns 0, -EPERM where others could put
 * another directory in their place, or an errno of mkdir(2), with *ret_error. */
int ask_make_parents(const char *store, char **ret_error);

/* The store has these rules of documents from now on (stored_rules.h), for who has it. */
int ask_keep_rules(const char *store, const struct document_rules *rules, char **ret_error);

/* Open the tree of a location. Returns 0, or as trust_open_anywhere() or backing_open_at(), with a
 * line in *ret_error. */
int ask_open_tree(const struct location *at, struct backing **ret_backing, char **ret_error);

#endif
