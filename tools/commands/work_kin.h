/* The daemon's part of the commands that ask which documents are kin to one (index_similar()). */
#ifndef KINFS_TOOLS_COMMANDS_WORK_KIN_H
#define KINFS_TOOLS_COMMANDS_WORK_KIN_H

#include "tools/commands/command.h"

/* Says why there is no answer about a document of the tree, or, is_foreign, another one, as
 * refuse() does. */
typedef int (*work_refuse_kin_fn)(int r, bool is_foreign, const char *shown, char **ret_error);

/* The kin of the document that is asked about: one that came with the question, or the "path" of
 * the request. Returns 0 with a list to be ended by kin_list_done(), or an error with *ret_error.
 */
int work_kin(const struct work_context *context, struct json_object *request,
             const struct index_query *query, work_refuse_kin_fn refuse_kin,
             struct kin_list *ret_list, char **ret_error);

/* A row for each, and before them why there may be more. Returns as row(). */
int work_kin_list(const struct kin_list *list, row_fn row, void *user);

/* The same, and a row for each. Returns as row(), too. */
int work_kin_rows(const struct work_context *context, struct json_object *request,
                  const struct index_query *query, work_refuse_kin_fn refuse_kin, row_fn row,
                  void *user, char **ret_error);

#endif
