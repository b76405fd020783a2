/* Listers: threads that do what may wait for a directory that somebody keeps locked. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_BELOW_H
#define KINFS_ENGINE_INDEX_INTAKE_BELOW_H

struct change;
struct index;
struct name_look;

void *below_run(void *index);
/* Works on a CHANGE_BELOW, for as long as that takes. */
void below_list(struct index *index, struct change *change);
/* The entry that is at the name of look->change now, for as long as that takes. */
void below_look(struct index *index, struct name_look *look);

#endif
