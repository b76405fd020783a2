/* Questions about documents that are no files of the tree, as files below .kinfs/query/: written,
 * then read.
 *
 * Threads: those that serve; question_read() replies from one of the views' own.
 * question_form_parse() and question_print(): any.
 */
#ifndef KINFS_FS_VIEWS_VIEW_QUESTION_H
#define KINFS_FS_VIEWS_VIEW_QUESTION_H

#include <stdio.h>

#include "engine/index/index.h"
#include "fs/state.h"

struct question_form {
    double threshold;
    size_t limit;                 /* 0: all */
    size_t common;                /* as of struct index_query */
    enum index_relation relation; /* of what is asked for to the document */
    bool records;                 /* all there is to say, for programs */
};

/* Before the records of an answer of INDEX_SHARES: this, and TABs before how many words the
 * document has and, of each part of it that is common text, the first word and the one behind the
 * last; and before each record. */
#define QUESTION_COMMON "common"
#define QUESTION_PASSAGES "passages"

/* A name asks for more than form holds already: behind a name of any kind, each after a comma,
 * `threshold=R`, `limit=N`, `containing` (INDEX_WHOLES), `contained` (INDEX_PARTS), `passages`
 * (INDEX_SHARES), `related` (INDEX_RELATED), `common=N`, `records`. Returns 0, -EINVAL or -ENOMEM.
 */
int question_form_parse(const char *name, struct question_form *form);

/* Before the records of an answer that lacks something (kin_list.incomplete): this, a TAB, why, and
 * a NUL. */
#define QUESTION_INCOMPLETE "incomplete"

/* The answer: for each document a line "resemblance TAB path", or "containment TAB path" (low
 * confidence is said before the TAB), escaped as `ls -b` does. As records: resemblance, its error,
 * containment, the number of samples that rests on, "exact" or "estimated", the path as it is, TABs
 * between and a NUL behind; "-" where there is no number. Of INDEX_SHARES lines have the words of
 * the longest passage, records those, all words shared, the containment and the path. What is not
 * complete has a line "# why" behind the lines, or a record before the records. Returns 0, when all
 * is written, -ENOMEM or an errno of write(2). */
int question_print(const struct question_form *form, const struct kin_list *list, FILE *out);
/* The bytes that it prints. Returns 0 or -ENOMEM. */
int question_measure(const struct question_form *form, const struct kin_list *list,
                     uint64_t *ret_n_bytes);

/* Begin a question in fi->fh, which is answered as the caller of req may read, whoever reads it.
 * Returns 0, -EINVAL (the name asks for what there is not), -EMFILE or -ENFILE (view_room.h),
 * -ENOMEM or an errno of open(2). */
int question_open(struct fs *fs, fuse_req_t req, const char *name, struct fuse_file_info *fi);
void question_release(const struct fuse_file_info *fi);

/* A piece of the document; behind an answer it is the first of another. Returns how many bytes, or
 * -EBUSY (the answer is being made), -EINVAL (before the first), -EFBIG (1 GiB; 64 MiB where the
 * store's file system has no files without a name), -ENOSPC or -EDQUOT (of the disk, or of room.h:
 * up to the last byte counts, also where none was written) ... */
ssize_t question_write(fuse_req_t req, const struct fuse_file_info *fi, struct fuse_bufvec *in,
                       off_t offset);

/* Replies a piece of the answer, made for the opener when it is first asked for: EBUSY while
 * another one asks, EBADMSG when an extractor fails, EDQUOT or ENOSPC when there is no room for the
 * answer, which counts with its document until that is another or the question is released. */
void question_read(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                   const struct fuse_file_info *fi);

#endif
