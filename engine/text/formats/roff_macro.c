/* The macros of man(7), mdoc(7), ms(7) and pod2man(1), and how each shows its arguments. A macro
 * that is not in the table shows them all.
 *
 * Example: ".BR ls (1)" joins its arguments to "ls(1)"; ".Fl a Ar file" of mdoc is parsed: Ar is
 * called, and "-a file" is shown; ".sp 2" is dropped. Cost: a search of the table for each macro.
 */
#include "engine/text/formats/roff.h"

#include <string.h>

enum {
    DROP = ROFF_DROP,
    FONT = ROFF_INLINE,
    FONTS = ROFF_INLINE | ROFF_JOINED,
    LINE = ROFF_PARSED,                 /* begins a line of mdoc */
    CALL = ROFF_PARSED | ROFF_CALLABLE, /* and may stand within one */
};

static const struct roff_macro macros[] = {
    /* man */
    {"TH", DROP, ""},
    {"TP", DROP, ""},
    {"TQ", DROP, ""},
    {"HP", DROP, ""},
    {"RS", DROP, ""},
    {"RE", DROP, ""},
    {"PD", DROP, ""},
    {"PP", DROP, ""},
    {"LP", DROP, ""},
    {"P", DROP, ""},
    {"DT", DROP, ""},
    {"UC", DROP, ""},
    {"AT", DROP, ""},
    {"IP", ROFF_FIRST, ""},
    {"SH", 0, ""},
    {"SS", 0, ""},
    {"B", FONT, ""},
    {"I", FONT, ""},
    {"R", FONT, ""},
    {"SM", FONT, ""},
    {"SB", FONT, ""},
    {"BI", FONTS, ""},
    {"BR", FONTS, ""},
    {"IB", FONTS, ""},
    {"IR", FONTS, ""},
    {"RB", FONTS, ""},
    {"RI", FONTS, ""},
    /* its www.tmac, and asciidoctor's own */
    {"LINKSTYLE", DROP, ""},
    {"URL", ROFF_SWAPPED, ""},
    {"MTO", ROFF_SWAPPED, ""},
    /* pod2man */
    {"IX", DROP, ""},
    {"Sp", DROP, ""},
    {"Vb", DROP, ""},
    {"Ve", DROP, ""},
    /* ms */
    {"NH", DROP, ""},
    {"DS", DROP, ""},
    {"TL", 0, ""},
    {"AU", 0, ""},
    {"AI", 0, ""},
    {"AB", 0, ""},
    /* mdoc */
    {"Dd", DROP, ""},
    {"Dt", DROP, ""},
    {"Os", DROP, ""},
    {"Bl", DROP, ""},
    {"El", DROP, ""},
    {"Bd", DROP, ""},
    {"Ed", DROP, ""},
    {"Bk", DROP, ""},
    {"Ek", DROP, ""},
    {"Bf", DROP, ""},
    {"Ef", DROP, ""},
    {"Rs", DROP, ""},
    {"Re", DROP, ""},
    {"Ex", DROP, ""},
    {"Rv", DROP, ""},
    {"St", DROP, ""},
    {"Pp", DROP, ""},
    {"In", 0, "include "},
    {"Sh", LINE, ""},
    {"Ss", LINE, ""},
    {"It", LINE, ""},
    {"D1", LINE, ""},
    {"Dl", LINE, ""},
    {"Ac", CALL, " "},
    {"Ad", CALL, ""},
    {"An", CALL | ROFF_OPTIONS, ""},
    {"Ao", CALL, " "},
    {"Ap", CALL, ""},
    {"Aq", CALL, " "},
    {"Ar", CALL, "file"},
    {"At", CALL, ""},
    {"Bc", CALL, " "},
    {"Bo", CALL, " "},
    {"Bq", CALL, " "},
    {"Brc", CALL, " "},
    {"Bro", CALL, " "},
    {"Brq", CALL, " "},
    {"Bsx", CALL, "BSD/OS "},
    {"Bx", CALL, "BSD "},
    {"Cd", CALL, ""},
    {"Cm", CALL, ""},
    {"Dc", CALL, " "},
    {"Do", CALL, " "},
    {"Dq", CALL, " "},
    {"Dv", CALL, ""},
    {"Dx", CALL, "DragonFly "},
    {"Ec", CALL, " "},
    {"Em", CALL, ""},
    {"En", CALL, ""},
    {"Eo", CALL, " "},
    {"Er", CALL, ""},
    {"Es", CALL, ""},
    {"Ev", CALL, ""},
    {"Fa", CALL, ""},
    {"Fc", CALL, ""},
    {"Fl", CALL, ""},
    {"Fn", CALL, ""},
    {"Fo", CALL, ""},
    {"Fr", CALL, ""},
    {"Ft", CALL, ""},
    {"Fx", CALL, "FreeBSD "},
    {"Ic", CALL, ""},
    {"Li", CALL, ""},
    {"Lk", CALL, ""},
    {"Ms", CALL, ""},
    {"Mt", CALL, ""},
    {"Nm", CALL, ""},
    {"No", CALL, ""},
    {"Ns", CALL | ROFF_NO_SPACE, ""},
    {"Nx", CALL, "NetBSD "},
    {"Oc", CALL, " "},
    {"Oo", CALL, " "},
    {"Op", CALL, " "},
    {"Ot", CALL, ""},
    {"Ox", CALL, "OpenBSD "},
    {"Pa", CALL, ""},
    {"Pc", CALL, " "},
    {"Pf", CALL | ROFF_PREFIX, ""},
    {"Po", CALL, " "},
    {"Pq", CALL, " "},
    {"Qc", CALL, " "},
    {"Ql", CALL, " "},
    {"Qo", CALL, " "},
    {"Qq", CALL, " "},
    {"Sc", CALL, " "},
    {"So", CALL, " "},
    {"Sq", CALL, " "},
    {"Sx", CALL, ""},
    {"Sy", CALL, ""},
    {"Ta", CALL, ""},
    {"Tn", CALL, ""},
    {"Ux", CALL, "UNIX "},
    {"Va", CALL, ""},
    {"Vt", CALL, ""},
    {"Xc", CALL, ""},
    {"Xo", CALL, ""},
    {"Xr", CALL, ""},
};

