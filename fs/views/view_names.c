#include "fs/views/view_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/ratio.h"
#include "fs/inodes/node.h"

enum { PREFIX_BYTES = 24, SUFFIX_BYTES = 24 };

/* The longest start of a name that has at most max bytes and does not end within a character. */
static size_t cut_at(const char *name, size_t size, size_t max)
{
    if (size <= max)
        return size;
    size_t end = max;
    for (int i = 0; i < 3 && end && ((unsigned char)name[end] & 0xc0) == 0x80; i++)
        end--;
    /* Four continuation bytes in a row, or none to continue: no UTF-8, any place will do. */
    return ((unsigned char)name[end] & 0xc0) == 0x80 || !end ? max : end;
}

/* The n-th form of a name; n 1: without a number. */
static int make_name(const struct kin *kin, unsigned n, char **ret_name)
{
    const char *slash = strrchr(kin->path, '/');
    const char *base = slash ? slash + 1 : kin->path;
    char suffix[SUFFIX_BYTES] = "";
    if (n > 1)
        snprintf(suffix, sizeof(suffix), "~%u", n);
    char prefix[PREFIX_BYTES];
    if (kin->shared_words)
        snprintf(prefix, sizeof(prefix), "%05llu-", (unsigned long long)kin->shared_words);
    else
        snprintf(prefix, sizeof(prefix), "%03u-", ratio_percent(kin->resemblance));
    size_t size = cut_at(base, strlen(base), NAME_MAX - strlen(prefix) - strlen(suffix));
    return asprintf(ret_name, "%s%.*s%s", prefix, (int)size, base, suffix) < 0 ? -ENOMEM : 0;
}

/* The names so far, in open addressing by a secret hash, since others choose the names: where each
 * name is, and the number its next clash starts from, so that thousands of equal names do not try
 * all numbers again. */
struct taken {
    const char *name;
    unsigned n_next;
};

static struct taken *find_taken(struct taken *table, size_t n_places, const char *name)
{
    size_t i = XXH3_64bits_withSeed(name, strlen(name), node_secret.seed) & (n_places - 1);
    while (table[i].name && strcmp(table[i].name, name) != 0)
        i = (i + 1) & (n_places - 1);
    return &table[i];
}

static int make_unique(struct taken *table, size_t n_places, const struct kin *kin, char **ret_name)
{
    _cleanup_free_ char *first = NULL;
    int r = make_name(kin, 1, &first);
    if (r < 0)
        return r;
    struct taken *clash = find_taken(table, n_places, first);
    if (!clash->name) {
        *clash = (struct taken){.name = first, .n_next = 2};
        *ret_name = TAKE_PTR(first);
        return 0;
    }
    for (;;) {
        _cleanup_free_ char *name = NULL;
        r = make_name(kin, clash->n_next++, &name);
        if (r < 0)
            return r;
        struct taken *place = find_taken(table, n_places, name);
        if (!place->name) {
            *place = (struct taken){.name = name, .n_next = 2};
            *ret_name = TAKE_PTR(name);
            return 0;
        }
    }
}

int view_names_make(const struct kin *kin, size_t n_kin, char ***ret_names)
{
    size_t n_places = 4;
    while (n_places < 2 * n_kin)
        n_places *= 2;
    _cleanup_free_ struct taken *table = calloc(n_places, sizeof(*table));
    char **names = calloc(n_kin + 1, sizeof(*names));
    if (!table || !names) {
        free(names);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n_kin; i++) {
        int r = make_unique(table, n_places, &kin[i], &names[i]);
        if (r < 0) {
            view_names_free(names, i);
            return r;
        }
    }
    *ret_names = names;
    return 0;
}

void view_names_free(char **names, size_t n_names)
{
    for (size_t i = 0; names && i < n_names; i++)
        free(names[i]);
    free(names);
}

bool view_names_is_link(const char *name)
{
    const size_t n_digits = strspn(name, "0123456789");
    return n_digits >= 3 && name[n_digits] == '-';
}
