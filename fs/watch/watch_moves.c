/* Names moved through the mount that meant something else by then.
 *
 * A RENAME names what it moves, and so moves what has that name now. The kernel moves what it knew
 * by the name, which is another file if the name was given to another beside the mount and the
 * kernel has not been told of that yet; told later, it has nothing by the old name to forget, and
 * would go on with the wrong file under the new one. So the new name is told, too.
 *
 * Which those are, the order of events says. The kernel holds the directory's lock from where it
 * looks up the old name until the RENAME is answered and its event is there, and telling it of the
 * old name waits for that lock: it comes before, and then the RENAME is right, or after. What had
 * been told before a reading of events began that did not find the RENAME's, came before.
 */
#include "fs/watch/watch_private.h"

void watch_moves_begin(struct watch *watch)
{
    struct watch_moves *moves = &watch->moves;
    for (size_t i = 0; i < moves->n_kept; i++)
        moves->kept[i].is_told = atomic_load(&moves->kept[i].batch->n_refs) == 1;
}

bool watch_moves_end(struct watch *watch, struct watch_batch *batch)
{
    struct watch_moves *moves = &watch->moves;
    size_t n_kept = 0;
    for (size_t i = 0; i < moves->n_kept; i++)
        if (moves->kept[i].is_told)
            watch_batch_unref(moves->kept[i].batch);
        else
            moves->kept[n_kept++] = moves->kept[i];
    moves->n_kept = n_kept;
    if (!batch || !batch->has_names)
        return true;
    if (n_kept == sizeof(moves->kept) / sizeof(*moves->kept))
        return false;
    moves->kept[moves->n_kept++].batch = watch_batch_ref(batch);
    return true;
}

static bool may_be_wrong(struct watch *watch, struct watch_batch *batch,
                         const struct file_key *directory, const char *name)
{
    const struct watch_moves *moves = &watch->moves;
    for (size_t i = 0; i < moves->n_kept; i++)
        if (watch_batch_has_name(moves->kept[i].batch, directory, name))
            return true;
    return watch_batch_has_name(batch, directory, name);
}

int watch_moves_see(struct watch *watch, struct watch_batch *batch,
                    const struct file_key *old_directory, const char *old_name,
                    const struct file_key *new_directory, const char *new_name)
{
    return may_be_wrong(watch, batch, old_directory, old_name)
               ? watch_batch_add(batch, new_directory, new_name, SEEN_TAKEN)
               : 0;
}

void watch_moves_done(struct watch *watch)
{
    while (watch->moves.n_kept)
        watch_batch_unref(watch->moves.kept[--watch->moves.n_kept].batch);
}
