/* The conditions of .if and .ie, as they hold for nroff as `man` uses it.
 *
 * Example: "n" (a terminal) and "o" (an odd page, the first) hold, "t" (a typesetter) does not;
 * "'a'a'" holds, "\n(.g" (groff) does; "!n" does not. Left out: registers that a document sets, of
 * which nothing is known: a condition on one does not hold. */
#include "engine/text/formats/roff.h"

static bool take_group(const struct rest *at, uint8_t delimiter, struct rest *ret_group)
{
    const uint8_t *end = at->p < at->end ? memchr(at->p, delimiter, rest_size(at)) : NULL;
    *ret_group = (struct rest){at->p, end ? end : at->end};
    return end;
}

/* Takes 'this'that', a comparison of two texts. */
static bool take_comparison(struct rest *rest)
{
    uint8_t delimiter = *rest->p++;
    struct rest a, b;
    bool has_a = take_group(rest, delimiter, &a);
    rest->p = a.end + has_a;
    bool has_b = take_group(rest, delimiter, &b);
    rest->p = b.end + has_b;
    return rest_size(&a) == rest_size(&b) && memcmp(a.p, b.p, rest_size(&a)) == 0;
}

/* Takes a number as it stands, or \n(.g; the value of any other expression is not known. */
static bool take_expression(struct rest *rest)
{
    struct rest expression = *rest;
    int depth = 0;
    while (rest->p < rest->end && !(roff_is_blank(*rest->p) && depth <= 0)) {
        if (*rest->p == '\\' && rest_begins(rest, "\\{"))
            break;
        if (*rest->p == '\\') {
            rest->p += roff_escape_read(rest->p, rest_size(rest)).n_bytes;
            continue;
        }
        depth += *rest->p == '(' ? 1 : *rest->p == ')' ? -1 : 0;
        rest->p++;
    }
    expression.end = rest->p;
    bool digits = false, positive = false;
    for (const uint8_t *p = expression.p; p < expression.end; p++) {
        digits = *p >= '0' && *p <= '9';
        positive |= digits && *p > '0';
        if (!digits)
            break;
    }
    return (digits && positive) || rest_is(&expression, "\\n(.g") ||
           rest_is(&expression, "\\n[.g]");
}

bool roff_take_condition(struct rest *rest)
{
    bool negated = false, is_true = false;
    rest_skip_blanks(rest);
    for (; rest->p < rest->end && *rest->p == '!'; rest->p++)
        negated = !negated;
    if (rest->p == rest->end)
        return false;
    uint8_t c = *rest->p;
    if (memchr("ntoev", c, 5)) {
        rest->p++;
        is_true = c == 'n' || c == 'o'; /* the terminal; the first page is odd */
    } else if (memchr("cdmrFS", c, 6)) {
        rest->p++;
        rest_skip_blanks(rest);
        while (rest->p < rest->end && !roff_is_blank(*rest->p) && !rest_begins(rest, "\\{"))
            rest->p++;
    } else if (memchr("'\"", c, 2) || (c == '\\' && rest_begins(rest, "\\(ts"))) {
        is_true = take_comparison(rest);
    } else {
        is_true = take_expression(rest);
    }
    rest_skip_blanks(rest);
    return is_true != negated;
}
