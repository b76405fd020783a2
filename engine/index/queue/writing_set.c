#include "engine/index/queue/writing_set.h"

#include <stdlib.h>

#include "base/cleanup.h"

enum { N_BUCKETS = 256 }; /* files open for writing at once are few */

struct writer {
    struct writer *next;
    struct file_key file;
    int n_openings;
    bool is_owed;
};

struct writing_set {
    pthread_mutex_t lock;
    struct writer *buckets[N_BUCKETS];
};

struct writing_set *writing_set_new(void)
{
    struct writing_set *set = calloc(1, sizeof(*set));
    if (set)
        pthread_mutex_init(&set->lock, NULL);
    return set;
}

void writing_set_free(struct writing_set *set)
{
    if (!set)
        return;
    for (int i = 0; i < N_BUCKETS; i++) {
        while (set->buckets[i]) {
            struct writer *writer = set->buckets[i];
            set->buckets[i] = writer->next;
            free(writer);
        }
    }
    pthread_mutex_destroy(&set->lock);
    free(set);
}

/* Where the pointer to a file's entry is, or would be. */
static struct writer **find(struct writing_set *set, const struct file_key *file)
{
    struct writer **at = &set->buckets[file_key_hash(file) % N_BUCKETS];
    while (*at && !file_key_equal(&(*at)->file, file))
        at = &(*at)->next;
    return at;
}

bool writing_set_change(struct writing_set *set, const struct file_key *file, int change)
{
    LOCKED(&set->lock);
    struct writer **at = find(set, file), *writer = *at;
    if (!writer) {
        if (change <= 0 || !(writer = calloc(1, sizeof(*writer))))
            return false;
        writer->file = *file;
        *at = writer;
    }
    writer->n_openings += change;
    if (writer->n_openings > 0)
        return false;
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
