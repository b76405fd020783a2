#include "engine/index/queue/writing_set.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum { FIRST_BUCKETS = 256 }; /* files open for writing at once are few, but where somebody likes */

struct writer {
    struct writer *next;
    struct file_key file;
    int n_openings;
    bool is_owed;
};

struct writing_set {
    pthread_mutex_t lock;
    struct writer **buckets;
    size_t n_buckets, n_writers;
};

struct writing_set *writing_set_new(void)
{
    struct writing_set *set = calloc(1, sizeof(*set));
    struct writer **buckets = calloc(FIRST_BUCKETS, sizeof(*buckets));
    if (!set || !buckets) {
        free(buckets);
        free(set);
        return NULL;
    }
    *set = (struct writing_set){.buckets = buckets, .n_buckets = FIRST_BUCKETS};
    pthread_mutex_init(&set->lock, NULL);
    return set;
}

void writing_set_free(struct writing_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n_buckets; i++) {
        while (set->buckets[i]) {
            struct writer *writer = set->buckets[i];
            set->buckets[i] = writer->next;
            free(writer);
        }
    }
    free(set->buckets);
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* The place of the pointer to a file's entry, which may be NULL. */
static struct writer **find(struct writing_set *set, const struct file_key *file)
{
    struct writer **at = &set->buckets[file_key_hash(file) & (set->n_buckets - 1)];
    while (*at && !file_key_equal(&(*at)->file, file))
        at = &(*at)->next;
    return at;
}

/* A table that cannot grow is only slower. */
static void grow(struct writing_set *set)
{
    const size_t n_old = set->n_buckets;
    struct writer **old = set->buckets;
    struct writer **buckets = calloc(2 * n_old, sizeof(*buckets));
    if (!buckets)
        return;
    set->buckets = buckets;
    set->n_buckets = 2 * n_old;
    for (size_t i = 0; i < n_old; i++) {
        for (struct writer *writer = old[i], *next; writer; writer = next) {
            next = writer->next;
            struct writer **at = &buckets[file_key_hash(&writer->file) & (set->n_buckets - 1)];
            writer->next = *at;
            *at = writer;
        }
    }
    free(old);
}

bool writing_set_change(struct writing_set *set, const struct file_key *file, int change)
{
    LOCKED(&set->lock);
    struct writer **at = find(set, file), *writer = *at;
    if (!writer) {
        if (change <= 0 || !(writer = malloc(sizeof(*writer))))
            return false;
        *writer = (struct writer){.file = *file, .n_openings = change};
        *at = writer;
        if (++set->n_writers > set->n_buckets)
            grow(set);
        return false;
    }
    writer->n_openings += change;
    if (writer->n_openings > 0)
        return false;
    set->n_writers--;
    bool is_owed = writer->is_owed;
    *at = writer->next;
    free(writer);
    return is_owed;
}

bool writing_set_has(struct writing_set *set, const struct file_key *file)
{
    LOCKED(&set->lock);
    return *find(set, file) != NULL;
}

void writing_set_owe(struct writing_set *set, const struct file_key *file)
{
    LOCKED(&set->lock);
    struct writer *writer = *find(set, file);
    if (writer)
        writer->is_owed = true;
}
