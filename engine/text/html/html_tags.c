/* Tags as tokens. A tag is the token "<name>" or "</name>", which no word can be, as no word has
 * such a character. The token has no attributes, and an element without content has its start tag.
 *
 * Example: "<p class=x>a<br/>b</p>" has the tokens <p>, a, <br>, b, </p>. Cost: the gathered text
 * is fed to the words at each tag; html_stride.h is not used. */
#include "engine/text/html/html_tags.h"

#include <string.h>

void html_tags_put(struct html_tags *tags, bool end_tag, struct gather *gather)
{
    struct words *words = gather->words;
    const uint8_t *token = tags->token + !end_tag;
    size_t n = (size_t)(tags->n_bytes + 1 - !end_tag);
    tags->token[0] = tags->token[1] = '<';
    if (end_tag)
        tags->token[1] = '/';
    tags->token[tags->n_bytes] = '>';
    gather_flush(gather);
    words_separate(words);
    if (n > WORDS_BLOCK_BYTES - words->n_bytes)
        words_finish(words); /* hands out the tokens, which makes room */
    memcpy(words->bytes + words->n_bytes, token, n);
    words->n_bytes += (uint32_t)n;
    words_separate(words);
}
