/* The steps that reconcile.c and reconcile_many.c share. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_RECONCILE_PRIVATE_H
#define KINFS_ENGINE_INDEX_INTAKE_RECONCILE_PRIVATE_H

#include "engine/index/intake/reconcile.h"

/* As reconcile_remove(). parent_goes  the directory it is in goes as well */
int reconcile_remove_entry(struct index *index, const struct file_key *parent, const char *name,
                           const struct file_key *child, enum entry_type type, bool parent_goes);

#endif
