/* Whether an inode has another name than one that goes. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H
#define KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H

#include "engine/index/catalogue/catalogue.h"

enum { OTHER_NAMES_LINKS = 64 };

/* Returns 1, 0, or an error. One look for all its names, and one for each that is looked at. */
int other_names_exist(struct kv *kv, const struct file_key *child, const struct file_key *parent,
                      const char *name);

/* The same; links are the first OTHER_NAMES_LINKS of the inode. */
int other_names_exist_beside(struct kv *kv, const struct catalogue_list *links,
                             const struct file_key *child, const struct file_key *parent,
                             const char *name);

#endif
