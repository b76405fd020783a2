#include "engine/index/intake/declared.h"

#include "engine/index/catalogue/other_names.h"
#include "engine/index/index_state.h"
#include "engine/index/tables/distinct.h"

/* One file stands for another in all copies; a copy of a file of itself is none. */
static void replace(struct declared_copies *copies, uint64_t file, uint64_t by)
{
    size_t n = 0;
    for (size_t i = 0; i < copies->n; i++) {
        uint64_t *pair = copies->files[i];
        for (int k = 0; k < 2; k++)
            pair[k] = pair[k] == file ? by : pair[k];
        if (pair[0] == pair[1])
            continue;
        copies->files[n][0] = pair[0];
        copies->files[n++][1] = pair[1];
    }
    copies->n = n;
}

static bool has_copy(const struct declared_copies *copies, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < copies->n; i++) {
        const uint64_t *pair = copies->files[i];
        if ((pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a))
            return true;
    }
    return false;
}

int declared_carry(struct index *index, const struct file_key *parent, const char *name,
                   const struct file_key *before, const struct file_key *now, bool lives)
{
    struct declared_copies *copies = &index->declared_copies;
    int r = distinct_any(index->kv, before);
    if (r <= 0)
        return r;
    const int stays =
        lives ? 1 : other_names_exist(index->kv, before, &(struct catalogue_name){parent, name}, 1);
    /* Names may be exchanged once more. */
    const bool is_copied = has_copy(copies, file_key_hash(before), file_key_hash(now));
    if (stays < 0 || (stays && !is_copied && copies->n == DECLARED_COPIES_MAX))
        return stays < 0 ? stays : 0;
    r = distinct_carry(index->kv, before, now, !stays);
    if (r == 0 && stays && !is_copied) {
        copies->files[copies->n][0] = file_key_hash(before);
        copies->files[copies->n++][1] = file_key_hash(now);
    } else if (r == 0 && !stays) {
        replace(copies, file_key_hash(before), file_key_hash(now));
    }
    atomic_fetch_add(&index->n_declared, 1);
    return r;
}

int declared_let_go(struct index *index, const struct file_key *file)
{
    struct declared_copies *copies = &index->declared_copies;
    const uint64_t id = file_key_hash(file);
    for (size_t i = 0; i < copies->n; i++) {
        const uint64_t *pair = copies->files[i];
        if (pair[0] != id && pair[1] != id)
            continue;
        int r = distinct_forget(index->kv, file);
        if (r == 0)
            replace(copies, id, pair[0] == id ? pair[1] : pair[0]);
        return r;
    }
    return 0;
}
