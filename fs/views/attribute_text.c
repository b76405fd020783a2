#include "fs/views/attribute_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/ratio.h"

static const char *const names[N_ATTRIBUTES] = {
    [ATTRIBUTE_STATE] = ATTRIBUTE_PREFIX "state",
    [ATTRIBUTE_CLUSTER] = ATTRIBUTE_PREFIX "cluster",
    [ATTRIBUTE_CLUSTER_SIZE] = ATTRIBUTE_PREFIX "cluster.size",
    [ATTRIBUTE_REPRESENTATIVE] = ATTRIBUTE_PREFIX "representative",
    [ATTRIBUTE_RESEMBLANCE] = ATTRIBUTE_PREFIX "resemblance",
    [ATTRIBUTE_RESEMBLANCE_ERROR] = ATTRIBUTE_PREFIX "resemblance.error",
    [ATTRIBUTE_NEAREST] = ATTRIBUTE_PREFIX "nearest",
    [ATTRIBUTE_SIMILAR] = ATTRIBUTE_PREFIX "similar",
    [ATTRIBUTE_SIMILAR_LEFT_OUT] = ATTRIBUTE_PREFIX "similar.left_out",
    [ATTRIBUTE_RELATED] = ATTRIBUTE_PREFIX "related",
    [ATTRIBUTE_TOPIC] = ATTRIBUTE_PREFIX "topic",
    [ATTRIBUTE_TOPIC_SIZE] = ATTRIBUTE_PREFIX "topic.size",
    [ATTRIBUTE_WORDS] = ATTRIBUTE_PREFIX "words",
    [ATTRIBUTE_ROBOTS] = ATTRIBUTE_ROBOTS_NAME,
    [ATTRIBUTE_SIZE] = ATTRIBUTE_PREFIX "size",
    [ATTRIBUTE_RESEMBLANCE_MIN] = ATTRIBUTE_PREFIX "resemblance.min",
    [ATTRIBUTE_RESEMBLANCE_MEAN] = ATTRIBUTE_PREFIX "resemblance.mean",
    [ATTRIBUTE_VERSION] = ATTRIBUTE_PREFIX "version",
    [ATTRIBUTE_POLICY] = ATTRIBUTE_PREFIX "policy",
    [ATTRIBUTE_DOCUMENTS] = ATTRIBUTE_PREFIX "documents",
    [ATTRIBUTE_CLUSTERS] = ATTRIBUTE_PREFIX "clusters",
    [ATTRIBUTE_PENDING] = ATTRIBUTE_PREFIX "pending",
    [ATTRIBUTE_STORE] = ATTRIBUTE_PREFIX "store",
};

#define CLUSTER_PREFIX ATTRIBUTE_PREFIX "cluster."

static const struct {
    const char *prefix;
    enum attribute attribute;
} with_path[] = {
    {ATTRIBUTE_PREFIX "resemblance:", ATTRIBUTE_RESEMBLANCE_TO},
    {ATTRIBUTE_PREFIX "resemblance.error:", ATTRIBUTE_RESEMBLANCE_ERROR_TO},
    {ATTRIBUTE_PREFIX "containment:", ATTRIBUTE_CONTAINMENT_IN},
    {ATTRIBUTE_PREFIX "containment.error:", ATTRIBUTE_CONTAINMENT_ERROR_IN},
};

const char *attribute_name(enum attribute attribute)
{
    return names[attribute];
}

enum attribute attribute_of_name(const char *name, const char **ret_path)
{
    *ret_path = NULL;
    for (size_t i = 0; i < sizeof(with_path) / sizeof(with_path[0]); i++) {
        size_t n = strlen(with_path[i].prefix);
        if (strncmp(name, with_path[i].prefix, n) != 0)
            continue;
        const char *path = name + n;
        path += *path == '/';
        if (!*path)
            return ATTRIBUTE_NONE;
        *ret_path = path;
        return with_path[i].attribute;
    }
    for (int i = 1; i < N_ATTRIBUTES; i++)
        if (names[i] && strcmp(name, names[i]) == 0)
            return (enum attribute)i;
    if (strncmp(name, CLUSTER_PREFIX, strlen(CLUSTER_PREFIX)) == 0 &&
        name[strlen(CLUSTER_PREFIX)]) {
        *ret_path = name + strlen(CLUSTER_PREFIX);
        return ATTRIBUTE_CLUSTER_IN;
    }
    return ATTRIBUTE_NONE;
}

int attribute_number(double value, char ret_text[ATTRIBUTE_NUMBER_BYTES])
{
    if (isnan(value))
        return -ENODATA;
    snprintf(ret_text, ATTRIBUTE_NUMBER_BYTES, "%.4f", ratio_shown(value > 0 ? value : 0));
    return 0;
}

int attribute_lines(const struct kin_list *list, char **ret_text, size_t *ret_n_bytes,
                    size_t *ret_n_lines)
{
    size_t n_bytes = 0, n_room = 0, n_lines = 0;
    _cleanup_free_ char *text = NULL;
    for (size_t i = 0; i < list->n_kin; i++) {
        _cleanup_free_ char *path = NULL;
        char number[ATTRIBUTE_NUMBER_BYTES] = "";
        int r = escape_name(list->kin[i].path, &path);
        if (r < 0)
            return r;
        if (attribute_number(list->kin[i].resemblance, number) < 0)
            continue;
        size_t n_line = strlen(number) + 1 + strlen(path) + 1;
        if (n_bytes + n_line > ATTRIBUTE_MAX_BYTES)
            break;
        if (n_bytes + n_line + 1 > n_room) { /* one for the NUL */
            n_room = 2 * n_room + n_line + 1;
            char *more = realloc(text, n_room);
            if (!more)
                return -ENOMEM;
            text = more;
        }
        n_bytes += (size_t)sprintf(text + n_bytes, "%s\t%s\n", number, path);
        n_lines++;
    }
    if (!text && !(text = strdup("")))
        return -ENOMEM;
    *ret_text = TAKE_PTR(text);
    *ret_n_bytes = n_bytes;
    if (ret_n_lines)
        *ret_n_lines = n_lines;
    return 0;
}
