/* Questions about documents that are no files of the tree: a file below .kinfs/query/ takes one and
 * is then read as the answer (Broder et al. 1997, section 6.1).
 *
 * A question belongs to its opening, not to the name: what is found under a name is made when it is
 * opened and gone when it is closed, and nobody else sees it. What is answered is what the opener
 * may read, whoever reads it: the descriptor may have been handed to a program that is allowed
 * more. The document is kept in a file without a name beside the store, and the answer behind it,
 * so that memory stays bounded; it is sketched when the answer is first read, by a thread of the
 * views' own.
 *
 * Both parts may be passed over from the beginning, or one behind the other, as a shell does that
 * has one descriptor for both: offsets are counted from the first one of each part.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/escape.h"
#include "base/files/fd_read.h"
#include "base/ratio.h"
#include "fs/views/attribute_text.h"
#include "fs/inodes/identity.h"
#include "fs/views/view.h"
#include "fs/views/view_question.h"

/* A document is cut at the first by the text engine as well. Where there can be no file without a
 * name it is kept in memory, of which the daemon has less. */
enum { DOCUMENT_MAX_BYTES = 1 << 30, DOCUMENT_IN_MEMORY_MAX_BYTES = 1 << 26 };

struct question {
    pthread_mutex_t lock; /* of all below; held for as long as an answer is made, so only tried */
    struct question_form form;
    struct caller opener; /* who it is answered for */
    /* It holds the bytes of the document up to its last one, holes too, and the answer. */
    struct view_file file;
    off_t written_from, read_from; /* offset of the first byte of the document, of the answer */
    bool begun;                    /* there is some of the document */
    bool is_answered;
    off_t answer_from; /* where in the file the answer begins; it ends with it */
};

/* -- what is asked -- */

static bool parse_threshold(const char *text, double *ret_threshold)
{
    char *end;
    double value = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || *end || !(value >= 0 && value <= 1))
        return false;
    *ret_threshold = value;
    return true;
}

static bool parse_limit(const char *text, size_t *ret_limit)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || value > SIZE_MAX)
        return false;
    *ret_limit = (size_t)value;
    return true;
}

int question_form_parse(const char *name, struct question_form *form)
{
    _cleanup_free_ char *words = strdup(name);
    char *rest = words;
    bool has_threshold = false;
    if (!words)
        return -ENOMEM;
    strsep(&rest, ","); /* any name */
    for (const char *word; (word = strsep(&rest, ","));) {
        bool known = true;
        if (strcmp(word, "containing") == 0)
            form->relation = INDEX_WHOLES;
        else if (strcmp(word, "contained") == 0)
            form->relation = INDEX_PARTS;
        else if (strcmp(word, "passages") == 0)
            form->relation = INDEX_SHARES;
        else if (strcmp(word, "related") == 0)
            form->relation = INDEX_RELATED;
        else if (strncmp(word, "common=", 7) == 0)
            known =
                parse_limit(word + 7, &form->common) && form->common <= INDEX_PASSAGES_COMMON_MAX;
        else if (strcmp(word, "records") == 0)
            form->records = true;
        else if (strncmp(word, "threshold=", 10) == 0)
            known = has_threshold = parse_threshold(word + 10, &form->threshold);
        else if (strncmp(word, "limit=", 6) == 0)
            known = parse_limit(word + 6, &form->limit);
        else
            known = false;
        if (!known)
            return -EINVAL;
    }
    if (form->relation == INDEX_RELATED && !has_threshold)
        form->threshold = INDEX_RELATED_THRESHOLD;
    return 0;
}

/* -- the answer -- */

static void print_number(FILE *out, double value)
{
    if (isnan(value))
        fputs("-\t", out);
    else
        fprintf(out, "%.17g\t", ratio_shown(value));
}

static void print_passages_record(FILE *out, const struct kin *kin)
{
    fprintf(out, QUESTION_PASSAGES "\t%llu\t%llu\t", (unsigned long long)kin->longest_passage,
            (unsigned long long)kin->shared_words);
    print_number(out, kin->containment);
    fprintf(out, "%s%c", kin->path, '\0');
}

