/* A document that is no file of the tree: read when it is asked about, answered like one that is.
 */
#include <errno.h>

#include "engine/index/answers/answer.h"
#include "engine/index/extract/sketching.h"

struct index_foreign {
    struct index *index;
    struct record record;
    struct document_info info;
};

void index_foreign_free(struct index_foreign *foreign)
{
    if (foreign)
        record_done(&foreign->record);
    free(foreign);
}

int index_read_foreign(struct index *index, int fd, bool (*stop)(void *user), void *user,
                       struct index_foreign **ret_foreign)
{
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = calloc(1, sizeof(*foreign));
    _cleanup_(sketching_free_p) struct sketching *sketching = NULL;
    struct document_sketch sketch;
    if (!foreign)
        return -ENOMEM;
    const struct sketching_by by = index_sketching_by(index, true);
    int r = sketching_new(&by, stop, user, &sketching);
    if (r == 0)
        r = sketching_run_whole(sketching, fd, &sketch, foreign->info.reason);
    if (r == 0)
        r = record_take_sketch(&foreign->record, &sketch);
    if (r < 0 && r != -EBADMSG)
        return r;
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

static int answer_of_foreign(const struct index_foreign *foreign, enum postings_tier tier,
                             const struct index_query *query, struct kin_list *ret_list)
{
    const struct document document = {.record = &foreign->record};
    if (foreign->info.state == DOCUMENT_SKIPPED)
        return -ENOENT;
    return answer_kin(foreign->index, tier, NULL, &document, query, ret_list);
}

int index_foreign_similar(const struct index_foreign *foreign, const struct index_query *query,
                          struct kin_list *ret_list)
{
    return answer_of_foreign(foreign, POSTINGS_TIER_R, query, ret_list);
}

int index_foreign_containing(const struct index_foreign *foreign, const struct index_query *query,
                             struct kin_list *ret_list)
{
    return answer_of_foreign(foreign, POSTINGS_TIER_C, query, ret_list);
}
