/* The computed attributes as text: which there are, and how their values are written.
 *
 * Threads: any.
 */
#ifndef KINFS_FS_VIEWS_ATTRIBUTE_TEXT_H
#define KINFS_FS_VIEWS_ATTRIBUTE_TEXT_H

#include <stddef.h>

#include "engine/index/index.h"

#define ATTRIBUTE_PREFIX "user.kinfs."
/* An attribute without the prefix: backup tools know it, and the tree may have one of its own. */
#define ATTRIBUTE_ROBOTS_NAME "user.xdg.robots.backup"

enum { ATTRIBUTE_NUMBER_BYTES = 8, ATTRIBUTE_MAX_BYTES = 65536 /* the kernel's XATTR_SIZE_MAX */ };

/* The order is that of listings. */
enum attribute {
    ATTRIBUTE_NONE,
    /* of a document */
    ATTRIBUTE_STATE,
    ATTRIBUTE_CLUSTER,
    ATTRIBUTE_CLUSTER_SIZE,
    ATTRIBUTE_REPRESENTATIVE, /* of a cluster too */
    ATTRIBUTE_RESEMBLANCE,
    ATTRIBUTE_RESEMBLANCE_ERROR,
    ATTRIBUTE_NEAREST,
    ATTRIBUTE_SIMILAR,
    ATTRIBUTE_SIMILAR_LEFT_OUT,
    ATTRIBUTE_RELATED,
    ATTRIBUTE_TOPIC,
    ATTRIBUTE_TOPIC_SIZE,
    ATTRIBUTE_WORDS,          /* of a topic too */
    ATTRIBUTE_RESEMBLANCE_TO, /* this and the next three with a path */
    ATTRIBUTE_RESEMBLANCE_ERROR_TO,
    ATTRIBUTE_CONTAINMENT_IN,
    ATTRIBUTE_CONTAINMENT_ERROR_IN,
    ATTRIBUTE_ROBOTS,     /* where options.robots */
    ATTRIBUTE_CLUSTER_IN, /* with the name of a clustering for a path */
    /* of a cluster */
    ATTRIBUTE_SIZE,
    ATTRIBUTE_RESEMBLANCE_MIN,
    ATTRIBUTE_RESEMBLANCE_MEAN,
    /* of the root */
    ATTRIBUTE_VERSION,
    ATTRIBUTE_POLICY,
    ATTRIBUTE_DOCUMENTS,
    ATTRIBUTE_CLUSTERS,
    ATTRIBUTE_PENDING,
    ATTRIBUTE_STORE,
    N_ATTRIBUTES
};

/* The attribute that a name is. *ret_path points into name, after the colon and one leading slash,
 * or is NULL; of ATTRIBUTE_CLUSTER_IN after the dot. ATTRIBUTE_NONE when it is none: no such name,
 * or an empty path. */
enum attribute attribute_of_name(const char *name, const char **ret_path);

/* The name of an attribute that has no path, else NULL. */
const char *attribute_name(enum attribute attribute);

/* Four decimals, to the nearest; but 1.0000 is only 1. Returns 0, or -ENODATA for what is no
 * number. */
int attribute_number(double value, char ret_text[ATTRIBUTE_NUMBER_BYTES]);

/* "resemblance TAB path" and a newline for each, paths escaped, as many whole lines as fit
 * ATTRIBUTE_MAX_BYTES. Returns 0 or -ENOMEM; gives. ret_n_lines may be NULL. */
int attribute_lines(const struct kin_list *list, char **ret_text, size_t *ret_n_bytes,
                    size_t *ret_n_lines);

#endif
