/* Changed words stand in places a shingle's width apart, so that each changes w shingles and no two
 * the same. A chain changes its places in turn, always a few further: so what version v has in a
 * place is a number that follows from v, and two versions differ in as many places as were changed
 * between them, until all were.
 */
#include "tests/lib/documents/families.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

enum { LETTERS = 6, LEAST_WORDS = 2 };

struct families {
    uint64_t seed;
    unsigned w;
    size_t n_families;
    struct family *plan;
    uint32_t *first;                /* by family: its first slot */
    uint32_t n_documents, *slot_of; /* by number */
    uint32_t *number_of;            /* by slot */
};

static uint64_t mix(uint64_t x)
{
    return mix64_next(&x);
}

static int deal(struct families *families)
{
    uint32_t n = families->n_documents;
    families->slot_of = calloc(n, sizeof(*families->slot_of));
    families->number_of = calloc(n, sizeof(*families->number_of));
    if (!families->slot_of || !families->number_of)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        families->slot_of[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t k = (uint32_t)(mix(families->seed ^ (uint64_t)i << 32) % (i + 1));
        uint32_t slot = families->slot_of[k];
        families->slot_of[k] = families->slot_of[i];
        families->slot_of[i] = slot;
    }
    for (uint32_t i = 0; i < n; i++)
        families->number_of[families->slot_of[i]] = i;
    return 0;
}

int families_new(uint64_t seed, unsigned w, const struct family *plan, size_t n_families,
                 struct families **ret_families)
{
    _cleanup_(families_free_p) struct families *families = calloc(1, sizeof(*families));
    if (!families)
        return -ENOMEM;
    families->plan = calloc(n_families + 1, sizeof(*families->plan));
    families->first = calloc(n_families + 1, sizeof(*families->first));
    if (!families->plan || !families->first)
        return -ENOMEM;
    memcpy(families->plan, plan, n_families * sizeof(*plan));
    families->seed = seed;
    families->w = w;
    families->n_families = n_families;
    for (size_t i = 0; i < n_families; i++) {
        if (w == 0 || plan[i].n_words < LEAST_WORDS * w || plan[i].n_changes > plan[i].n_words / w)
            return -EINVAL;
        families->first[i] = families->n_documents;
        families->n_documents += plan[i].size;
    }
    if (families->n_documents == 0)
        return -EINVAL;
    int r = deal(families);
    if (r < 0)
        return r;
    *ret_families = families;
    families = NULL;
    return 0;
}

void families_free(struct families *families)
{
    if (!families)
        return;
    free(families->plan);
    free(families->first);
    free(families->slot_of);
    free(families->number_of);
    free(families);
}

uint32_t families_n_documents(const struct families *families)
{
    return families->n_documents;
}

struct family_member families_member(const struct families *families, uint32_t number)
{
    uint32_t slot = families->slot_of[number];
    size_t low = 0, high = families->n_families;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (families->first[middle] <= slot)
            low = middle;
        else
            high = middle;
    }
    return (struct family_member){(uint32_t)low, slot - families->first[low]};
}

uint32_t families_number(const struct families *families, struct family_member member)
{
    return families->number_of[families->first[member.family] + member.member];
}

static char *write_word(char *out, uint64_t seed)
{
    uint64_t x = mix(seed);
    for (unsigned i = 0; i < LETTERS; i++, x /= 26)
        *out++ = (char)('a' + x % 26);
    *out++ = ' ';
    return out;
}

/* words[place * w] of the text become others. */
static void change(const struct families *families, char *text, uint32_t place, uint64_t seed)
{
    write_word(text + (size_t)place * families->w * (LETTERS + 1), seed);
}

static void change_star(const struct families *families, const struct family *family, uint64_t own,
                        char *text)
{
    uint32_t n_places = family->n_words / families->w;
    for (unsigned i = 0; i < family->n_changes; i++)
        change(families, text, (uint32_t)(mix(own + i) % n_places), own ^ mix(i));
}

