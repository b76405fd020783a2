/* The links of mail (RFC 5322, 3.6.4): the messages that References and In-Reply-To name, in the
 * words of the subject; of a message, or of each in a mailbox (RFC 4155).
 *
 * Example: "Subject: Re: the plan", "References: <a@x> <b@x>" link to the messages a@x and b@x as
 * "Re: the plan". A field goes on in lines that begin with a blank.
 *
 * Cost: one pass; of a header at most so many messages count as a message of a long thread names.
 * Left out: subjects that are encoded (RFC 2047), which give no words; links in the text.
 */
#include "engine/topic/links/link_text.h"

enum { REFERENCES_MAX = 256 };

struct header {
    struct span subject, references[REFERENCES_MAX];
    size_t n;
};

/* The value of a field, with the lines in which it goes on. */
static struct span take_field(const struct link_text *text, struct span line, size_t *at)
{
    struct span value = line;
    while (*at < text->n && (text->bytes[*at] == ' ' || text->bytes[*at] == '\t')) {
        struct span more;
        link_text_line(text, at, &more);
        value.n = (size_t)(more.p + more.n - value.p);
    }
    return span_from(value, span_index(line, ':') + 1);
}

static void take_references(struct header *header, struct span value)
{
    for (size_t open; header->n < REFERENCES_MAX && (open = span_index(value, '<')) < value.n;) {
        value = span_from(value, open + 1);
        const size_t close = span_index(value, '>');
        if (close == value.n)
            return;
        header->references[header->n++] = (struct span){value.p, close};
        value = span_from(value, close + 1);
    }
}

static void hand_out(struct link_text *text, struct header *header)
{
    const bool is_encoded =
        header->subject.n > 1 && memmem(header->subject.p, header->subject.n, "=?", 2);
    if (is_encoded)
        header->subject.n = 0;
    for (size_t i = 0; i < header->n; i++)
        link_text_put(text, LINK_MESSAGE, (size_t)(header->references[i].p - text->bytes),
                      header->references[i], header->subject);
    *header = (struct header){.n = 0};
}

void links_mail(struct link_text *text)
{
    struct header header = {.n = 0};
    struct span line;
    bool in_header = true, after_empty = false, is_mailbox = false;
    header.subject.p = text->bytes;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        if (span_begins(line, "From ") && (line.p == text->bytes || (is_mailbox && after_empty))) {
            is_mailbox = in_header = true;
            header.subject.p = text->bytes;
        } else if (in_header && line.n == 0) {
            hand_out(text, &header);
            in_header = false;
        } else if (in_header && span_begins_as(line, "subject:")) {
            header.subject = span_trim(take_field(text, line, &at));
        } else if (in_header &&
                   (span_begins_as(line, "references:") || span_begins_as(line, "in-reply-to:"))) {
            take_references(&header, take_field(text, line, &at));
        }
        after_empty = line.n == 0;
    }
    if (in_header)
        hand_out(text, &header);
}
