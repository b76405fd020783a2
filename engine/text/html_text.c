/* What of an HTML document is text: what stands outside of tags, comments, declarations, scripts
 * and styles; titles and text areas; CDATA sections; the alt text of images. A tag separates words,
 * but not one that only changes how a part of a word looks: a reader sees one word in
 * "<b>H</b><sub>2</sub>O" and two in "<td>a<td>b". A comment separates nothing.
 *
 * The content of iframe, noembed and noframes is what a program shows that knows none of them: no
 * text. Of noscript it is markup like any other. */
#include "engine/text/html.h"

void html_tag_named(struct html *html)
{
    static const struct html_element other = {0};
    html->element = html_is_xml(html) ? &other : html_element(&html->tag);
    html->alt_seen = false;
    html->value = HTML_VALUE_DROPPED;
}

void html_attribute_named(struct html *html)
{
    static const uint64_t alt = 'a' | 'l' << 8 | 't' << 16;
    html->value = HTML_VALUE_DROPPED;
    if (html->element->flags & ELEMENT_ALT && !html->end_tag && html->attribute.n == 3 &&
        html->attribute.low == alt && !html->alt_seen) {
        html->value = HTML_VALUE_ALT;
        html->alt_seen = true;
    }
}

void html_value_begins(struct html *html)
{
    if (html->value == HTML_VALUE_ALT)
        gather_separate(&html->gather);
}

void html_value_ends(struct html *html)
{
    if (html->value == HTML_VALUE_ALT)
        gather_separate(&html->gather);
    html->value = HTML_VALUE_DROPPED;
}

void html_tag_ends(struct html *html)
{
    uint8_t flags = html->element->flags;
    html->state = HTML_DATA;
    if (flags & ELEMENT_INLINE)
        return;
    gather_separate(&html->gather);
    if (flags & ELEMENT_ANY_RAW && !html->end_tag && !html->self_closing)
        html_begin_raw(html);
}