const struct roff_macro *roff_macro_find(const uint8_t *name, size_t n_bytes)
{
    char key[sizeof(macros[0].name)] = "";
    if (n_bytes == 0 || n_bytes >= sizeof(key))
        return NULL;
    memcpy(key, name, n_bytes);
    for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
        if (memcmp(macros[i].name, key, sizeof(key)) == 0)
            return &macros[i];
    return NULL;
}

/* -- arguments -- */

/* The next argument of a macro; within quotes a doubled one stays so, which separates words as well
 * as a single one. */
bool roff_take_argument(struct rest *rest, struct rest *ret_argument, bool *ret_quoted)
{
    rest_skip_blanks(rest);
    if (rest->p == rest->end)
        return false;
    *ret_quoted = *rest->p == '"';
    rest->p += *ret_quoted;
    *ret_argument = *rest;
    while (rest->p < rest->end) {
        if (*ret_quoted && rest_begins(rest, "\"\""))
            rest->p++;
        else if (*ret_quoted ? *rest->p == '"' : roff_is_blank(*rest->p))
            break;
        else if (*rest->p == '\\' && rest->end - rest->p > 1)
            rest->p++;
        rest->p++;
    }
    ret_argument->end = rest->p;
    if (*ret_quoted && rest->p < rest->end)
        rest->p++;
    return true;
}

/* Keeps a name of the document, which is shown or compared later. */
uint8_t roff_keep_name(uint8_t kept[ROFF_NAME_MAX_BYTES + 1], const struct rest *name)
{
    size_t n = rest_size(name) < ROFF_NAME_MAX_BYTES ? rest_size(name) : ROFF_NAME_MAX_BYTES;
    memcpy(kept, name->p, n);
    return (uint8_t)n;
}

/* The macro that is called within the arguments of a parsed one. */
static const struct roff_macro *callable(const struct rest *argument, bool quoted)
{
    const struct roff_macro *macro =
        quoted ? NULL : roff_macro_find(argument->p, rest_size(argument));
    return macro && macro->flags & ROFF_CALLABLE ? macro : NULL;
}

/* Shows the text that a macro of mdoc has before its arguments, or in place of missing ones. */
static void begin_parsed(struct roff *roff, const struct roff_macro *macro, struct rest rest)
{
    struct rest argument;
    bool quoted, is_name = strcmp(macro->name, "Nm") == 0, is_file = strcmp(macro->name, "Ar") == 0;
    bool has_any = roff_take_argument(&rest, &argument, &quoted) && !callable(&argument, quoted) &&
                   !(rest_size(&argument) == 1 && memchr(".,:;()[]?!|", *argument.p, 11));
    if (is_name && has_any && roff->n_name == 0)
        roff->n_name = roff_keep_name(roff->name, &argument);
    else if (is_name && !has_any)
        roff_show(roff, (struct rest){roff->name, roff->name + roff->n_name});
    else if (!is_file || !has_any)
        roff_put(roff, (const uint8_t *)macro->text, strlen(macro->text));
    if ((is_name || is_file) && !has_any)
        roff->space = !roff->unspaced;
}

static void parsed_line(struct roff *roff, const struct roff_macro *macro, struct rest rest)
{
    struct rest argument;
    bool quoted, prefix = false, options = false;
    for (;;) {
        if (macro) {
            if (macro->flags & ROFF_NO_SPACE)
                roff->space = false;
            prefix = macro->flags & ROFF_PREFIX;
            options = macro->flags & ROFF_OPTIONS;
            begin_parsed(roff, macro, rest);
        }
        if (!roff_take_argument(&rest, &argument, &quoted))
            return;
        macro = callable(&argument, quoted);
        if (!macro) {
            if (options && rest_begins(&argument, "-"))
                continue;
            roff_show(roff, argument);
            roff->space = !prefix && !roff->unspaced && !roff->joined;
            prefix = false;
        }
    }
}

void roff_macro_line(struct roff *roff, const struct roff_macro *macro, struct rest rest)
{
    uint16_t flags = macro ? macro->flags : 0;
    struct rest argument, first;
    bool quoted;
    roff->joined = false;
    if (flags & ROFF_PARSED) {
        parsed_line(roff, macro, rest);
        return;
    }
    if (!(flags & ROFF_INLINE))
        roff->space = true;
    if (flags & ROFF_SWAPPED && roff_take_argument(&rest, &first, &quoted)) {
        if (roff_take_argument(&rest, &argument, &quoted))
            roff_show(roff, argument);
        roff->space = true;
        roff_show(roff, first);
        roff->space = true;
    }
    if (macro)
        roff_put(roff, (const uint8_t *)macro->text, strlen(macro->text));
    while (!(flags & ROFF_DROP) && roff_take_argument(&rest, &argument, &quoted)) {
        roff_show(roff, argument);
        if (flags & ROFF_FIRST)
            break;
        if (!(flags & ROFF_JOINED))
            roff->space = true;
    }
    if (!roff->joined)
        roff->space = true;
}
