#include "engine/text/charset_guess.h"

#include <strings.h>

#include <uchardet.h>

enum {
    LEAST_BYTES =
        16, /* that are not ASCII; of 300 bytes of a text with as many, nearly all are told right */
    LEAST_ONE_IN =
        64, /* of all; English or Dutch with an accent here and there is taken for anything */
};

/* As iconv has them, or better: KOI8-U has the letters that KOI8-R lacks in place of its lines. */
static const struct {
    const char *found, *name; /* NULL: Windows-1252 */
} others[] = {
    {"ASCII", NULL},  {"ISO-8859-1", NULL}, {"WINDOWS-1252", NULL},
    {"UTF-8", NULL},  {"KOI8-R", "KOI8-U"}, {"EUC-KR", "CP949"},
    {"UHC", "CP949"}, {"TIS-620", "CP874"}, {"", NULL},
};

const char *charset_guess(struct uchardet **detector, const uint8_t *bytes, size_t size_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < size_bytes; i++)
        n += bytes[i] >= 0x80;
    if (n < LEAST_BYTES || n * LEAST_ONE_IN < size_bytes)
        return NULL;
    if (!*detector)
        *detector = uchardet_new();
    if (!*detector)
        return NULL;
    uchardet_reset(*detector);
    if (uchardet_handle_data(*detector, (const char *)bytes, size_bytes) != 0)
        return NULL;
    uchardet_data_end(*detector);
    const char *found = uchardet_get_charset(*detector);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcasecmp(found, others[i].found) == 0)
            return others[i].name;
    return found;
}

void charset_guess_done(struct uchardet *detector)
{
    if (detector)
        uchardet_delete(detector);
}
