/* A file's row as it is in the store, read once and kept in step while it is changed; the
 * committer's. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_STORED_ROW_H
#define KINFS_ENGINE_INDEX_CATALOGUE_STORED_ROW_H

#include "engine/index/catalogue/document_counts.h"
#include "engine/index/tables/record.h"

struct stored_row {
    bool exists;
    struct file_row row; /* all zero where it does not exist */
};

/* Returns 0, also where there is no row, or a store error. */
int stored_row_get(struct kv *kv, const struct file_key *key, struct stored_row *ret_row);

/* Rows of many files, as above. */
int stored_row_get_all(struct kv *kv, const struct file_key *const *files, size_t n,
                       struct stored_row *ret_rows);

/* The record that a row names. *ret_sid: 0 where it is not there. Returns 0, -EUCLEAN, -ENOMEM or a
 * store error. */
int stored_row_record(struct kv *kv, const struct stored_row *row, uint64_t *ret_sid,
                      struct record *ret_record);
/* The row and the record it names. *ret_sid: the row's, 0 where that record is not there. */
int stored_row_document(struct kv *kv, const struct file_key *key, struct stored_row *ret_row,
                        uint64_t *ret_sid, struct record *ret_record);

/* The same of many files. */
struct stored_document {
    struct stored_row stored;
    uint64_t sid; /* 0: there is no record */
    struct record record;
};
/* ret_documents  n of them, all zero; end each with record_done() */
int stored_row_documents(struct kv *kv, const struct file_key *keys, size_t n,
                         struct stored_document *ret_documents);

/* The row of a file by its record. By which extractor it was read that does not tell: by 0, so that
 * the next scan looks whether by any. */
struct file_row file_row_of(uint64_t sid, const struct record *record, bool racy);

/* NULL deletes the row. *stored is what was read, and becomes what has been written: the counts
 * follow what is stored, whatever failed in between. Returns 0, -ENOMEM or a store error. */
int stored_row_put(struct document_counts *counts, const struct file_key *key,
                   struct stored_row *stored, const struct file_row *row);

/* The difference that a change of the row makes to the counts; row as above. */
void stored_row_count(const struct stored_row *stored, const struct file_row *row,
                      struct document_change *change);

#endif
