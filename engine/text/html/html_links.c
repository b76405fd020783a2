/* The links of an HTML document, with the places of their texts among its tokens. A place is the
 * number of complete tokens and the bytes of the open one, so a link may begin within a word.
 *
 * Example: "see <a href=x>the page</a> now" has a link of the tokens 1 and 2, [1, 3). In
 * "pre<a href=x>fix</a>" the one token belongs to the link, as it ends in it.
 *
 * Cost: the gathered text is fed to the words at each end of a link, so that they can be asked.
 */
#include "engine/text/html/html_links.h"

#include <string.h>

static struct html_place place_of(const struct html_links *links, struct gather *gather)
{
    gather_flush(gather);
    const struct words *words = gather->words;
    return (struct html_place){*links->n_handed_out + words->n_tokens,
                               words->n_bytes - words->ends[words->n_tokens]};
}

void html_links_tag(struct html_links *links, struct gather *gather)
{
    html_links_end(links, gather); /* no link is within another */
    links->has_href = links->is_long = false;
    links->href_bytes = 0;
    links->begin = place_of(links, gather);
}

void html_links_href(struct html_links *links, const uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes > CANON_HREF_MAX_BYTES - links->href_bytes) {
        links->is_long = true;
        return;
    }
    memcpy(links->href + links->href_bytes, bytes, size_bytes);
    links->href_bytes += size_bytes;
}

void html_links_begin(struct html_links *links, struct gather *gather)
{
    links->open = true;
    links->begin = place_of(links, gather);
}

void html_links_end(struct html_links *links, struct gather *gather)
{
    if (!links->open)
        return;
    links->open = false;
    if (links->is_long)
        return;
    struct html_place end = place_of(links, gather);
    bool empty = end.n_tokens == links->begin.n_tokens && end.n_open == links->begin.n_open;
    links->sink->links(links->sink->user,
                       &(struct canon_link){.href = links->href,
                                            .href_bytes = links->href_bytes,
                                            .first = links->begin.n_tokens,
                                            .end = end.n_tokens + (end.n_open && !empty),
                                            .title = links->in_title});
}
