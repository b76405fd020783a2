/* A small cache of open converters: a document gets its first CONVERTERS_MAX charsets, and a
 * further one closes a converter that this document has not used.
 *
 * Example: a mail with three parts in ISO-8859-2 opens one converter, which is reset between parts
 * and still open for the next mail. Cost: opening loads a module, some 80 us; finding one is some
 * 150 comparisons of names, which mostly differ in the first letter. Left out: an order of last
 * use; eight are more than documents name.
 */
#include "engine/text/encoding/converters.h"

#include <string.h>

static char plain(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *skip(const char *name)
{
    while (*name == '-' || *name == '_')
        name++;
    return name;
}

bool converters_is_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = skip(a);
        b = skip(b);
        if (plain(*a) != plain(*b))
            return false;
        if (!*a)
            return true;
    }
}

/* The C library knows a thousand charsets, some of whose converters are rarely used and little
 * tested, and a document may name any of them. Only those of the web, of mail and of code pages are
 * let in. It keeps each name that it was asked for and does not have for ever, so it is asked for
 * no other spelling. */
const char *converters_name(const char *name)
{
    static const char *const known[] = {
        "SHIFT_JIS",    "SJIS",         "MS_KANJI",     "CP932",          "WINDOWS-31J",
        "EUC-JP",       "EUC-KR",       "EUC-CN",       "EUC-TW",         "KS_C_5601-1987",
        "UHC",          "CP949",        "CP936",        "CP950",          "JOHAB",
        "CP1361",       "ISO-2022-JP",  "ISO-2022-KR",  "GB2312",         "GBK",
        "GB18030",      "BIG5",         "BIG5-HKSCS",   "MACINTOSH",      "VISCII",
        "ARMSCII-8",    "TIS-620",      "MAC-CYRILLIC", "X-MAC-CYRILLIC", "TCVN",
        "CP437",        "IBM437",       "WINDOWS-874",  "GEORGIAN-PS",    "GEORGIAN-ACADEMY",
        "KOI-8",        "KOI8-R",       "KOI8-RU",      "KOI8-T",         "KOI8-U",
        "ISO-8859-1",   "ISO-8859-2",   "ISO-8859-3",   "ISO-8859-4",     "ISO-8859-5",
        "ISO-8859-6",   "ISO-8859-7",   "ISO-8859-8",   "ISO-8859-9",     "ISO-8859-10",
        "ISO-8859-11",  "ISO-8859-13",  "ISO-8859-14",  "ISO-8859-15",    "ISO-8859-16",
        "ISO-8859-9E",  "LATIN1",       "LATIN2",       "LATIN3",         "LATIN4",
        "LATIN5",       "LATIN6",       "LATIN7",       "LATIN8",         "LATIN9",
        "LATIN10",      "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252",   "WINDOWS-1253",
        "WINDOWS-1254", "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257",   "WINDOWS-1258",
        "CP1250",       "CP1251",       "CP1252",       "CP1253",         "CP1254",
        "CP1255",       "CP1256",       "CP1257",       "CP1258",         "CP803",
        "CP813",        "CP819",        "CP850",        "CP851",          "CP852",
        "CP855",        "CP856",        "CP857",        "CP858",          "CP860",
        "CP861",        "CP862",        "CP863",        "CP864",          "CP865",
        "CP866",        "CP868",        "CP869",        "CP870",          "CP871",
        "CP874",        "CP875",        "CP880",        "CP891",          "IBM803",
        "IBM813",       "IBM819",       "IBM848",       "IBM850",         "IBM851",
        "IBM852",       "IBM855",       "IBM856",       "IBM857",         "IBM858",
        "IBM860",       "IBM861",       "IBM862",       "IBM863",         "IBM864",
        "IBM865",       "IBM866",       "IBM868",       "IBM869",         "IBM870",
        "IBM871",       "IBM874",       "IBM875",       "IBM880",         "IBM891"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (converters_is_name(name, known[i]))
            return known[i];
    return NULL;
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
        if (converters->open[i].name == name)
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
    iconv_t opened = iconv_open("UTF-8", name);
    if (opened == (iconv_t)-1)
        return NULL;
    struct converter *converter = make_place(converters);
    *converter = (struct converter){.iconv = opened, .name = name};
    return converter;
}

iconv_t converters_find(struct converters *converters, const char *charset)
{
    const char *name = converters_name(charset);
    if (!name)
        return (iconv_t)-1;
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