static void print_common(FILE *out, const struct kin_list *list)
{
    fprintf(out, QUESTION_COMMON "\t%llu", (unsigned long long)list->n_words);
    for (size_t i = 0; i < list->n_common; i++)
        fprintf(out, "\t%llu\t%llu", (unsigned long long)list->common[i].first,
                (unsigned long long)list->common[i].end);
    fputc('\0', out);
}

static int print_passages_line(FILE *out, const struct kin *kin)
{
    _cleanup_free_ char *path = NULL;
    int r = escape_name(kin->path, &path);
    if (r == 0)
        fprintf(out, "%llu\t%s\n", (unsigned long long)kin->longest_passage, path);
    return r;
}

static void print_record(FILE *out, const struct kin *kin)
{
    print_number(out, kin->resemblance);
    print_number(out, kin->error);
    print_number(out, kin->containment);
    fprintf(out, "%u\t%s\t%s%c", kin->containment_samples, kin->exact ? "exact" : "estimated",
            kin->path, '\0');
}

static int print_line(FILE *out, const struct kin *kin, bool is_contained)
{
    _cleanup_free_ char *path = NULL;
    char number[ATTRIBUTE_NUMBER_BYTES];
    if (attribute_number(is_contained ? kin->containment : kin->resemblance, number) < 0)
        return 0;
    int r = escape_name(kin->path, &path);
    if (r < 0)
        return r;
    const uint32_t n = kin->containment_samples;
    fputs(number, out);
    if (is_contained && !kin->exact && n > 0 && n < INDEX_CONFIDENT_SAMPLES)
        fprintf(out, " (%s: low confidence)", counted(n, "sample").text);
    fprintf(out, "\t%s\n", path);
    return 0;
}

static bool is_by_containment(enum index_relation relation)
{
    return relation == INDEX_WHOLES || relation == INDEX_PARTS;
}

int question_print(const struct question_form *form, const struct kin_list *list, FILE *out)
{
    int r = 0;
    if (form->records && *list->incomplete)
        fprintf(out, QUESTION_INCOMPLETE "\t%s%c", list->incomplete, '\0');
    const bool of_passages = form->relation == INDEX_SHARES;
    if (form->records && of_passages)
        print_common(out, list);
    for (size_t i = 0; r == 0 && i < list->n_kin; i++) {
        if (form->records && of_passages)
            print_passages_record(out, &list->kin[i]);
        else if (of_passages)
            r = print_passages_line(out, &list->kin[i]);
        else if (form->records)
            print_record(out, &list->kin[i]);
        else
            r = print_line(out, &list->kin[i], is_by_containment(form->relation));
        if (r == 0 && ferror(out))
            r = -errno;
    }
    if (r == 0 && !form->records && *list->incomplete)
        fprintf(out, "# %s\n", list->incomplete);
    if (r == 0 && fflush(out) != 0)
        r = -errno;
    return r;
}

static ssize_t count_bytes(void *user, const char *bytes, size_t n_bytes)
{
    (void)bytes;
    *(uint64_t *)user += n_bytes;
    return (ssize_t)n_bytes;
}

int question_measure(const struct question_form *form, const struct kin_list *list,
                     uint64_t *ret_n_bytes)
{
    *ret_n_bytes = 0;
    _cleanup_fclose_ FILE *out =
        fopencookie(ret_n_bytes, "w", (cookie_io_functions_t){.write = count_bytes});
    return out ? question_print(form, list, out) : -ENOMEM;
}

static int find_kin(const struct view_task *task, const struct question_form *form,
                    const struct index_foreign *foreign, struct kin_list *ret_list)
{
    struct index_query query = view_query_of(task, form->limit);
    query.relation = form->relation;
    query.threshold = form->threshold;
    query.common = form->common;
    if (index_foreign_info(foreign)->state == DOCUMENT_SKIPPED)
        return -EBADMSG;
    return index_foreign_similar(foreign, &query, ret_list);
}

