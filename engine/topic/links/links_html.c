/* The links of HTML, as canonical form has them (engine/text/canon.h): href of a and area, and the
 * text of each as the tokens that it has. A base element has the others be relative to it.
 *
 * Example: "<base href='d/'>see <a href='x.html'>the <b>Page</b></a>" links to d/x.html as "the
 * page". A token that only begins in a link belongs to it.
 *
 * The text is fed line by line, so that the line is known in which a link ends. Cost: one pass, and
 * the tokens are kept. Left out: images, scripts and styles, which are no documents; the title,
 * which is no link to another.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "engine/text/canon.h"
#include "engine/topic/links/link_text.h"

struct found {
    char *target;
    size_t target_bytes;
    uint64_t first, end;
    size_t at; /* of the line in which it ends */
};

struct reading {
    char *bytes; /* of all tokens, a blank behind each */
    size_t n_bytes, bytes_room;
    size_t *ends;
    size_t n_tokens, ends_room;
    struct found *found;
    size_t n_found, found_room;
    size_t at; /* of the line that is fed */
    bool failed;
};

static void reading_done(struct reading *reading)
{
    for (size_t i = 0; i < reading->n_found; i++)
        free(reading->found[i].target);
    free(reading->found);
    free(reading->ends);
    free(reading->bytes);
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct reading *reading = user;
    const size_t n = block->n_tokens;
    reading->failed |=
        !MAKE_ROOM(reading->ends, reading->ends_room, reading->n_tokens + n) ||
        !MAKE_ROOM(reading->bytes, reading->bytes_room, reading->n_bytes + block->ends[n - 1] + n);
    for (size_t i = 0, at = 0; !reading->failed && i < n; at = block->ends[i++]) {
        memcpy(reading->bytes + reading->n_bytes, block->bytes + at, block->ends[i] - at);
        reading->n_bytes += block->ends[i] - at;
        reading->bytes[reading->n_bytes++] = ' ';
        reading->ends[reading->n_tokens++] = reading->n_bytes;
    }
}

/* Browsers drop ends of lines and tabs. Returns the bytes that are left. */
static size_t drop_line_ends(char *target, size_t n_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++)
        if (!memchr("\t\n\r", target[i], 3))
            target[n++] = target[i];
    return n;
}

static void take_link(void *user, const struct canon_link *link)
{
    struct reading *reading = user;
    if (link->href_bytes == 0 || reading->failed)
        return;
    char *target = strndup(link->href, link->href_bytes);
    if (!target || !MAKE_ROOM(reading->found, reading->found_room, reading->n_found + 1)) {
        free(target);
        reading->failed = true;
        return;
    }
    reading->found[reading->n_found++] = (struct found){
        target, drop_line_ends(target, strlen(target)), link->first, link->end, reading->at};
}

/* -- the base -- */

/* The head of a document is short; a base further down is none, nor is one that no link could have.
 */
static struct span base_of(const struct link_text *text)
{
    enum { HEAD_BYTES = 64 << 10 };
    struct span head = {text->bytes, text->n < HEAD_BYTES ? text->n : HEAD_BYTES};
    for (size_t at; (at = span_index(head, '<')) < head.n;) {
        head = span_from(head, at + 1);
        if (span_begins_as(head, "body"))
            break;
        if (!span_begins_as(head, "base") || head.n < 5 || !link_is_blank(head.p[4]))
            continue;
        const struct span base =
            span_attribute((struct span){head.p, span_index(head, '>')}, "href");
        return base.n > LINK_TARGET_MAX_BYTES ? (struct span){head.p, 0} : base;
    }
    return (struct span){text->bytes, 0};
}

/* The bytes of a base that stand before a target: up to its last slash; the whole base before a
 * place in the document; its host before a path from the root. */
static size_t based_on(struct span base, struct span target)
{
    size_t n = 0;
    if (span_has_scheme(target) || span_begins(target, "//"))
        return 0;
    if (*target.p == '#')
        return base.n;
    if (*target.p != '/') {
        for (n = base.n; n > 0 && base.p[n - 1] != '/'; n--)
            ;
        return n;
    }
    if (!span_has_scheme(base))
        return 0;
    n = span_index(base, ':') + 1;
    if (span_begins(span_from(base, n), "//"))
        n += 2;
    return n + span_index(span_from(base, n), '/');
}

/* -- all of it -- */

static int hand_out(const struct reading *reading, struct link_text *text)
{
    const struct span base = base_of(text);
    char joined[2 * LINK_TARGET_MAX_BYTES];
    for (size_t i = 0; i < reading->n_found; i++) {
        const struct found *found = &reading->found[i];
        struct span target = {found->target, found->target_bytes}, words = {text->bytes, 0};
        const size_t n = based_on(base, target);
        if (found->end > found->first) {
            const size_t begin = found->first ? reading->ends[found->first - 1] : 0;
            words = (struct span){reading->bytes + begin, reading->ends[found->end - 1] - begin};
        }
        if (n > 0 && n + target.n <= sizeof(joined)) {
            memcpy(joined, base.p, n);
            memcpy(joined + n, target.p, target.n);
            target = (struct span){joined, n + target.n};
        }
        link_text_put(text, LINK_URL, found->at, target, words);
    }
    return 0;
}

int links_html(struct link_text *text)
{
    _cleanup_(reading_done) struct reading reading = {0};
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    const struct canon_sink sink = {.tokens = take_tokens, .links = take_link, .user = &reading};
    struct text_form form;
    struct span line;
    int r = canon_new(&sink, &canon);
    if (r < 0)
        return r;
    canon_begin_as(canon, TEXT_HTML);
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        reading.at = (size_t)(line.p - text->bytes);
        canon_feed(canon, line.p, (at < text->n ? at : text->n) - reading.at);
    }
    canon_finish(canon, &form);
    return reading.failed ? -ENOMEM : hand_out(&reading, text);
}
