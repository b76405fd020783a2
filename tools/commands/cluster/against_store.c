#include "tools/commands/cluster/against_store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/counted.h"
#include "base/files/trust.h"
#include "tools/questions/patience.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

static bool is_directory(const char *path)
{
    struct stat st;
    patience_look(path);
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ret_store: borrowed; NULL: there is none. */
static int take_store(struct cluster_options *options, const char **ret_store, char **ret_error)
{
    size_t n = 0;
    *ret_store = NULL;
    for (size_t i = 0; i < options->n_against; i++) {
        const char *path = options->against[i];
        if (!is_directory(path)) {
            options->against[n++] = path;
            continue;
        }
        if (*ret_store)
            return refuse(
                ret_error, -EINVAL,
                "%s: sketches of two stores, each with a key of its own, are not compared; "
                "name one of them",
                path);
        *ret_store = path;
    }
    options->n_against = n;
    return 0;
}

int against_store_open(struct cluster_options *options, struct against_store *ret_against,
                       char **ret_error)
{
    const char *store;
    int r = take_store(options, &store, ret_error);
    if (r < 0 || !store)
        return r;
    if (options->policy)
        return refuse(ret_error, -EINVAL,
                      "%s: lines are sketched by the policy of this store; leave out --policy",
                      store);
    ret_against->list.most_bytes = options->batch.memory_bytes;
    _cleanup_free_ char *why = NULL;
    r = stored_documents_open(NULL, store, &ret_against->list, &ret_against->stored, &why);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no store of a tree; name one that kinfs stores prints",
                      store);
    if (r == -E2BIG)
        return refuse(ret_error, r, "--memory=%lluM has no room for the names of more than %s",
                      (unsigned long long)(options->batch.memory_bytes >> 20),
                      counted(ret_against->list.n, "document").text);
    if (r < 0) {
        *ret_error = TAKE_PTR(why);
        return r;
    }
    ret_against->policy = *stored_documents_policy(&ret_against->stored);
    ret_against->is_there = true;
    return 0;
}

int against_store_add(struct against_store *against, struct batch *batch)
{
    if (!against->is_there)
        return 0;
    int r = stored_documents_add(&against->stored, batch);
    stored_documents_done(&against->stored);
    return r;
}

void against_store_print_id(const struct against_store *against, uint32_t number)
{
    _cleanup_free_ char *path = document_list_path(&against->list, number);
    _cleanup_json_ struct json_object *object = json_object_new_object();
    struct json_object *id = NULL;
    if (path && json_path_add(object, "id", path) == 0)
        json_object_object_get_ex(object, "id", &id);
    const char *text = json_object_to_json_string_ext(id, JSON_C_TO_STRING_NOSLASHESCAPE);
    json_text_print(stdout, text, strlen(text));
}

void against_store_done(struct against_store *against)
{
    stored_documents_done(&against->stored);
    document_list_done(&against->list);
}
