/* The past of documents: a row for each content that was replaced and each place that was left. It
 * derives from nothing, and a rebuild takes it over.
 *
 * Rows of TABLE_PAST, whose partition is the owner's number, the first four bytes of every key:
 *
 *   owner 4 | "e" | time 8 | number 8             -> the event (past.c has the bytes)
 *   owner 4 | "f" | file key | time 8 | number 8  -> kind 1: the same events by document
 *   owner 4 | "p" | path, NUL | time 8 | number 8 -> kind 1: those that left a place, by that
 *   owner 4 | "n"                                 -> how many events there are 8
 *
 * An event stands in the partition of one owner with all its rows, so it is there whole or not at
 * all, and what one owner has done takes no room of another's. The number is made of document, kind
 * and place, so the same event of the same moment is one row, however often it is put.
 *
 * Paths are those of the moment, as people remember them; so no row is needed of directories that
 * are gone. An event of one that was moved says from where to where.
 *
 * Threads: any reads; what is put and deleted is the committer's (intake/past/past_notes.h).
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_PAST_H
#define KINFS_ENGINE_INDEX_TABLES_PAST_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/index/tables/record.h"
#include "store/kv.h"

enum past_kind {
    PAST_CHANGED = 'c',   /* the content was replaced by another of the same file */
    PAST_MOVED = 'm',     /* the file lost this name, and has another */
    PAST_DIED = 'd',      /* the file lost its last name */
    PAST_DIRECTORY = 'D', /* a directory with documents in it went from path to `to` */
};

/* A longer path is not remembered: an event, which may have two, is 3,600 bytes at most by the
 * default policy. */
enum { PAST_PATH_MAX = 1024 };

struct past_event {
    uid_t owner;
    uint64_t time_ns; /* since 1970; of PAST_CHANGED when the content that followed was written */
    enum past_kind kind;
    char *path, *to;
    uint64_t born_ns;     /* of the document, as its row of files has it */
    double resemblance;   /* PAST_CHANGED: to the content that followed; NAN: not known */
    struct record record; /* with a shortened sketch; of PAST_DIRECTORY only the key */
};
void past_event_done(struct past_event *event);

/* Add to a batch: all rows of an event but the number of them; or their removal. The record's
 * sketch is shortened here. Returns 0, -EINVAL (a path that is none, or too long) or -ENOMEM. */
int past_put(struct kv_batch *batch, const struct past_event *event);
int past_delete(struct kv_batch *batch, const struct past_event *event);

/* How many events an owner has. Returns 0, -EUCLEAN or a store error. */
int past_get_count(struct kv *kv, uid_t owner, uint64_t *ret_n);
void past_put_count(struct kv_batch *batch, uid_t owner, uint64_t n);
/* The next owner who has rows; -1: the first one. Returns 1, 0 at the end, or an error. */
int past_next_owner(struct kv *kv, int64_t after, uid_t *ret_owner);

/* Events found. visit gets each, borrowed; what it returns but 0 ends the walk and is returned.
 * Damaged rows are counted in n_damaged, and passed over. Where stop says, before an owner or some
 * rows, that nobody waits any more, it is -EINTR. */
typedef int (*past_fn)(void *user, const struct past_event *event);
struct past_walk {
    struct kv *kv;
    past_fn visit;
    void *user;
    uint64_t since_ns;        /* what is older is passed over */
    bool (*stop)(void *user); /* or NULL */
    void *stop_user;
    uint64_t n_damaged;
};
/* Visits the events of all owners, of each in the order of time. */
int past_each(struct past_walk *walk);
/* The same for the events of some documents, which are ascending and different; of a path; or of a
 * path and all directories above it. Of each owner no more rows are read than that one has, and of
 * one line no others. */
int past_of_files(struct past_walk *walk, const struct file_key *files, size_t n);
int past_of_path(struct past_walk *walk, const char *path);
int past_of_way(struct past_walk *walk, const char *path);
/* Some document was below a path, or a directory was: 1, 0 or an error. No event is visited. */
int past_has_below(const struct past_walk *walk, const char *path);

/* The line of a document, or of a path, of one owner: where its events are, in the order of time.
 */
struct past_place {
    uint64_t time_ns, number;
    uint8_t kind;
};
int past_line(struct kv *kv, uid_t owner, const struct file_key *file, const char *path,
              size_t limit, struct past_place *ret_places, size_t *ret_n);
uint64_t past_number(const struct past_event *event);

/* An event by its place. Returns 0, -ENOENT, -EUCLEAN, -ENOMEM or a store error. */
int past_get(struct kv *kv, uid_t owner, const struct past_place *place,
             struct past_event *ret_event);
/* The oldest events of an owner, at most `limit` that are older than before_ns: the deletion of all
 * their rows is added to a batch, of damaged ones too. *from_ns: before that there is none, so that
 * what the store has left of deleted rows is not passed each time; becomes the time of the last one
 * that goes. gone gets each that is sound, borrowed, and returns 0. Returns how many, or an error.
 */
int past_delete_oldest(struct kv *kv, uid_t owner, uint64_t *from_ns, uint64_t before_ns,
                       size_t limit, struct kv_batch *batch, past_fn gone, void *user);
/* Deletes the rows of a place whose event is damaged, as far as they are known. */
void past_delete_damaged(struct kv_batch *batch, uid_t owner, const struct past_place *place,
                         const struct file_key *file, const char *path);

/* A row is an event, not one that leads to it. */
bool past_is_event(const struct kv_entry *row);
/* A row is the number of events of an owner. */
bool past_is_count(const struct kv_entry *row, uint64_t *ret_n);
uid_t past_owner(const struct kv_entry *row); /* 0 of a damaged key */

/* Any row. Returns 0 or -EUCLEAN; -ENOENT: its event, or a row that leads to it, is not there; or a
 * store error. */
int past_check(struct kv *kv, const struct kv_entry *row);

/* Take over the events of another store, made anew with all rows that lead to them, as far as
 * damage lets them be read. policy_id: those of another policy are left out; 0: none. *ret_n,
 * *ret_n_left: of both; what cannot be read at all of an owner is one of those left. Returns 0,
 * -ENOMEM or a store error. */
int past_copy(struct kv *from, struct kv *to, uint64_t policy_id, uint64_t *ret_n,
              uint64_t *ret_n_left);

#endif