/* Writes the answer behind the document. */
static int write_answer(const struct question *question, const struct kin_list *list)
{
    _cleanup_close_ int fd = fcntl(question->file.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    _cleanup_fclose_ FILE *out = fdopen(fd, "w");
    if (!out)
        return -errno;
    (void)TAKE_FD(fd);
    if (fseeko(out, question->answer_from, SEEK_SET) < 0)
        return -errno;
    identity_enter_allocation(question->opener.uid);
    int r = question_print(&question->form, list, out);
    if (r < 0)
        __fpurge(out); /* nothing is written when it is closed */
    identity_leave();
    return r;
}

/* The room is there before anything is written: else who has answers that are too long would fill
 * the disk again and again, if only for a moment. */
static int keep_answer(struct question *question, const struct kin_list *list)
{
    const uint64_t n_before = question->file.stay.n_bytes;
    uint64_t n_bytes;
    question->answer_from = lseek(question->file.fd, 0, SEEK_END);
    if (question->answer_from < 0)
        return -errno;
    int r = question_measure(&question->form, list, &n_bytes);
    if (r == 0)
        r = view_file_hold(&question->file, n_before + n_bytes);
    if (r < 0)
        return r;
    r = write_answer(question, list);
    if (r < 0 && ftruncate(question->file.fd, question->answer_from) < 0)
        question->begun = false; /* the document is no more what it was */
    if (r < 0)
        view_file_hold(&question->file, n_before);
    return r;
}

static int make_answer(struct view_task *task, struct question *question)
{
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = NULL;
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r = view_settle(task);
    if (r == 0)
        r = index_read_foreign(task->fs->index, question->file.fd, question->form.relation,
                               view_nobody_waits, task, &foreign);
    if (r == -ESHUTDOWN && fuse_req_interrupted(task->req))
        r = -EINTR;
    if (r == 0)
        r = find_kin(task, &question->form, foreign, &list);
    if (r == 0)
        r = keep_answer(question, &list);
    if (r < 0)
        return r;
    question->is_answered = true;
    question->read_from = task->offset;
    return 0;
}

/* -- operations -- */

static struct question *question_of(const struct fuse_file_info *fi)
{
    return (struct question *)(uintptr_t)fi->fh;
}

static void question_free(struct question *question)
{
    view_file_close(&question->file);
    caller_done(&question->opener);
    pthread_mutex_destroy(&question->lock);
    free(question);
}

int question_open(struct fs *fs, fuse_req_t req, const char *name, struct fuse_file_info *fi)
{
    struct question *question = calloc(1, sizeof(*question));
    if (!question)
        return -ENOMEM;
    pthread_mutex_init(&question->lock, NULL);
    question->file.fd = -1;
    question->form.threshold = fs->options.threshold;
    question->form.limit = fs->options.limit;
    int r = question_form_parse(name, &question->form);
    if (r == 0)
        r = of_daemon(view_caller(fs, req, &question->opener));
    if (r == 0)
        r = view_file_open(fs, &fs->views->questions, question->opener.uid, question->opener.gid,
                           &question->file);
    if (r < 0) {
        question_free(question);
        return r;
    }
    fi->fh = (uintptr_t)question;
    fi->direct_io = 1; /* what is read is not what was written */
    return 0;
}

void question_release(const struct fuse_file_info *fi)
{
    question_free(question_of(fi));
}

static int begin_document(struct question *question, off_t offset)
{
    if (ftruncate(question->file.fd, 0) < 0)
        return -errno;
    view_room_hold(&question->file.stay, 0);
    question->is_answered = false;
    question->begun = true;
    question->written_from = offset;
    return 0;
}

static ssize_t write_document(fuse_req_t req, struct question *question, struct fuse_bufvec *in,
                              off_t offset)
{
    const size_t n_in = fuse_buf_size(in);
    const off_t max_bytes =
        question->file.is_in_memory ? DOCUMENT_IN_MEMORY_MAX_BYTES : DOCUMENT_MAX_BYTES;
    int r = question->is_answered || !question->begun ? begin_document(question, offset) : 0;
    if (r < 0)
        return r;
    if (offset < question->written_from)
        return -EINVAL;
    if (offset - question->written_from + (off_t)n_in > max_bytes)
        return -EFBIG;
    const uint64_t n_bytes_so_far = (uint64_t)(offset - question->written_from) + n_in;
    if (n_bytes_so_far > question->file.stay.n_bytes)
        r = view_file_hold(&question->file, n_bytes_so_far);
    if (r < 0)
        return r;
    struct fuse_bufvec out = FUSE_BUFVEC_INIT(n_in);
    out.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    out.buf[0].fd = question->file.fd;
    out.buf[0].pos = offset - question->written_from;
    identity_enter_allocation(fuse_req_ctx(req)->uid);
    ssize_t n_bytes = fuse_buf_copy(&out, in, 0);
    identity_leave();
    return n_bytes;
}

ssize_t question_write(fuse_req_t req, const struct fuse_file_info *fi, struct fuse_bufvec *in,
                       off_t offset)
{
    struct question *question = question_of(fi);
    if (pthread_mutex_trylock(&question->lock) != 0)
        return -EBUSY; /* somebody is about to get the answer to what is there */
    ssize_t n_bytes = write_document(req, question, in, offset);
    pthread_mutex_unlock(&question->lock);
    return n_bytes;
}

/* The piece that is asked for, copied: who gets it may go on before the lock is free again. */
static int copy_piece(const struct view_task *task, const struct question *question,
                      char **ret_piece, size_t *ret_n_bytes)
{
    off_t from =
        task->offset >= question->read_from ? task->offset - question->read_from : task->offset;
    _cleanup_free_ char *piece = malloc(task->size + 1);
    if (!piece)
        return -ENOMEM;
    if (from > INT64_MAX - question->answer_from)
        return -EINVAL;
    ssize_t n = fd_pread(question->file.fd, piece, task->size, question->answer_from + from);
    if (n < 0)
        return (int)n;
    *ret_n_bytes = (size_t)n;
    *ret_piece = TAKE_PTR(piece);
    return 0;
}

static void reply_piece(fuse_req_t req, int r, const char *piece, size_t n_bytes)
{
    if (r < 0)
        fuse_reply_err(req, -of_daemon(r));
    else
        fuse_reply_buf(req, piece, n_bytes);
}

/* Replies from an answer that was made before, which takes no turn. Returns whether it did. */
static bool read_made(const struct view_task *task)
{
    struct question *question = question_of(&task->fi);
    _cleanup_free_ char *piece = NULL;
    size_t n_bytes = 0;
    if (pthread_mutex_trylock(&question->lock) != 0)
        return false;
    const bool is_made = question->is_answered;
    int r = is_made ? copy_piece(task, question, &piece, &n_bytes) : 0;
    pthread_mutex_unlock(&question->lock);
    if (is_made)
        reply_piece(task->req, r, piece, n_bytes);
    return is_made;
}

static void read_answer(struct view_task *task)
{
    struct question *question = question_of(&task->fi);
    _cleanup_free_ char *piece = NULL;
    size_t n_bytes = 0;
    int r = -pthread_mutex_trylock(&question->lock);
    if (r == 0) {
        r = question->is_answered ? 0 : make_answer(task, question);
        if (r == 0)
            r = copy_piece(task, question, &piece, &n_bytes);
        pthread_mutex_unlock(&question->lock);
    }
    reply_piece(task->req, r, piece, n_bytes);
}

void question_read(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                   const struct fuse_file_info *fi)
{
    const struct view_task task = {.run = read_answer,
                                   .is_long = true,
                                   .req = req,
                                   .as = &question_of(fi)->opener,
                                   .node = node,
                                   .size = size,
                                   .offset = offset,
                                   .fi = *fi};
    if (!read_made(&task))
        view_defer(fs, req, &task);
}
