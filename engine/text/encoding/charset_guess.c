/* The guess is that of libuchardet, translated to the names of iconv and bounded: a document may
 * have many texts (a mail has a charset a part), and only its first CHARSET_GUESSES_BYTES are
 * looked at.
 *
 * Example: of Russian text in KOI8-U libuchardet says "KOI8-R"; KOI8-U has the same letters and
 * four more, so it is the charset that is used. Cost: up to half a microsecond a byte. Left out:
 * guesses of one's own by frequencies of letters, which is what the library does.
 */
#include "engine/text/encoding/charset_guess.h"

#include <strings.h>

#include <uchardet.h>

enum {
    LEAST_BYTES =
        16, /* bytes that are not ASCII; with as many in 300 nearly all texts are told right */
    LEAST_ONE_IN = 64, /* of all bytes; English or Dutch with few accents is taken for anything */
};

/* Names of libuchardet, and the charsets of iconv that are used for them. KOI8-U has further
 * letters in place of box drawing characters of KOI8-R. */
static const struct {
    const char *found, *name; /* NULL: Windows-1252 */
} others[] = {
    {"ASCII", NULL},  {"ISO-8859-1", NULL}, {"WINDOWS-1252", NULL},
    {"UTF-8", NULL},  {"KOI8-R", "KOI8-U"}, {"EUC-KR", "CP949"},
    {"UHC", "CP949"}, {"TIS-620", "CP874"}, {"", NULL},
};

void charset_guess_begin(struct charset_guesser *guesser)
{
    guesser->n_bytes = 0;
}

void charset_guess_done(struct charset_guesser *guesser)
{
    if (guesser->detector)
        uchardet_delete(guesser->detector);
    *guesser = (struct charset_guesser){0};
}

static const char *detect(struct charset_guesser *guesser, const uint8_t *bytes, size_t size_bytes)
{
    if (!guesser->detector)
        guesser->detector = uchardet_new();
    if (!guesser->detector)
        return NULL;
    uchardet_reset(guesser->detector);
    if (uchardet_handle_data(guesser->detector, (const char *)bytes, size_bytes) != 0)
        return NULL;
    uchardet_data_end(guesser->detector);
    const char *found = uchardet_get_charset(guesser->detector);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcasecmp(found, others[i].found) == 0)
            return others[i].name;
    return found;
}

const char *charset_guess(struct charset_guesser *guesser, const uint8_t *bytes, size_t size_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < size_bytes; i++)
        n += bytes[i] >= 0x80;
    if (n < LEAST_BYTES || n * LEAST_ONE_IN < size_bytes)
        return NULL;
    if (guesser->n_bytes < CHARSET_GUESSES_BYTES) {
        guesser->n_bytes += size_bytes;
        guesser->found = detect(guesser, bytes, size_bytes);
    }
    return guesser->found;
}
