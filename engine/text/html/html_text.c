/* The text of an HTML document: everything outside of tags, comments, declarations, scripts and
 * styles; titles and text areas; CDATA sections; the alt text of images. A tag separates words,
 * except one that only changes how a part of a word looks: a reader sees one word in
 * "<b>H</b><sub>2</sub>O" and two in "<td>a<td>b". A comment separates nothing.
 *
 * The content of iframe, noembed and noframes is for programs that know none of them, and is no
 * text. The content of noscript is markup like any other. */
#include "engine/text/html/html.h"

/* True for a tag of a or area where links are wanted. */
static bool is_link(const struct html *html)
{
    return html->element->flags & html->element_flags & ELEMENT_LINK;
}

void html_tag_named(struct html *html)
{
    static const struct html_element other = {0};
    if (html->tags.wanted)
        html_tags_put(&html->tags, html->end_tag, &html->gather);
    html->element = html_is_xml(html) ? &other : html_element(&html->tag);
    html->alt_seen = false;
    html->value = HTML_VALUE_DROPPED;
    if (!is_link(html))
        return;
    if (html->element->flags & ELEMENT_ALT)
        gather_separate(&html->gather);
    html_links_tag(&html->links, &html->gather);
}

void html_attribute_named(struct html *html)
{
    static const uint64_t alt = 'a' | 'l' << 8 | 't' << 16;
    static const uint64_t href = 'h' | 'r' << 8 | 'e' << 16 | 'f' << 24;
    html->value = HTML_VALUE_DROPPED;
    if (html->element->flags & ELEMENT_ALT && !html->end_tag && html->attribute.n == 3 &&
        html->attribute.low == alt && !html->alt_seen) {
        html->value = HTML_VALUE_ALT;
        html->alt_seen = true;
    }
    if (is_link(html) && !html->end_tag && html->attribute.n == 4 && html->attribute.low == href &&
        !html->links.has_href) {
        html->value = HTML_VALUE_HREF;
        html->links.has_href = true;
    }
}

void html_value_begins(struct html *html)
{
    if (html->value == HTML_VALUE_ALT)
        gather_separate(&html->gather);
}

void html_put_value(struct html *html, const uint8_t *bytes, size_t size_bytes)
{
    if (html->value == HTML_VALUE_ALT)
        gather_put(&html->gather, bytes, size_bytes);
    else
        html_links_href(&html->links, bytes, size_bytes);
}

void html_value_ends(struct html *html)
{
    if (html->value == HTML_VALUE_ALT)
        gather_separate(&html->gather);
    html->value = HTML_VALUE_DROPPED;
}

static void begin_raw(struct html *html)
{
    uint8_t flags = html->element->flags;
    html->matched = 0;
    html->script_at = SCRIPT_TEXT;
    html->script_escape = SCRIPT_PLAIN;
    html->state = flags & ELEMENT_SCRIPT      ? HTML_SCRIPT
                  : flags & ELEMENT_PLAINTEXT ? HTML_PLAINTEXT
                                              : HTML_RAW;
}

void html_tag_ends(struct html *html)
{
    uint8_t flags = html->element->flags;
    struct html_links *links = &html->links;
    html->state = HTML_DATA;
    if (is_link(html) && links->has_href && !html->end_tag) {
        /* An area has all its text in the tag. */
        if (flags & ELEMENT_ALT)
            links->open = true;
        else
            html_links_begin(links, &html->gather);
    }
    if (flags & ELEMENT_INLINE)
        return;
    if (links->open && (is_link(html) || links->in_title))
        html_links_end(links, &html->gather);
    links->in_title = false;
    gather_separate(&html->gather);
    if (!(flags & ELEMENT_ANY_RAW) || html->end_tag || html->self_closing)
        return;
    begin_raw(html);
    /* "title" is the RCDATA element of five letters. */
    if (links->sink && flags & ELEMENT_RCDATA && html->tag.n == 5 && !links->title_seen) {
        html_links_tag(links, &html->gather);
        html_links_begin(links, &html->gather);
        links->in_title = links->title_seen = true;
    }
}
