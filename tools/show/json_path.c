#include "tools/show/json_path.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <utf8proc.h>

#include "base/escape.h"
#include "tools/show/message.h"

static bool is_utf8(const char *text)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text;
    utf8proc_ssize_t left = (utf8proc_ssize_t)strlen(text);
    while (left > 0) {
        utf8proc_int32_t character;
        utf8proc_ssize_t n = utf8proc_iterate(bytes, left, &character);
        if (n <= 0)
            return false;
        bytes += n;
        left -= n;
    }
    return true;
}

int json_path_add(struct json_object *object, const char *name, const char *path)
{
    if (is_utf8(path))
        return json_object_object_add(object, name, json_object_new_string(path)) < 0 ? -ENOMEM : 0;

    _cleanup_free_ char *escaped = NULL;
    int r = escape_name(path, &escaped);
    if (r < 0)
        return r;
    size_t n = strlen(path);
    _cleanup_free_ char *base64 = malloc((n + 2) / 3 * 4 + 1);
    if (!base64)
        return -ENOMEM;
    EVP_EncodeBlock((unsigned char *)base64, (const unsigned char *)path, (int)n);
    _cleanup_free_ char *bytes_name = message("%s_bytes", name);
    if (json_object_object_add(object, name, json_object_new_string(escaped)) < 0 ||
        json_object_object_add(object, bytes_name, json_object_new_string(base64)) < 0)
        return -ENOMEM;
    return 0;
}

int json_path_get(struct json_object *object, const char *name, char **ret_path)
{
    _cleanup_free_ char *bytes_name = message("%s_bytes", name);
    struct json_object *member;
    _cleanup_free_ char *path = NULL;
    if (json_object_object_get_ex(object, bytes_name, &member)) {
        if (!json_object_is_type(member, json_type_string))
            return -EINVAL;
        /* Decodes in blocks of three bytes: the last is padded with NUL, which ends the path. */
        size_t n = (size_t)json_object_get_string_len(member);
        path = calloc(1, n / 4 * 3 + 4);
        if (!path)
            return -ENOMEM;
        if (EVP_DecodeBlock((unsigned char *)path,
                            (const unsigned char *)json_object_get_string(member), (int)n) < 0)
            return -EINVAL;
    } else if (json_object_object_get_ex(object, name, &member)) {
        if (!json_object_is_type(member, json_type_string) ||
            strlen(json_object_get_string(member)) != (size_t)json_object_get_string_len(member))
            return -EINVAL;
        path = strdup(json_object_get_string(member));
        if (!path)
            return -ENOMEM;
    } else {
        return -ENOENT;
    }
    *ret_path = TAKE_PTR(path);
    return 0;
}
