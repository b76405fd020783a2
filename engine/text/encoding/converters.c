/* A small cache of open converters: a document gets its first CONVERTERS_MAX charsets, and a
 * further one closes a converter that this document has not used.
 *
 * Example: a mail with three parts in ISO-8859-2 opens one converter, which is reset between parts
 * and still open for the next mail. Cost: opening loads a module, some 80 us; finding one is eight
 * comparisons of names. Left out: an order of last use; eight are more than documents name.
 */
#include "engine/text/encoding/converters.h"

#include <string.h>
#include <strings.h>

/* The C library knows a thousand charsets, some of whose converters are rarely used and little
 * tested, and a document may name any of them. Only those of the web, of mail and of code pages are
 * let in. */
bool converters_know(const char *name)
{
    static const char *const known[] = {
        "shiftjis", "sjis",      "mskanji",     "cp932",        "windows31j",
        "eucjp",    "euckr",     "euccn",       "euctw",        "ksc56011987",
        "uhc",      "cp949",     "cp936",       "cp950",        "johab",
        "cp1361",   "iso2022jp", "iso2022kr",   "gb2312",       "gbk",
        "gb18030",  "big5",      "big5hkscs",   "macintosh",    "viscii",
        "armscii8", "tis620",    "maccyrillic", "xmaccyrillic", "tcvn",
        "cp437",    "ibm437",    "windows874",  "georgianps",   "georgianacademy",
        NULL};
    static const char *const begins[] = {"iso8859", "latin", "windows125", "cp125",
                                         "koi8",    "cp8",   "ibm8",       NULL};
    char plain[CHARSET_NAME_MAX + 1];
    size_t n = 0;
    for (; *name && n < CHARSET_NAME_MAX; name++)
        if (*name != '-' && *name != '_')
            plain[n++] = *name;
    plain[n] = '\0';
    for (size_t i = 0; begins[i]; i++)
        if (strncasecmp(plain, begins[i], strlen(begins[i])) == 0 &&
            strspn(plain + strlen(begins[i]), "0123456789ruteiRUTEI") ==
                strlen(plain + strlen(begins[i])))
            return true;
    for (size_t i = 0; known[i]; i++)
        if (strcasecmp(plain, known[i]) == 0)
            return true;
    return false;
}

void converters_begin(struct converters *converters)
{
    converters->n_wanted = 0;
    for (unsigned i = 0; i < converters->n_open; i++)
        converters->open[i].wanted = false;
}

void converters_done(struct converters *converters)
{
    for (unsigned i = 0; i < converters->n_open; i++)
        iconv_close(converters->open[i].iconv);
    *converters = (struct converters){0};
}

static struct converter *find(struct converters *converters, const char *name)
{
    for (unsigned i = 0; i < converters->n_open; i++)
        if (strcasecmp(converters->open[i].name, name) == 0)
            return &converters->open[i];
    return NULL;
}

/* The place of a converter that the document has not used. There is one as long as the document may
 * have another. */
static struct converter *make_place(struct converters *converters)
{
    struct converter *place = converters->open;
    if (converters->n_open < CONVERTERS_MAX)
        return &converters->open[converters->n_open++];
    while (place->wanted)
        place++;
    iconv_close(place->iconv);
    return place;
}

static struct converter *add(struct converters *converters, const char *name)
{
    iconv_t opened = converters_know(name) ? iconv_open("UTF-8", name) : (iconv_t)-1;
    if (opened == (iconv_t)-1)
        return NULL;
    struct converter *converter = make_place(converters);
    *converter = (struct converter){.iconv = opened};
    strcpy(converter->name, name);
    return converter;
}

iconv_t converters_find(struct converters *converters, const char *name)
{
    struct converter *converter = find(converters, name);
    if (!(converter && converter->wanted) && converters->n_wanted == CONVERTERS_MAX)
        return (iconv_t)-1;
    if (!converter)
        converter = add(converters, name);
    if (!converter)
        return (iconv_t)-1;
    converters->n_wanted += !converter->wanted;
    converter->wanted = true;
    iconv(converter->iconv, NULL, NULL, NULL, NULL);
    return converter->iconv;
}
