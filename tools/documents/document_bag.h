/* The bag of a document that a person names, with its words spelled. */
#ifndef KINFS_TOOLS_DOCUMENTS_DOCUMENT_BAG_H
#define KINFS_TOOLS_DOCUMENTS_DOCUMENT_BAG_H

#include "engine/topic/bags/bag_document.h"
#include "tools/documents/spellings.h"
#include "tools/documents/text_source.h"

struct document_window {
    uint64_t target; /* in targets: as the document has it, without "#" and what follows */
    struct bag words;
};

struct document_bag { /* of zeroes: empty */
    struct spellings stems, targets;
    struct bag content, title;
    struct document_window *windows; /* in the order of the document */
    size_t n_windows, room;
    size_t target_bytes; /* of targets */
    struct bag_document_counts counts;
    int error;
};

enum {
    DOCUMENT_BAG_MOST_WORDS = 1 << 20,   /* different ones; there may be more */
    DOCUMENT_BAG_MOST_WINDOWS = 1 << 16, /* of further ones it is only counted how many there are */
    DOCUMENT_BAG_MOST_TARGET_BYTES = 16 << 20, /* likewise, of those to further targets */
    /* Read of a document is so much, and so many times what it has on the disk; the rest is cut */
    DOCUMENT_BAG_FREE_BYTES = 1 << 20,
    DOCUMENT_BAG_UNPACKED = 16,
    DOCUMENT_BAG_UNKNOWN_BYTES = 16 << 20, /* where the file system does not say */
};

/* Reads documents for bags, one after the other. */
struct bag_reader { /* of zeroes: none */
    struct shingle_hash *hash;
    struct bag_document *document;
    struct canon *canon;
};

/* options: but for the hash. Returns 0, -ENOMEM, or an error of bag_words_new(); end with
 * bag_reader_done() in any case. */
int bag_reader_new(const struct bag_document_options *options, const struct bag_document_sink *sink,
                   struct bag_reader *reader);
void bag_reader_done(struct bag_reader *reader);
/* Read a document's text, for as long as *error is 0; ret_counts->cut, too, where it is more than
 * its bytes on the disk may make. Returns 0, *error, -ENOMEM or an error of
 * reading; ret_content and ret_title give. */
int bag_reader_read(struct bag_reader *reader, const struct text_source *text, const int *error,
                    struct bag *ret_content, struct bag *ret_title,
                    struct bag_document_counts *ret_counts);

/* Read a document's text. window: tokens before and behind a link. Returns 0, -ENOMEM, an error of
 * bag_words_new() or of reading; end with document_bag_done(). */
int document_bag_read(const struct text_source *text, const struct word_options *words,
                      uint32_t window, struct document_bag *bag);
void document_bag_done(struct document_bag *bag);

#endif
