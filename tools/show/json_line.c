#include "tools/show/json_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ratio.h"

void json_text_print(FILE *out, const char *text, size_t n_bytes)
{
    for (size_t i = 0, begin = 0; i <= n_bytes; i++) {
        const uint8_t this = i < n_bytes ? (uint8_t)text[i] : 0x7f;
        const uint8_t next = i + 1 < n_bytes ? (uint8_t)text[i + 1] : 0;
        const bool is_long = this == 0xc2 && next >= 0x80 && next < 0xa0; /* in UTF-8: c2 xx */
        if (this != 0x7f && !is_long)
            continue;
        fwrite(text + begin, 1, i - begin, out);
        if (i < n_bytes)
            fprintf(out, "\\u%04x", is_long ? next : 0x7f);
        i += is_long;
        begin = i + 1;
    }
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
