/* The passages that one document shares with others, found in their texts. */
#ifndef KINFS_TOOLS_COMMANDS_SHARED_TEXTS_H
#define KINFS_TOOLS_COMMANDS_SHARED_TEXTS_H

#include <stdbool.h>

#include "tools/documents/place.h"
#include "tools/documents/word_places.h"

struct shared_text {
    size_t document;                               /* of those that were compared, by its number */
    size_t a, n;                                   /* words of the document asked about */
    uint32_t line_a, last_line_a, line, last_line; /* in that, and in the other */
};

/* Zero-initialised but for the first two; ends with shared_texts_done(). */
struct shared_texts {
    const struct configuration *configuration; /* for the extractors */
    size_t least;                              /* words of a passage */
    struct word_places words; /* of the document asked about; those left out are unlike any */
    struct place_way way;
    char **paths; /* of the others, below base */
    size_t n_paths, paths_room;
    struct shared_text *texts;
    size_t n_texts, texts_room;
};
void shared_texts_done(struct shared_texts *shared);

/* Read the document asked about; or one whose words are left out of it, wherever it has
 * PASSAGE_LEFT_OUT_WORDS or more of them in a row.
 *
 * fd     open for reading; stays the caller's
 * shown  as people are told of it
 *
 * Returns 0, -ENODATA (it has no words, being a table or no text), or an error, with a line in
 * *ret_error. */
enum { PASSAGE_LEFT_OUT_WORDS = 8 };
int shared_texts_read(struct shared_texts *shared, int fd, const char *shown, char **ret_error);
int shared_texts_leave_out(struct shared_texts *shared, int fd, const char *shown,
                           char **ret_error);
/* Words by their numbers: from first on, before end. */
void shared_texts_leave_out_words(struct shared_texts *shared, uint64_t first, uint64_t end);

/* Compare with a document of a tree, by its path below base. Returns 0, also where that is gone or
 * has no words; -ENOMEM; else its passages are lacking, with a line in *ret_error. */
int shared_texts_compare(struct shared_texts *shared, const char *base, const char *path,
                         char **ret_error);

/* The longest first; so many of them, 0 for all: the others are forgotten. */
void shared_texts_sort(struct shared_texts *shared, size_t most);

/* The text of a passage in the document asked about, white space at its ends left out; gives. */
char *shared_texts_text(const struct shared_texts *shared, const struct shared_text *text);

#endif
