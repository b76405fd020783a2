/* The strings that a document defines (.ds) and shows (\*).
 *
 * Example: ".ds Nm kinfs" and "\*(Nm mounts" show "kinfs mounts". Cost: a linear search of at most
 * ROFF_STRINGS strings. Left out: strings within strings, and appending (.as). */
#include "engine/text/formats/roff.h"

static struct roff_string *find(struct roff *roff, const struct rest *name)
{
    for (uint32_t i = 0; i < roff->n_strings; i++) {
        struct roff_string *string = &roff->strings[i];
        if (string->n_name == rest_size(name) && memcmp(string->name, name->p, string->n_name) == 0)
            return string;
    }
    return NULL;
}

/* A string for which there is no room is unknown, and so is pod2man's dash, which is an Omega that
 * .tr makes a dash of. */
void roff_define_string(struct roff *roff, struct rest rest)
{
    struct rest name = rest;
    while (rest.p < rest.end && !roff_is_blank(*rest.p))
        rest.p++;
    name.end = rest.p;
    rest_skip_blanks(&rest);
    rest.p += rest.p < rest.end && *rest.p == '"';

    struct roff_string *string = find(roff, &name);
    if (!string && roff->n_strings < ROFF_STRINGS && rest_size(&name) <= ROFF_STRING_NAME_BYTES)
        string = &roff->strings[roff->n_strings++];
    if (!string)
        return;
    string->n_name = (uint8_t)rest_size(&name);
    memcpy(string->name, name.p, string->n_name);
    string->known =
        rest_size(&rest) <= ROFF_STRING_BYTES && !memmem(rest.p, rest_size(&rest), "\\(*W", 4);
    string->n_value = string->known ? (uint8_t)rest_size(&rest) : 0;
    memcpy(string->value, rest.p, string->n_value);
}

/* Shows a string, without strings within it, and no more than ROFF_SHOWS allows a line, so that a
 * short line makes no long text. */
void roff_show_string(struct roff *roff, const struct rest *name)
{
    const struct roff_string *string = roff->in_string ? NULL : find(roff, name);
    if (!string || !string->known || string->n_value > roff->shows) {
        roff_put(roff, (const uint8_t *)" ", 1);
        return;
    }
    roff->shows -= string->n_value;
    roff->in_string = true;
    roff_show(roff, (struct rest){string->value, string->value + string->n_value});
    roff->in_string = false;
}
