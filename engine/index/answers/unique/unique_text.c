/* A text is known by the document of it that comes first, among those that may stand in for others:
 * that are certain, and of the owner. */
#include <errno.h>
#include <string.h>

#include "engine/index/answers/unique/unique_private.h"

/* The oldest documents of one text that count, among which the first is looked for. How many there
 * are that do not count has no part in it: it would be said by others than the owner. */
enum { LOOKED_MAX = 256, SIDS_AT_ONCE = 4096 };

static uid_t owner_of(const struct unique_asking *asking, const struct file_key *file)
{
    const uid_t owner = index_owner(asking->index, file);
    return owner == FILE_ROW_NOBODY ? asking->owner : owner;
}

/* Certain, and of the owner, with whose it is. A file that is open for writing is not looked at
 * again before that ends; one of another owner is for who asks about that one's. One that could not
 * be looked at, as somebody made it slow for a while, may be the first of its text: all of that are
 * shown meanwhile (-ENOBUFS), or other documents would be left out for each other, one after the
 * other, as it comes and goes. */
static int is_certain(struct unique_asking *asking, const struct document *document,
                      uid_t *ret_owner)
{
    const struct file_key *file = &document->record->key;
    struct stat st = {0};
    const bool certain =
        answer_is_certain(asking->index, file, document->sid, asking->query.looking, &st);
    const bool writes = !certain && writing_set_has(asking->index->writing, file);
    const bool was_seen = st.st_mode != 0;
    *ret_owner = was_seen ? st.st_uid : owner_of(asking, file);
    if (!unique_is_of(asking->owner, *ret_owner))
        return 0;
    asking->stale |= !certain && !writes;
    return certain || was_seen || writes ? certain : -ENOBUFS;
}

bool unique_is_certain(struct unique_asking *asking, const struct document *document)
{
    uid_t owner;
    return is_certain(asking, document, &owner) > 0;
}

int unique_look_at(struct unique_asking *asking, const struct document *document, uid_t *ret_owner,
                   char **ret_path)
{
    if (answer_is_stopped(&asking->query))
        return -EINTR;
    _cleanup_free_ char *path = NULL;
    int r = answer_shown_path(asking->index, asking->paths, document, &asking->query, &path);
    asking->stale |= r == -ESTALE;
    if (r < 0)
        return r == -ENOENT || r == -ESTALE ? 0 : r;
    r = is_certain(asking, document, ret_owner);
    if (r > 0)
        *ret_path = TAKE_PTR(path);
    return r;
}

/* Puts a document in the place of the first, where it comes before that. */
static int weigh(struct unique_asking *asking, const struct document *document,
                 struct unique_text *text)
{
    char *path;
    uid_t owner;
    int r = unique_look_at(asking, document, &owner, &path);
    if (r <= 0)
        return r;
    struct unique_rank rank;
    r = unique_rank_make(asking, document->record, path, &rank);
    if (r < 0) {
        free(path);
        return r;
    }
    text->n_seen++;
    if (!text->sid || unique_rank_compare(&rank, &text->rank) < 0) {
        free(text->rank.path);
        text->rank = rank;
        text->sid = document->sid;
    } else {
        free(rank.path);
    }
    return 0;
}

static int weigh_some(struct unique_asking *asking, const struct sid_list *sids,
                      struct unique_text *text)
{
    struct index *index = asking->index;
    int r = 0;
    for (size_t at = 0; r == 0 && at < sids->n_sids && text->n_seen < LOOKED_MAX;
         at += LOAD_AT_ONCE) {
        const struct record *records[LOAD_AT_ONCE];
        const size_t left = sids->n_sids - at, n = left < LOAD_AT_ONCE ? left : LOAD_AT_ONCE;
        r = records_borrow(index->records, sids->sids + at, n, records);
        if (r < 0)
            break;
        for (size_t i = 0; r == 0 && i < n && text->n_seen < LOOKED_MAX; i++) {
            const struct document document = {index->records, sids->sids[at + i], records[i]};
            if (records[i])
                r = weigh(asking, &document, text);
        }
        records_return(index->records, records, n);
    }
    return r;
}

static int weigh_all(struct unique_asking *asking, struct unique_text *text)
{
    uint64_t after = 0;
    int r = 0;
    for (bool more = true; r == 0 && more && text->n_seen < LOOKED_MAX;) {
        _cleanup_(sid_list_done) struct sid_list sids = {0};
        r = living_clusters_class(asking->index->clusters, text->class_id, after, SIDS_AT_ONCE,
                                  &sids);
        if (r == 0)
            r = weigh_some(asking, &sids, text);
        more = sids.n_sids == SIDS_AT_ONCE;
        after = sids.n_sids ? sids.sids[sids.n_sids - 1] : 0;
    }
    return r;
}

int unique_text_get(struct unique_asking *asking, const uint8_t class_id[CLASS_BYTES],
                    struct unique_text **ret_text)
{
    struct unique_text *text = unique_memory_find(asking->memory, class_id);
    if (!text) {
        if (!unique_memory_has_room(asking->memory, asking->decision_bytes, asking->memory_bytes))
            return -ENOBUFS;
        text = calloc(1, sizeof(*text));
        if (!text)
            return -ENOMEM;
        memcpy(text->class_id, class_id, CLASS_BYTES);
        text->number = record_class_number(class_id);
        int r = weigh_all(asking, text);
        if (r < 0) {
            unique_text_free(text);
            return r;
        }
        text = unique_memory_add(asking->memory, text);
    }
    *ret_text = text && text->sid ? text : NULL;
    return 0;
}
