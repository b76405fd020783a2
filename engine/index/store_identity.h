/* The identity of a store is the version of its schema, its policy with the secret key, and the
 * tree it is of.
 */
#ifndef KINFS_ENGINE_INDEX_STORE_IDENTITY_H
#define KINFS_ENGINE_INDEX_STORE_IDENTITY_H

#include "base/files/file_key.h"
#include "engine/index/index.h"
#include "engine/sketch/policy.h"

/* Refuse a store that is another's, with a message that says what to do; make the identity of a new
 * one. Sets the index's policy.
 *
 * policy  of a new store; NULL: the preset the options name, with a fresh key
 *
 * Returns 0, -EPROTO (another tree, policy or version), -EUCLEAN, -EINVAL (there is no such policy
 * or words), -ENOMEM or a store error. */
int store_identity_check(struct index *index, const struct index_options *options,
                         const struct policy *policy, char **ret_error);
/* The policy of a store whose database cannot be opened: kept beside it in a file of its own.
 * Returns what policy_decode() does. */
int store_identity_read_policy_file(const char *store_path, struct policy *ret_policy);
/* The root before the tree at the source's path became another; -ENOENT when it did not, or what
 * hung on it has been forgotten ("old_root" deleted). */
int store_identity_old_root(struct index *index, struct file_key *ret_key);

#endif
