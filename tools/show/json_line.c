#include "tools/show/json_line.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "base/escape.h"
#include "base/ratio.h"

void json_text_print(FILE *out, const char *text, size_t n_bytes)
{
    size_t begin = 0;
    for (size_t i = 0; i < n_bytes;) {
        utf8proc_int32_t code = ' '; /* JSON itself has escaped what is below */
        const utf8proc_ssize_t n = (uint8_t)text[i] < 0x7f
                                       ? 1
                                       : utf8proc_iterate((const utf8proc_uint8_t *)text + i,
                                                          (utf8proc_ssize_t)(n_bytes - i), &code);
        const size_t end = i + (n > 0 ? (size_t)n : 1);
        if (n > 0 && !escape_shows((uint32_t)code)) {
            fwrite(text + begin, 1, i - begin, out);
            fprintf(out, "\\u%04x", (unsigned)code);
            begin = end;
        }
        i = end;
    }
    fwrite(text + begin, 1, n_bytes - begin, out);
}

enum { DECIMALS_MOST = 4 };

static void shorten_number(struct json_object *number)
{
    const char *text = json_object_get_string(number), *point = text ? strchr(text, '.') : NULL;
    if (!point || strspn(point + 1, "0123456789") <= DECIMALS_MOST)
        return;
    char *shown = strdup(ratio_text(json_object_get_double(number)).text);
    if (shown)
        json_object_set_serializer(number, json_object_userdata_to_json_string, shown,
                                   json_object_free_userdata);
}

static void shorten_numbers(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_double: shorten_number(value); return;
    case json_type_array:
        for (size_t i = 0; i < json_object_array_length(value); i++)
            shorten_numbers(json_object_array_get_idx(value, i));
        return;
    case json_type_object: {
        json_object_object_foreach(value, name, member)
        {
            (void)name;
            shorten_numbers(member);
        }
        return;
    }
    default: return;
    }
}

void json_line_print(FILE *out, struct json_object *object)
{
    shorten_numbers(object);
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
                                                                  JSON_C_TO_STRING_NOSLASHESCAPE);
    json_text_print(out, text, strlen(text));
    putc('\n', out);
}
