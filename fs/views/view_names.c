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

/* The names so far, in open addressing by a secret hash, since others choose the names. Numbers of
 * as many digits stand behind the same start of a name, also where longer names have other ends: so
 * the name with the first of them (~2, ~10, ~100) keeps which is to be tried next, and no number is
 * tried twice, neither for thousands of equal names nor for thousands that are equal when cut. */
struct taken {
    const char *name;
    unsigned n_next; /* 0: that behind its own */
};

static struct taken *find_taken(struct taken *table, size_t n_places, const char *name)
{
    size_t i = XXH3_64bits_withSeed(name, strlen(name), node_secret.seed) & (n_places - 1);
    while (table[i].name && strcmp(table[i].name, name) != 0)
        i = (i + 1) & (n_places - 1);
    return &table[i];
}

/* Takes the n-th form of a name, or finds who has it (ret_place). Returns 1, 0 or -ENOMEM. */
static int try_name(struct taken *table, size_t n_places, const struct kin *kin, unsigned n,
                    struct taken **ret_place, char **ret_name)
{
    _cleanup_free_ char *name = NULL;
    int r = make_name(kin, n, &name);
    if (r < 0)
        return r;
    *ret_place = find_taken(table, n_places, name);
    if ((*ret_place)->name)
        return 0;
    (*ret_place)->name = name;
    *ret_name = TAKE_PTR(name);
    return 1;
}

static int make_unique(struct taken *table, size_t n_places, const struct kin *kin, char **ret_name)
{
    struct taken *first, *place; /* first: with the first number of as many digits */
    int r = try_name(table, n_places, kin, 1, &place, ret_name);
    for (unsigned n = 2, end = 10; r == 0; n = end, end *= 10) {
        r = try_name(table, n_places, kin, n, &first, ret_name);
        if (r != 0)
            break;
        for (n = first->n_next ? first->n_next : n + 1; r == 0 && n < end; n++)
            r = try_name(table, n_places, kin, n, &place, ret_name);
        first->n_next = n;
    }
    return r < 0 ? r : 0;
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

uint64_t view_names_id(const char *name)
{
    char *end;
    if (*name < '1' || *name > '9')
        return 0;
    errno = 0;
    unsigned long long id = strtoull(name, &end, 10);
    return *end || errno || id > INDEX_CLUSTER_MAX ? 0 : id;
}
