#include "tools/commands/cluster/cluster_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "engine/cluster/large/large_array.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

static void print_member(const struct cluster_options *options, uint64_t cluster,
                         const char *member, const char *name)
{
    if (options->null) {
        fwrite(name, 1, strlen(name) + 1, stdout);
        return;
    }
    if (options->json) {
        _cleanup_json_ struct json_object *row = json_object_new_object();
        work_add_count(row, "cluster", cluster);
        json_path_add(row, member, name);
        command_print_json(row);
        return;
    }
    _cleanup_free_ char *escaped = NULL;
    if (escape_name(name, &escaped) == 0)
        printf("%llu\t%s\n", (unsigned long long)cluster, escaped);
}

/* next: of the same cluster; last: of the first one's cluster. */
static int print(const struct cluster_rows *rows, uint32_t *next, uint32_t *last,
                 struct cluster_rows_printed *ret_printed)
{
    const uint32_t n = rows->n, none = UINT32_MAX, *clusters = rows->clusters;
    for (uint32_t i = 0; i < n; i++) {
        next[i] = none;
        if (clusters[i] != i)
            next[last[clusters[i]]] = i;
        last[clusters[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (clusters[i] != i || next[i] == none)
            continue;
        ret_printed->n_clusters++;
        for (uint32_t j = i; j != none; j = next[j]) {
            const char *member = "path";
            _cleanup_free_ char *name = rows->name(rows->user, j, &member);
            if (!name)
                return -ENOMEM;
            ret_printed->n_members++;
            print_member(rows->options, ret_printed->n_clusters, member, name);
        }
        if (rows->options->null)
            putchar('\0');
    }
    return 0;
}

int cluster_rows_print(const struct cluster_rows *rows, struct cluster_rows_printed *ret_printed)
{
    const size_t size = ((size_t)rows->n + 1) * sizeof(uint32_t);
    uint32_t *next = large_array_new(size), *last = large_array_new(size);
    *ret_printed = (struct cluster_rows_printed){0};
    int r = next && last ? print(rows, next, last, ret_printed) : -ENOMEM;
    large_array_free(next, size);
    large_array_free(last, size);
    return r;
}
