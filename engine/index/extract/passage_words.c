#include "engine/index/extract/passage_words.h"

static void begin_words(void *user)
{
    passage_sketcher_begin(user);
}

static void take_words(void *user, const uint64_t *fingerprints, size_t n)
{
    passage_sketcher_add(user, fingerprints, n);
}

int passage_words_collect(const struct passages *passages, struct sketching *sketching,
                          struct passage_sketcher **ret_sketcher)
{
    int r = passage_sketcher_new(passages_hash(passages), passages_bound(passages), ret_sketcher);
    if (r == 0)
        sketching_on_words(sketching,
                           &(struct document_words){begin_words, take_words, *ret_sketcher});
    return r;
}
