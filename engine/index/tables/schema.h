/* The tables of the store and their keys (docs/ON_DISK.md). */
#ifndef KINFS_ENGINE_INDEX_TABLES_SCHEMA_H
#define KINFS_ENGINE_INDEX_TABLES_SCHEMA_H

#include "store/kv.h"

enum { SCHEMA_VERSION = 4 };

enum schema_table {
    TABLE_META,       /* name -> value: schema version, policy, counters, watermarks */
    TABLE_RECORDS,    /* sid -> document record */
    TABLE_FILES,      /* file key -> struct file_row: which sid, or why none */
    TABLE_NAMES,      /* parent key | name -> child key and type */
    TABLE_LINKS,      /* child key | parent key | name -> nothing */
    TABLE_TIER_R,     /* fingerprint | sid -> nothing */
    TABLE_TIER_C,     /* fingerprint | sid -> nothing */
    TABLE_CLASSES,    /* class | sid -> nothing */
    TABLE_MEMBERS,    /* cluster id -> size; cluster id | rank | sid -> nothing */
    TABLE_CLUSTER_OF, /* sid, or sid | clustering -> cluster id */
    TABLE_INTENTS,  /* what must be finished after a crash: clusters/intents.h and, of directories,
                       intake/directory_removal.h */
    TABLE_COMPARED, /* two classes, or one and a content -> what was found by reading all of it */
    TABLE_DISTINCT, /* two file keys -> nothing: declared not to be duplicates */
    TABLE_PASSAGES, /* bucket | run | part -> fingerprints and sids: postings/passages.h; empty
                       unless passages are wanted, as the next */
    TABLE_PASSAGES_OF, /* sid -> the fingerprints of its passages */
    TABLE_PAST,        /* owner | time | number -> what a document was: tables/past.h */
    TABLE_BAGS, /* sid -> the words of the document: tables/bags.h; empty unless topics are wanted,
                   as the next */
    TABLE_WORD_LISTS, /* epoch | word | part -> sids and weights: tables/word_lists.h */
    TABLE_FRAGMENTS,  /* sid -> what the document says of others: tables/fragments.h; empty unless
                         wanted, as the next */
    TABLE_ANCHORS,    /* epoch | sid -> what others say of the document: tables/bags.h */
    SCHEMA_N_TABLES
};

extern const struct kv_table schema_tables[SCHEMA_N_TABLES];

#endif
