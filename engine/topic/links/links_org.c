/* The links of Org: [[target][text]], [[target]], #+INCLUDE: "path", #+SETUPFILE: path.
 *
 * Example: "[[file:a.org::*One][first]]" links to the path a.org as "first"; "[[./b.org]]" to
 * b.org;
 * "[[https://x.org][x]]" to a URL; "[[*Heading]]", "[[#id]]" and "[[some words]]" lead to places in
 * the document itself, and are none here. Nor is what stands in blocks of source and examples.
 *
 * Cost: one pass. Left out: ids (id:...), which are in a table of Emacs; links without brackets;
 * abbreviations of schemes, which are taken for URLs.
 */
#include "engine/topic/links/link_text.h"

static bool is_path(struct span target)
{
    return span_has(target, '/') || span_has(target, '.');
}

/* The place in the file is dropped. */
static struct span without_search(struct span target)
{
    for (size_t i = 0; i + 1 < target.n; i++)
        if (target.p[i] == ':' && target.p[i + 1] == ':')
            return (struct span){target.p, i};
    return target;
}

static void put(struct link_text *text, size_t at, struct span target, struct span words)
{
    static const char *const files[] = {"file:", "file+sys:", "file+emacs:", "docview:"};
    if (span_begins(target, "*") || span_begins(target, "#") || span_begins_as(target, "id:"))
        return;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (span_begins_as(target, files[i])) {
            link_text_put(text, LINK_PATH, at, without_search(span_from(target, strlen(files[i]))),
                          words);
            return;
        }
    const struct span path = without_search(target);
    if (span_has_scheme(path))
        link_text_put(text, LINK_URL, at, target, words);
    else if (is_path(path))
        link_text_put(text, LINK_PATH, at, path, words);
}

static void read_links(struct link_text *text, struct span line)
{
    const size_t end = (size_t)(line.p - text->bytes) + line.n;
    for (size_t at = end - line.n; at < end;) {
        const size_t open = link_text_find(text, at, end, "[["),
                     close = link_text_find(text, open, end, "]]");
        if (close == end)
            return;
        struct span target = {text->bytes + open + 2, close - open - 2}, words = target;
        for (size_t i = 0; i + 1 < target.n; i++)
            if (target.p[i] == ']' && target.p[i + 1] == '[') {
                words = span_from(target, i + 2);
                target.n = i;
            }
        put(text, open, target, words);
        at = close + 2;
    }
}

/* The path behind a keyword, with quotes or without. */
static void read_keyword(struct link_text *text, struct span line)
{
    const struct span value = span_trim(span_from(line, span_index(line, ':') + 1));
    struct span path = span_word(value);
    if (value.n > 0 && *value.p == '"') {
        path = span_from(value, 1);
        path.n = span_index(path, '"');
    }
    link_text_put(text, LINK_PATH, (size_t)(line.p - text->bytes), without_search(path),
                  (struct span){line.p, 0});
}

void links_org(struct link_text *text)
{
    struct span line;
    bool in_block = false;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        const struct span begin = span_trim(line);
        if (span_begins_as(begin, "#+begin_src") || span_begins_as(begin, "#+begin_example"))
            in_block = true;
        else if (span_begins_as(begin, "#+end_src") || span_begins_as(begin, "#+end_example"))
            in_block = false;
        else if (in_block)
            continue;
        else if (span_begins_as(begin, "#+include:") || span_begins_as(begin, "#+setupfile:"))
            read_keyword(text, begin);
        else
            read_links(text, line);
    }
}
