/* The question of kinfs skip to the index: all that unique/ leaves out, for who may see everything.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/backing.h"
#include "tools/commands/command.h"
#include "tools/commands/skip/skip_work.h"
#include "tools/commands/tidy/tidy_state.h"
#include "tools/show/json_path.h"

struct skip_work {
    row_fn row;
    void *user;
    bool states;
};

static int tell(void *user, const char *path, const struct index_stand_in *stand_in)
{
    const struct skip_work *work = user;
    struct json_object *row = json_object_new_object();
    json_path_add(row, "path", path);
    json_path_add(row, "stand_in", stand_in->path);
    work_add_ratio(row, "resemblance", stand_in->resemblance);
    work_add_count(row, "size", (uint64_t)stand_in->left_out.st_size);
    json_object_object_add(row, "equal", json_object_new_boolean(stand_in->same_content));
    if (work->states) {
        const struct tidy_state is = tidy_state_of(&stand_in->left_out),
                                stand_in_is = tidy_state_of(&stand_in->stays);
        tidy_state_add(row, "is", &is);
        tidy_state_add(row, "stand_in_is", &stand_in_is);
    }
    return work->row(work->user, row);
}

/* -- the rules, where no mount has its own -- */

static void texts_free(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((char *)texts[i]);
    free((char **)texts);
}

static void rules_done(struct index_unique_options *rules)
{
    texts_free(rules->prefer, rules->n_prefer);
    texts_free(rules->reference, rules->n_reference);
}

static int read_texts(struct json_object *request, const char *name, const char *member,
                      const char *const **ret_texts, size_t *ret_n)
{
    struct json_object *list;
    if (!json_object_object_get_ex(request, name, &list))
        return 0;
    if (!json_object_is_type(list, json_type_array))
        return -EINVAL;
    const size_t n = json_object_array_length(list);
    char **texts = calloc(n + 1, sizeof(*texts));
    *ret_texts = (const char *const *)texts;
    if (!texts)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        int r = json_path_get(json_object_array_get_idx(list, i), member, &texts[i]);
        if (r < 0)
            return r == -ENOMEM ? r : -EINVAL;
        ++*ret_n;
    }
    return 0;
}

static void add_texts(struct json_object *request, const char *name, const char *member,
                      const char *const *texts, size_t n)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < n; i++) {
        struct json_object *text = json_object_new_object();
        json_path_add(text, member, texts[i]);
        json_object_array_add(list, text);
    }
    json_object_object_add(request, name, list);
}

void skip_add_rules(struct json_object *request, const struct unique_rules *said)
{
    const struct index_unique_options rules = unique_rules_options(said);
    json_object_object_add(request, "near", json_object_new_double(rules.near));
    work_add_count(request, "representative", rules.representative);
    json_object_object_add(request, "anyone", json_object_new_boolean(rules.stand_in_anyone));
    add_texts(request, "prefer", "pattern", rules.prefer, rules.n_prefer);
    add_texts(request, "reference", "directory", rules.reference, rules.n_reference);
}

static int read_rules(struct json_object *request, struct index_unique_options *ret_rules)
{
    *ret_rules =
        (struct index_unique_options){.near = work_number(request, "near", 0),
                                      .representative = (enum index_representative)work_count(
                                          request, "representative", INDEX_STAYS_OLDEST),
                                      .stand_in_anyone = work_flag(request, "anyone")};
    int r = read_texts(request, "prefer", "pattern", &ret_rules->prefer, &ret_rules->n_prefer);
    return r < 0 ? r
                 : read_texts(request, "reference", "directory", &ret_rules->reference,
                              &ret_rules->n_reference);
}

/* -- what the tree has in its root -- */

static int tell_names(const struct work_context *context, row_fn row, void *user)
{
    const int fd =
        openat(backing_root_fd(context->backing), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int r = 0;
    if (!dir)
        return -errno;
    errno = 0;
    for (struct dirent *entry; r == 0 && (entry = readdir(dir)); errno = 0) {
        struct json_object *name = json_object_new_object();
        json_path_add(name, "name", entry->d_name);
        r = row(user, name);
    }
    return r < 0 ? r : -errno;
}

int work_skip(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error)
{
    _cleanup_(rules_done) struct index_unique_options rules = {0};
    _cleanup_(index_unique_free_p) struct index_unique *unique = NULL;
    struct skip_work work = {row, user, work_flag(request, "states")};
    const struct index_query query = {
        .wait_ms = WORK_SETTLE_MS, .stop = context->stop, .stop_user = context->stop_user};
    int r = read_rules(request, &rules);
    struct index_unique_options counting = context->unique ? *context->unique : rules;
    if (work_flag(request, "equal"))
        counting.near = 1;
    if (r == 0)
        r = index_unique_new(context->index, &counting, &unique);
    if (r == -EINVAL)
        return refuse(ret_error, r, "the request has no rules of what stays");
    work_catch_up(context);
    if (r == 0)
        r = index_unique_each(unique, &query, tell, &work);
    if (r == 0 && work_flag(request, "names") && context->mountpoint)
        r = tell_names(context, row, user);
    return r < 0 ? refuse(ret_error, r, "%s: %s", context->store, error_text(r)) : 0;
}
