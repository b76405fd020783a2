/* The files that a program in C, or a language like it, includes: #include "path", <path>, and
 * #import. The comment behind it is the text.
 *
 * Example: "#include <stdio.h> // printf" links to the system's stdio.h as "// printf". Cost: one
 * pass. Left out: names that a macro makes; conditions, all of whose cases count.
 */
#include "engine/topic/links/link_text.h"

void links_include(struct link_text *text)
{
    struct span line;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        struct span rest = span_trim(line);
        if (rest.n == 0 || *rest.p != '#')
            continue;
        rest = span_trim(span_from(rest, 1));
        if (!span_begins(rest, "include") && !span_begins(rest, "import"))
            continue;
        rest = span_trim(span_from(rest, span_begins(rest, "include") ? 7 : 6));
        if (rest.n == 0 || (*rest.p != '"' && *rest.p != '<'))
            continue;
        const bool is_system = *rest.p == '<';
        rest = span_from(rest, 1);
        const struct span target = {rest.p, span_index(rest, is_system ? '>' : '"')};
        if (target.n < rest.n)
            link_text_put(text, is_system ? LINK_SYSTEM : LINK_INCLUDE,
                          (size_t)(line.p - text->bytes), target, span_from(rest, target.n + 1));
    }
}
