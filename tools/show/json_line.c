#include "tools/show/json_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void json_line_print(FILE *out, struct json_object *object)
{
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                  JSON_C_TO_STRING_NOSLASHESCAPE);
    for (;;) {
        const size_t n = strcspn(text, "\x7f\xc2");
        fwrite(text, 1, n, out);
        text += n;
        if (!*text)
            break;
        const uint8_t next = (uint8_t)text[1];
        const bool is_long = *text != 0x7f && next >= 0x80 && next < 0xa0; /* in UTF-8: c2 xx */
        if (*text == 0x7f || is_long)
            fprintf(out, "\\u%04x", is_long ? next : 0x7f);
        else
            putc(*text, out);
        text += is_long ? 2 : 1;
    }
    putc('\n', out);
}
