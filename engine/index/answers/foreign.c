/* A document that is no file of the tree: read when it is asked about, answered like one that is.
 */
#include <errno.h>

#include "engine/index/answers/answer.h"
#include "engine/index/answers/shingle_set.h"
#include "engine/index/extract/passage_words.h"
#include "engine/index/extract/stem_counts.h"

struct index_foreign {
    struct index *index;
    struct record record;
    struct document_info info;
    struct shingle_set set;
    bool has_set; /* all shingles are in it */
    struct passage_sketch passages;
    bool has_passages;
    struct kv_buf bag; /* a row; without one data is NULL */
};

void index_foreign_free(struct index_foreign *foreign)
{
    if (!foreign)
        return;
    record_done(&foreign->record);
    shingle_set_done(&foreign->set);
    passage_sketch_done(&foreign->passages);
    kv_buf_done(&foreign->bag);
    free(foreign);
}

int index_read_foreign(struct index *index, int fd, enum index_relation relation,
                       bool (*stop)(void *user), void *user, struct index_foreign **ret_foreign)
{
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = calloc(1, sizeof(*foreign));
    _cleanup_(sketching_free_p) struct sketching *sketching = NULL;
    _cleanup_(passage_sketcher_free_p) struct passage_sketcher *passages = NULL;
    _cleanup_(stem_counts_free_p) struct stem_counts *stems = NULL;
    struct document_sketch sketch;
    if (!foreign)
        return -ENOMEM;
    const struct sketching_by by = index_sketching_by(index, true);
    int r = sketching_new(&by, stop, user, &sketching);
    if (r == 0 && relation == INDEX_PARTS)
        shingle_set_collect(&foreign->set, sketching);
    if (r == 0 && relation == INDEX_SHARES && index->passages)
        r = passage_words_collect(index->passages, sketching, &passages);
    if (r == 0 && relation == INDEX_RELATED)
        r = stem_counts_collect(index->hash, sketching, &stems);
    if (r == 0)
        r = sketching_run_whole(sketching, fd, &sketch, foreign->info.reason);
    if (r == 0)
        r = record_take_sketch(&foreign->record, &sketch);
    if (r < 0 && r != -EBADMSG)
        return r;
    if (r == 0 && relation == INDEX_PARTS) {
        r = shingle_set_finish(&foreign->set);
        if (r < 0)
            return r;
        foreign->has_set = r > 0;
        r = 0;
    }
    if (r == 0 && passages) {
        r = passage_sketcher_finish(passages, &foreign->passages);
        if (r < 0)
            return r;
        foreign->has_passages = true;
    }
    if (r == 0 && stems) {
        uint8_t *row;
        r = stem_counts_finish(stems, &row, &foreign->bag.size_bytes);
        if (r < 0)
            return r;
        foreign->bag.data = row;
    }
    foreign->index = index;
    foreign->info.settled = true;
    foreign->info.state = r < 0 ? DOCUMENT_SKIPPED : DOCUMENT_CURRENT;
    if (r == 0) {
        text_form_print(&foreign->record.form, foreign->info.type);
        foreign->info.n_tokens = foreign->record.sketch.n_tokens;
    }
    *ret_foreign = TAKE_PTR(foreign);
    return 0;
}

const struct document_info *index_foreign_info(const struct index_foreign *foreign)
{
    return &foreign->info;
}

int index_foreign_similar(const struct index_foreign *foreign, const struct index_query *query,
                          struct kin_list *ret_list)
{
    const struct document document = {.record = &foreign->record,
                                      .passages = foreign->has_passages ? &foreign->passages : NULL,
                                      .bag = foreign->bag.data ? &foreign->bag : NULL};
    if (foreign->info.state == DOCUMENT_SKIPPED)
        return -ENOENT;
    return answer_foreign(foreign->index, &document, foreign->has_set ? &foreign->set : NULL, query,
                          ret_list);
}
