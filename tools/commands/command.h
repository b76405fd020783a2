/* The subcommands, and helpers that they share. */
#ifndef KINFS_TOOLS_COMMANDS_COMMAND_H
#define KINFS_TOOLS_COMMANDS_COMMAND_H

#include <argp.h>

#include "tools/questions/ask.h"
#include "tools/options/configuration.h"
#include "tools/show/command_exit.h"
#include "tools/show/message.h"

/* The number of the format that --json prints (docs/man/kinfs-json.5 says what changes it). */
enum { COMMAND_JSON_FORMAT = 1 };

/* The options that the asking subcommands have in common: a child parser whose input is a struct
 * command_options. It takes the arguments that its parent does not. */
struct command_options {
    bool needs_path; /* the caller's: to be called without one is a usage error */
    const char *path, *store;
    bool json, null;
};
/* The flag that --json sets; errors are said in JSON, too. */
void command_set_json(bool *json);

extern const struct argp command_plain_argp; /* PATH, --json for errors */
extern const struct argp command_file_argp;  /* the same, --store: prints to a file */
extern const struct argp command_argp;       /* PATH, --store, --json of one object */
extern const struct argp command_paths_argp; /* PATH, --store, --json of many, -0 */

/* Ask about a file: its path in the tree, and as the person wrote it (work_shown()). */
void command_add_path(struct json_object *request, const char *name, const char *written,
                      const char *path);

/* A row as one line of JSON. */
void command_print_json(struct json_object *row);

/* A path member of a row: for -0 with a NUL behind it, else escaped as `ls -b` does. */
void command_print_path(struct json_object *row, const char *name, bool null);

/* Replace a path member of a row, relative to the tree, by base/path. */
void command_make_absolute(struct json_object *row, const char *name, const char *base);

/* A ratio member of a row with four decimals, 1.0000 only when it is 1; "-" when it is null. */
void command_print_ratio(struct json_object *row, const char *name);

/* The containment of a row rests on enough samples; and where it does not, that is said. */
bool command_is_confident(struct json_object *row);
void command_print_confidence(struct json_object *row);

uint64_t command_count(struct json_object *row, const char *name);

/* A member of a row is absent, or a list of such things: a row function returns -EPROTO where it is
 * anything else, which a forged socket may have sent. */
bool command_is_list(struct json_object *row, const char *name, enum json_type type);

/* A row says why something may be missing: the reason replaces the one before it. */
bool command_take_incomplete(struct json_object *row, char **incomplete);

/* Text of a row, which a forged store or socket may have chosen, as escape_make_plain() has it.
 * "", when it is absent or null; the row's. */
const char *command_text(struct json_object *row, const char *name);
const char *command_plain(struct json_object *member);

/* Complain when code is negative; the exit code of a command that ended with it. -ENODATA and 0
 * pass silently. */
int command_end(int code, const char *error);

/* argp_parse(): ends with a usage error, in which what was typed is as escape_make_plain() makes
 * it. */
void command_parse(const struct argp *parser, int argc, char **argv, void *input);

/* configuration_read(), or ends with a usage error. */
void command_configuration(const char *path, struct configuration *ret_configuration);

/* Parses a number of an option or ends with a usage error. */
double command_parse_ratio(struct argp_state *state, const char *option, const char *text);
uint64_t command_parse_count(struct argp_state *state, const char *option, const char *text,
                             uint64_t least, uint64_t most);

/* Takes in an option of which files are documents, or ends with a usage error. */
void command_take_rule(struct argp_state *state, struct document_rules *rules, const char *name,
                       const char *value);

int cmd_mount(int argc, char **argv);
int cmd_umount(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_rebuild(int argc, char **argv);
int cmd_settle(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_similar(int argc, char **argv);
int cmd_passages(int argc, char **argv);
int cmd_related(int argc, char **argv);
int cmd_topics(int argc, char **argv);
int cmd_copies(int argc, char **argv);
int cmd_basis(int argc, char **argv);
int cmd_clusters(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_group(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_mirrors(int argc, char **argv);
int cmd_cluster(int argc, char **argv);
int cmd_links(int argc, char **argv);
int cmd_lost(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_changes(int argc, char **argv);
int cmd_shingles(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_bag(int argc, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_stopwords(int argc, char **argv);
int cmd_distinct(int argc, char **argv);
int cmd_stores(int argc, char **argv);
int cmd_forget(int argc, char **argv);
int cmd_skip(int argc, char **argv);
int cmd_restore_list(int argc, char **argv);
int cmd_tidy(int argc, char **argv);

/* Settle all lanes, with a row {"progress": {"done", "total", "scanning"}} now and then, and at the
 * end the row of `status`. The request's timeout_ms bounds it. Returns 0, -ETIMEDOUT, -ESHUTDOWN.
 */
int work_settle(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error);
int work_scan(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error);
int work_status(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error);
int work_similar(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_passages(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error);
int work_related(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_topics(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error);
int work_clusters(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error);
int work_report(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error);
int work_watch(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error);
int work_group(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error);
int work_pairs(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error);
int work_mirrors(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_lost(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error);
int work_history(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_changes(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_shingles(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error);
int work_check(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error);
int work_compare(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error);
int work_distinct(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error);
int work_skip(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error);

#endif
