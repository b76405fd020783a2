/* The words behind `kinfs mount -o`. */
#ifndef KINFS_TOOLS_OPTIONS_MOUNT_OPTIONS_H
#define KINFS_TOOLS_OPTIONS_MOUNT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "engine/index/index.h"
#include "tools/options/access_times.h"
#include "tools/options/document_rules.h"
#include "tools/options/unique_rules.h"

enum { MOUNT_WATCH_AUTO, MOUNT_WATCH_FANOTIFY, MOUNT_WATCH_INOTIFY, MOUNT_WATCH_NONE };
enum { /* as FS_VIEW_ of fs.h */
       MOUNT_VIEW_SIMILAR = 1,
       MOUNT_VIEW_CLUSTERS = 2,
       MOUNT_VIEW_LISTED = 4,
       MOUNT_VIEW_HIDDEN = 8,
       MOUNT_VIEW_UNIQUE = 16,
       MOUNT_VIEW_READING_LISTED = 32,
       MOUNT_VIEW_CONTAINS = 64,
       MOUNT_VIEW_WITHIN = 128,
       MOUNT_VIEW_PASSAGES = 256,
       MOUNT_VIEW_LOST = 512,
       MOUNT_VIEW_RELATED = 1024,
       MOUNT_VIEW_TOPICS = 2048,
       MOUNT_VIEWS_READING = MOUNT_VIEW_UNIQUE | MOUNT_VIEW_CONTAINS | MOUNT_VIEW_WITHIN |
                             MOUNT_VIEW_PASSAGES | MOUNT_VIEW_LOST | MOUNT_VIEW_RELATED |
                             MOUNT_VIEW_TOPICS
};

struct configuration;
struct mount_options {
    double threshold;
    size_t limit;
    unsigned views;
    char *store, *policy, *log, *config; /* NULL: the default */
    char *tokens, *stopwords, *stemmer;  /* names there are, or NULL */
    char *extra; /* options that are for the kernel, comma separated, or NULL; without: */
    struct access_times access_times;
    char *of_sketching; /* one given that says how to sketch; NULL: none */
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    size_t n_clusterings;
    struct document_rules documents;
    struct unique_rules unique;
    const struct configuration *configuration; /* the caller's, read from config */
    bool sketch;                               /* false: pass through only */
    bool list_xattr, robots, allow_other, passthrough, debug;
    bool sloppy; /* what is not known is passed over, as mount(8) -s asks for */
    unsigned n_workers;
    unsigned passages;        /* as of struct index_options, like the next */
    enum index_topics topics; /* AS_STORED: not said */
    uint64_t keep_lost_s;     /* as of struct index_options; AS_STORED: not said */
    uint64_t cache_bytes;     /* of the store; 0: its default */
    int settle_ms;
    unsigned watch; /* as enum fs_watch of fs.h */
};

/* The defaults of the user who runs this. */
void mount_options_init(struct mount_options *options);
void mount_options_done(struct mount_options *options);

/* Take in one -o: options separated by commas, a comma in a value written "\," (but for those of
 * clusters=, where it need not be).
 * Returns 0, or -EINVAL with a line in *ret_error, also for options that exclude each other, in the
 * same or different calls; may be called again for the next -o. */
int mount_options_parse(struct mount_options *options, const char *text, char **ret_error);

/* The flags of the mount that a directory is on (nosuid, nodev, noexec) are this mount's, too,
 * whatever was asked for: the kernel looks at its flags alone. Returns 0, or an errno of
 * fstatvfs(3) with a line in *ret_error, where source is what the directory is called. */
int mount_options_deny_as(struct mount_options *options, int source_fd, const char *source,
                          char **ret_error);

/* Add a clustering ("NAME:RULE") to INDEX_CLUSTERINGS_MAX or fewer. Returns 0, or -EINVAL with a
 * line in *ret_error. */
int mount_options_clustering(const char *text, struct index_clustering *clusterings,
                             size_t *n_clusterings, char **ret_error);

#endif