static void change_chain(const struct families *families, const struct family *family,
                         uint64_t seed, uint64_t version, char *text)
{
    uint64_t n_places = family->n_words / families->w, n_changes = version * family->n_changes;
    for (uint32_t place = 0; place < n_places; place++) {
        uint64_t n = n_changes > place ? (n_changes - place - 1) / n_places + 1 : 0;
        if (n)
            change(families, text, place, seed ^ mix(n) ^ mix((uint64_t)place << 40));
    }
}

size_t families_write(const struct families *families, uint32_t number, unsigned rewrites,
                      char *out)
{
    struct family_member member = families_member(families, number);
    const struct family *family = &families->plan[member.family];
    uint64_t seed = mix(families->seed ^ mix(member.family + 1)), own = mix(seed + member.member);
    char *at = out;
    for (unsigned i = 0; family->head && i < family->n_head; i++)
        at = write_word(at, families->seed ^ (uint64_t)family->head << 48 ^ i);
    char *text = at;
    if (family->shape == FAMILY_NONE)
        seed = own;
    for (unsigned i = 0; i < family->n_words; i++)
        at = write_word(at, seed + i);
    if (family->shape == FAMILY_STAR)
        change_star(families, family, own + (uint64_t)rewrites * 1000003, text);
    if (family->shape == FAMILY_CHAIN)
        change_chain(families, family, seed, member.member, text);
    if (family->shape != FAMILY_STAR && rewrites)
        change(families, text, (uint32_t)(own % (family->n_words / families->w)), own + rewrites);
    for (unsigned i = 0; i < family->n_tail; i++)
        at = write_word(at, families->seed ^ UINT64_C(0xffff) << 48 ^ i);
    at[-1] = '\n';
    return (size_t)(at - out);
}

size_t families_most_bytes(const struct families *families)
{
    size_t most = 0;
    for (size_t i = 0; i < families->n_families; i++) {
        const struct family *family = &families->plan[i];
        size_t n = (size_t)family->n_words + family->n_head + family->n_tail;
        most = n > most ? n : most;
    }
    return most * (LETTERS + 1);
}

/* -- against clusters that were found -- */

struct found {
    uint64_t cluster;
    uint32_t family;
};

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->family > y->family) - (x->family < y->family);
}

/* The documents of one cluster, by family. */
static void check_cluster(const struct families *families, const struct found *found, size_t n,
                          struct family_found *by_family)
{
    size_t n_most = 0;
    uint32_t most = found[0].family;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && found[end].family == found[i].family; end++)
            ;
        struct family_found *family = &by_family[found[i].family];
        if (end - i > family->n_together)
            family->n_together = (uint32_t)(end - i);
        if (end - i > n_most) {
            n_most = end - i;
            most = found[i].family;
        }
    }
    for (size_t i = 0; i < n; i++) {
        bool is_alone = families->plan[found[i].family].shape == FAMILY_NONE;
        by_family[found[i].family].n_wrong += found[i].family != most || is_alone;
    }
}

int families_check(const struct families *families, const uint64_t *clusters,
                   struct family_found *ret_found)
{
    _cleanup_free_ struct found *found = calloc(families->n_documents, sizeof(*found));
    size_t n = 0;
    if (!found)
        return -ENOMEM;
    memset(ret_found, 0, families->n_families * sizeof(*ret_found));
    for (uint32_t i = 0; i < families->n_documents; i++) {
        uint32_t family = families_member(families, i).family;
        ret_found[family].n_members += clusters[i] != FAMILIES_NOT_THERE;
        if (clusters[i] == FAMILIES_ALONE)
            ret_found[family].n_together |= 1;
        if (clusters[i] > FAMILIES_ALONE)
            found[n++] = (struct found){clusters[i], family};
    }
    qsort(found, n, sizeof(*found), compare_found);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && found[end].cluster == found[i].cluster; end++)
            ;
        check_cluster(families, found + i, end - i, ret_found);
    }
    return 0;
}
