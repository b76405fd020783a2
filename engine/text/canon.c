#include "engine/text/canon.h"

#include <errno.h>

#include "engine/text/html.h"
#include "engine/text/words.h"

struct canon {
    enum text_type type;
    struct html html;
    struct words words;
};

int canon_new(token_block_fn tokens, void *user, struct canon **ret_canon)
{
    struct canon *canon = calloc(1, sizeof(*canon));
    if (!canon)
        return -ENOMEM;
    words_init(&canon->words, tokens, user);
    *ret_canon = canon;
    return 0;
}

void canon_free(struct canon *canon)
{
    free(canon);
}

void canon_begin(struct canon *canon, enum text_type type)
{
    canon->type = type;
    words_begin(&canon->words);
    html_begin(&canon->html, &canon->words);
}

void canon_feed(struct canon *canon, const void *bytes, size_t size_bytes)
{
    if (canon->type == TEXT_HTML)
        html_feed(&canon->html, bytes, size_bytes);
    else
        words_feed(&canon->words, bytes, size_bytes);
}

void canon_finish(struct canon *canon)
{
    if (canon->type == TEXT_HTML)
        html_finish(&canon->html);
    words_finish(&canon->words);
}
