/* The rest of a line of roff, read from its beginning. Private to engine/text/roff*. */
#ifndef KINFS_ENGINE_TEXT_FORMATS_ROFF_REST_H
#define KINFS_ENGINE_TEXT_FORMATS_ROFF_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rest {
    const uint8_t *p, *end;
};

static inline bool roff_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static inline void rest_skip_blanks(struct rest *rest)
{
    while (rest->p < rest->end && roff_is_blank(*rest->p))
        rest->p++;
}

static inline size_t rest_size(const struct rest *rest)
{
    return (size_t)(rest->end - rest->p);
}

static inline bool rest_is(const struct rest *name, const char *text)
{
    return rest_size(name) == strlen(text) && memcmp(name->p, text, rest_size(name)) == 0;
}

static inline bool rest_is_one_of(const struct rest *name, const char *const *texts)
{
    while (*texts && !rest_is(name, *texts))
        texts++;
    return *texts;
}

static inline bool rest_begins(const struct rest *rest, const char *text)
{
    return rest_size(rest) >= strlen(text) && memcmp(rest->p, text, strlen(text)) == 0;
}

/* The name of a request or macro. */
static inline struct rest rest_take_name(struct rest *rest)
{
    struct rest name = *rest;
    while (rest->p < rest->end && !roff_is_blank(*rest->p) && *rest->p != '\\')
        rest->p++;
    name.end = rest->p;
    return name;
}

static inline bool rest_is_control(const struct rest *line)
{
    return line->p < line->end && (*line->p == '.' || *line->p == '\'');
}

#endif
