/* A line of JSON Lines: an object, of which one string is the text of a document, and one member
 * what it is called by. */
#ifndef KINFS_TOOLS_DOCUMENTS_JSON_TEXT_H
#define KINFS_TOOLS_DOCUMENTS_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

enum json_text_fault {
    JSON_TEXT_GOOD,
    JSON_TEXT_NO_OBJECT, /* no JSON, or another kind of it, or deeper than JSON_TEXT_MOST_DEEP */
    JSON_TEXT_NO_UTF8,   /* bytes that are none, anywhere in the line */
    JSON_TEXT_NO_ESCAPE, /* an escape that is no character in a string: half a surrogate pair */
    JSON_TEXT_NO_FIELD,
    JSON_TEXT_NO_STRING, /* the field has something else */
    JSON_TEXT_TOO_LONG,  /* not told by json_text_read() */
    JSON_TEXT_N_FAULTS,
};

enum {
    JSON_TEXT_PADDING = 64, /* bytes behind a line that may be read, whatever they are */
    JSON_TEXT_MOST_DEEP = 200,
};

struct json_text {
    const char *text; /* the reader's, until the next line; without escapes, may have NULs */
    size_t text_bytes;
    const char *id;  /* of the line, as it is written there: a string, a number, true or false */
    size_t id_bytes; /* 0: there is none */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The fault of a text in words, as in "corpus.jsonl:3: .." */
const char *json_text_fault_name(enum json_text_fault fault);

struct json_text_reader; /* of one thread at a time */

/* Fields are names of members, or paths of them with dots between ("meta.id"); id_field NULL: none.
 * NULL: no memory. */
struct json_text_reader *json_text_reader_new(const char *text_field, const char *id_field);
void json_text_reader_free(struct json_text_reader *reader); /* NULL allowed */

/* Read a line, with or without its end, all of which is looked at. Of members of one name the last
 * one counts. Returns an enum json_text_fault, or -ENOMEM; the id is there, too, where only
 * the field is not. */
int json_text_read(struct json_text_reader *reader, const uint8_t *line, size_t n_bytes,
                   struct json_text *ret_text);

/* Give back the memory of a line, two to eight times its length, which is else kept for the next.
 */
void json_text_forget(struct json_text_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
