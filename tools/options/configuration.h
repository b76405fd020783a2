/* The configuration: a file of sections, of extractors, of documents, of unique/ and of named
 * clusterings.
 *
 *   # for all documents of a kind, as libmagic names it
 *   [extractor "audio/midi"]
 *   command = /usr/local/bin/notes --quiet 'an argument'
 *   output = features
 *
 *   # which files are documents (lines as of .kinfsignore)
 *   [documents]
 *   exclude = *.iso
 *   max_size = 100M
 *
 *   # how long it is remembered what documents were (-o keep_lost= of mount)
 *   [past]
 *   keep_lost = 365d
 *
 *   # which words of documents are kept, for kinfs related (-o topics= of mount)
 *   [topics]
 *   words = content
 *
 *   # what unique/ leaves out (-o near=, representative=, stand_in= and prefer= of mount)
 *   [unique]
 *   near = 0.97
 *   prefer = /originals/
 *
 *   # beside the clusters there are (-o clusters= of kinfs mount)
 *   [clustering "near"]
 *   rule = components:0.95
 */
#ifndef KINFS_TOOLS_OPTIONS_CONFIGURATION_H
#define KINFS_TOOLS_OPTIONS_CONFIGURATION_H

#include "engine/index/index.h"
#include "tools/options/document_rules.h"
#include "tools/options/unique_rules.h"

#define CONFIGURATION_FILE "/etc/kinfs/kinfs.conf"

struct configuration {
    struct index_extractor *extractors;
    size_t n_extractors;
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    size_t n_clusterings;
    struct document_rules documents;
    struct unique_rules unique;
    uint64_t keep_lost_s; /* as of struct index_options, like the next */
    enum index_topics topics;
};

/* Read a file, or with NULL that of KINFS_CONFIG, or CONFIGURATION_FILE, which need not be there.
 *
 * Returns 0, -EINVAL with file and line in *ret_error, or an errno of open(2); ret_configuration
 * gives, end with configuration_done(). */
int configuration_read(const char *path, struct configuration *ret_configuration, char **ret_error);
void configuration_done(struct configuration *configuration);

/* A command line to its words: blanks separate, unless quoted by '...', "..." or a backslash (which
 * within '...' is a backslash); nothing is expanded. Returns the words, NULL behind the last (free
 * each, and all), or NULL when a quotation does not end. */
char **configuration_split(const char *line);

#endif
