#include "tools/commands/work_kin.h"

#include <errno.h>

#include "tools/questions/question.h"

static bool never(void *user)
{
    (void)user;
    return false;
}

static int kin_of_foreign(const struct work_context *context, struct json_object *request,
                          const struct index_query *query, work_refuse_kin_fn refuse_kin,
                          struct kin_list *ret_list, char **ret_error)
{
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = NULL;
    const char *shown = work_shown(request, "document");
    int r = index_read_foreign(context->index, *context->document, query->relation, never, NULL,
                               &foreign);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", shown, error_text(r));
    const struct document_info *info = index_foreign_info(foreign);
    if (info->state == DOCUMENT_SKIPPED)
        return refuse(ret_error, -EBADMSG, "%s: cannot be sketched: %s", shown, info->reason);
    r = index_foreign_similar(foreign, query, ret_list);
    return r < 0 ? refuse_kin(r, true, shown, ret_error) : 0;
}

static int kin_of_document(const struct work_context *context, struct json_object *request,
                           const struct index_query *query, work_refuse_kin_fn refuse_kin,
                           struct kin_list *ret_list, char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    const char *shown = work_shown(request, "path");
    struct file_key key;
    struct document_info info;
    int r = work_document(context, request, "path", &path, &key, &info, ret_error);
    if (r < 0)
        return r;
    if (info.state == DOCUMENT_SKIPPED)
        return refuse(ret_error, -EIO, "%s: not sketched: %s", shown, info.reason);
    r = index_similar(context->index, &key, query, ret_list);
    return r < 0 ? refuse_kin(r, false, shown, ret_error) : 0;
}

int work_kin(const struct work_context *context, struct json_object *request,
             const struct index_query *query, work_refuse_kin_fn refuse_kin,
             struct kin_list *ret_list, char **ret_error)
{
    return (context->document ? kin_of_foreign : kin_of_document)(context, request, query,
                                                                  refuse_kin, ret_list, ret_error);
}

int work_kin_list(const struct kin_list *list, row_fn row, void *user)
{
    int r = *list->incomplete ? row(user, question_incomplete_row(list->incomplete)) : 0;
    for (size_t i = 0; r == 0 && i < list->n_kin; i++)
        r = row(user, question_row(&list->kin[i]));
    return r;
}

int work_kin_rows(const struct work_context *context, struct json_object *request,
                  const struct index_query *query, work_refuse_kin_fn refuse_kin, row_fn row,
                  void *user, char **ret_error)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r = work_kin(context, request, query, refuse_kin, &list, ret_error);
    return r < 0 ? r : work_kin_list(&list, row, user);
}
