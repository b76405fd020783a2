#include "tools/commands/cluster/cluster_list.h"

#include <errno.h>
#include <string.h>

#include "base/counted.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

/* The argument is a list of lines rather than a path, which may have such characters. Of lines that
 * are taken for names another user's mount may be asked, whose server need not answer. */
static bool has_lines(const char *path)
{
    if (!path[0] || path[strlen(path) - 1] != '\n')
        return false;
    patience_look(path);
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    return fd < 0;
}

int cluster_list_explain(const struct document_list *list, char **ret_error)
{
    return refuse(ret_error, -E2BIG, "--memory=%lluM has no room for the names of more than %s",
                  (unsigned long long)(list->most_bytes >> 20), counted(list->n, "document").text);
}

int cluster_list_documents(const struct cluster_options *options,
                           const struct document_rules *rules, struct document_list *list,
                           char **ret_error)
{
    if (options->reads_list) {
        int r = document_list_read(list, stdin);
        if (r == -E2BIG)
            return cluster_list_explain(list, ret_error);
        if (r == -ENAMETOOLONG)
            return refuse(ret_error, r,
                          "the list on standard input has no NUL within a mebibyte; it takes one "
                          "behind each path, as find -print0 writes it");
        if (r < 0)
            return refuse(ret_error, r, "the list on standard input: %s", strerror(-r));
        _cleanup_free_ char *first = list->n == 1 ? document_list_path(list, 0) : NULL;
        if (first && has_lines(first))
            return refuse(ret_error, -EINVAL,
                          "the list on standard input has lines; it takes a NUL behind each path, "
                          "as find -print0 writes it");
        return 0;
    }
    size_t failed;
    int r = document_list_add(list, options->paths, options->n_paths, options->batch.keep, rules,
                              &failed);
    return r == -E2BIG
               ? cluster_list_explain(list, ret_error)
               : document_list_refuse(r, options->paths, options->n_paths, failed, ret_error);
}

int cluster_reading_begin(const struct cluster_options *options,
                          struct cluster_reading *ret_reading, char **ret_error)
{
    struct configuration *configuration = &ret_reading->configuration;
    command_configuration(options->config, configuration);
    int r = document_rules_join(&configuration->documents, &options->documents,
                                &ret_reading->documents, ret_error);
    return r < 0 ? r
                 : extractors_new(configuration->extractors, configuration->n_extractors,
                                  document_rules_types(&ret_reading->documents),
                                  &ret_reading->extractors, ret_error);
}

void cluster_reading_done(struct cluster_reading *reading)
{
    extractors_free(reading->extractors);
    configuration_done(&reading->configuration);
    document_rules_done(&reading->documents);
}
