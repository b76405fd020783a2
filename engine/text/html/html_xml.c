/* XML where it is not like HTML (Extensible Markup Language 1.0, 2.6 and 2.8): instructions end
 * with
 * "?>", and a document type declaration has other declarations in it. Besides, no element means
 * anything, so that every tag separates words; names may begin with other characters than letters.
 *
 * Example: <!DOCTYPE a [<!ENTITY b "c>d"> <!-- > --> ]> ends at its last '>': depth counts '<', and
 * a '>' within quotation marks or a comment does not count.
 *
 * References are read as in HTML: those that HTML knows by the name are replaced, the five of XML
 * among them. Few document types declare others under these names; entities that they declare
 * besides are left out, and the name of the entity stays in the text. Documents that are not well
 * formed are read on. */
#include "engine/text/html/html.h"

/* Takes bytes of an instruction. matched: the byte before was a '?'. */
size_t html_feed_xml_instruction(struct html *html, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '>' && html->matched) {
            html->state = HTML_DATA;
            return i + 1;
        }
        html->matched = p[i] == '?';
    }
    return n;
}

void html_begin_xml_doctype(struct html *html)
{
    html->state = XML_DOCTYPE;
    html->doctype_at = XML_DOCTYPE_MARKUP;
    html->depth = 1;
    html->matched = 0;
    html->quote = 0;
}

/* Takes declarations, outside of comments and instructions; matched counts bytes of "<!--". */
static void feed_markup(struct html *html, uint8_t c)
{
    static const char comment[] = "<!--";
    uint8_t matched = html->matched;
    html->matched = 0;
    if (html->quote) {
        if (c == html->quote)
            html->quote = 0;
        return;
    }
    if (matched == 1 && c == '?') {
        html->depth--;
        html->doctype_at = XML_DOCTYPE_INSTRUCTION;
    } else if (matched > 0 && c == (uint8_t)comment[matched]) {
        html->matched = matched + 1;
        if (html->matched == 4) {
            html->matched = 0;
            html->depth--;
            html->doctype_at = XML_DOCTYPE_COMMENT;
        }
    } else if (c == '<') {
        html->matched = 1;
        html->depth++;
    } else if (c == '>') {
        if (--html->depth == 0)
            html->state = HTML_DATA;
    } else if (c == '"' || c == '\'') {
        html->quote = c;
    }
}

size_t html_feed_xml_doctype(struct html *html, const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && html->state == XML_DOCTYPE) {
        uint8_t c = p[i++];
        if (html->doctype_at == XML_DOCTYPE_MARKUP) {
            feed_markup(html, c);
            continue;
        }
        /* matched counts the bytes of "--" or "?" so far */
        bool in_comment = html->doctype_at == XML_DOCTYPE_COMMENT;
        if (c == (in_comment ? '-' : '?')) {
            html->matched += html->matched < (in_comment ? 2 : 1);
            continue;
        }
        if (c == '>' && html->matched == (in_comment ? 2 : 1))
            html->doctype_at = XML_DOCTYPE_MARKUP;
        html->matched = 0;
    }
    return i;
}
