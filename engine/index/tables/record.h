/* The document record: all that is kept of one immutable content of one document. The commit point
 * of a document; everything else in the store is derived from records. */
#ifndef KINFS_ENGINE_INDEX_TABLES_RECORD_H
#define KINFS_ENGINE_INDEX_TABLES_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/files/file_key.h"
#include "engine/sketch/documents/document_sketch.h"
#include "store/kv.h"

struct record {
    struct file_key key;
    uint64_t size_bytes; /* of the file when read, as mtime and ctime */
    struct timespec mtime, ctime;
    struct text_form form;
    uint8_t content_fingerprint[FINGERPRINT_BYTES];
    uint8_t text_fingerprint[FINGERPRINT_BYTES];
    uint8_t shingle_fingerprint[FINGERPRINT_BYTES];
    struct min_sketch sketch; /* empty: the document takes part by its content only */
};

enum { CLASS_BYTES = 17 };

/* The part of a record that comes from reading: form, fingerprints, and a copy of the sketch.
 * Returns 0, -ENOMEM; end with record_done(). */
int record_take_sketch(struct record *record, const struct document_sketch *sketch);

/* The *class* of a document: those of one class are equal, and share one node in the graph. Class
 * 'T' + fingerprint of the canonical text, or 'C' + fingerprint of the content where there is no
 * text (the empty set never counts), or not all of it is known. */
void record_class(const struct record *record, uint8_t ret_class[CLASS_BYTES]);
/* Half of what names a class, and not 0: enough to tell it from others in memory. */
uint64_t record_class_number(const uint8_t class_id[CLASS_BYTES]);

/* True: two documents have the same canonical text, and any, all of which is known. */
bool record_same_text(const struct record *a, const struct record *b);

/* The resemblance of two documents as it is shown: 1 only when they are equal, of the same content
 * or canonical text; what their sketches alone say is less. 0 with 0 samples where a sketch is
 * empty and the contents differ. Returns 0 or -EPROTO. */
int record_resemblance(const struct record *a, const struct record *b,
                       struct estimate *ret_estimate);

/* The share of a that is in b, in the same way. Returns 0, -ENODATA (nothing is known of it: a has
 * no shingle, or none of the sample) or -EPROTO. */
int record_containment(const struct record *a, const struct record *b,
                       struct estimate *ret_estimate);

/* The same where the fingerprints of all shingles of b are known (min_sketch_containment_in()). */
int record_containment_in(const struct record *a, const struct record *b, const uint64_t *all,
                          size_t n_all, struct estimate *ret_estimate);

/* The key of a record in TABLE_RECORDS: its sid, big endian. */
struct record_key {
    uint8_t bytes[8];
};
struct kv_slice record_key(struct record_key *key, uint64_t sid);
int record_decode_key(struct kv_slice key, uint64_t *ret_sid); /* 0, -EUCLEAN */

int record_encode(const struct record *record, struct kv_buf *ret_value); /* 0, -ENOMEM */
/* Validates everything. Returns 0, -EUCLEAN, -ENOMEM; end with record_done(). */
int record_decode(const void *data, size_t size_bytes, struct record *ret_record);
void record_done(struct record *record);

#endif
