/* A comparison is of the records that are in hand: that a file is as its row has it before it is
 * read and afterwards proves that what was read is the content of the record, since any change in
 * between gives it other times, but for those that its owner hides (answer_is_certain()). So what
 * is found of one owner's documents is said of that one's alone. */
#include "engine/index/answers/unique/unique_exact.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/files/unlocked_read.h"
#include "engine/index/answers/unique/unique_memory.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/open_soon.h"
#include "engine/sketch/documents/exact_set.h"

static bool is_certain(struct index *index, uid_t owner, const struct document *document,
                       const struct index_query *query)
{
    struct stat st;
    return answer_is_certain(index, &document->record->key, document->sid, query->looking, &st) &&
           unique_is_of(owner, st.st_uid);
}

/* 1: it can be compared so; 0, or an error. */
static int is_comparable(struct index *index, uid_t owner, const struct document *document)
{
    struct file_row row;
    int r = catalogue_get_file(index->kv, &document->record->key, &row);
    if (r < 0)
        return r == -ENOENT ? -EAGAIN : r;
    if (document->record->sketch.n_tokens > UNIQUE_TOKENS_MAX ||
        document->record->size_bytes > SKETCHING_LONG_BYTES || row.read_by != 0)
        return 0;
    r = compared_is_long(index->kv, owner, document->record);
    return r < 0 ? r : !r;
}

static bool is_stopped(void *user)
{
    return answer_is_stopped(user);
}

/* A packed document is unpacked to a multiple of what it takes on the disk: to read it costs who
 * asks.
 */
static int read_set(struct index *index, uid_t owner, const struct document *document,
                    const struct index_query *query, struct exact_set **ret_set)
{
    enum { UNPACKED_BYTES = 1 << 20, UNPACKED_TIMES = 32 };
    const uint64_t most = document->record->size_bytes * UNPACKED_TIMES + UNPACKED_BYTES;
    const struct exact_set_bounds bounds = {
        .most_shingles = UNIQUE_TOKENS_MAX,
        .most_bytes = most < SKETCHING_LONG_BYTES ? most : SKETCHING_LONG_BYTES,
        .stop = is_stopped,
        .user = (void *)query};
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, query->looking, &document->record->key, OPEN_TO_READ)};
    if (opened.fd < 0)
        return -EAGAIN;
    int r = exact_set_read_within(opened.fd, NULL, index->policy.w, &index->policy.words, &bounds,
                                  ret_set);
    if (r != -E2BIG && r != -EFBIG)
        return r == 0 || r == -ENOMEM || r == -EINTR ? r : -EAGAIN;
    if (!is_certain(index, owner, document, query))
        return -EAGAIN;
    (void)compared_put_long(index->kv, owner, document->record); /* it is not read for it again */
    return UNIQUE_EXACT_NEVER;
}

static int compare(struct index *index, uid_t owner, const struct document *a,
                   const struct document *b, const struct index_query *query,
                   double *ret_resemblance)
{
    _cleanup_(exact_set_free_p) struct exact_set *set_a = NULL, *set_b = NULL;
    if (!is_certain(index, owner, a, query) || !is_certain(index, owner, b, query))
        return -EAGAIN;
    int r = read_set(index, owner, a, query, &set_a);
    if (r == 0)
        r = read_set(index, owner, b, query, &set_b);
    if (r == 0 && exact_set_resemblance(set_a, set_b, ret_resemblance) < 0)
        r = UNIQUE_EXACT_NEVER;
    return r == 0 && (!is_certain(index, owner, a, query) || !is_certain(index, owner, b, query))
               ? -EAGAIN
               : r;
}

int unique_exact_compare(struct index *index, uid_t owner, const struct document *a,
                         const struct document *b, const struct index_query *query,
                         double *ret_resemblance)
{
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES];
    double resemblance = 0;
    record_class(a->record, class_a);
    record_class(b->record, class_b);
    int r = compared_get(index->kv, owner, class_a, class_b, ret_resemblance);
    if (r != -ENOENT)
        return r;
    r = is_comparable(index, owner, a);
    if (r > 0)
        r = is_comparable(index, owner, b);
    if (r <= 0)
        return r == 0 ? UNIQUE_EXACT_NEVER : r;
    r = compare(index, owner, a, b, query, &resemblance);
    if (r == 0) {
        (void)compared_put(index->kv, owner, class_a, class_b, resemblance);
        *ret_resemblance = resemblance;
    }
    return r;
}

/* -- the bytes of one -- */

DEFINE_CLEANUP(EVP_MD_CTX *, EVP_MD_CTX_free);

static int digest_file(int fd, uint64_t size_bytes, const struct index_query *query,
                       uint8_t ret_digest[COMPARED_DIGEST_BYTES])
{
    enum { AT_ONCE = 256 << 10 };
    _cleanup_(EVP_MD_CTX_free_p) EVP_MD_CTX *context = EVP_MD_CTX_new();
    _cleanup_free_ uint8_t *bytes = malloc(AT_ONCE);
    if (!context || !bytes || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        return -ENOMEM;
    for (uint64_t at = 0; at < size_bytes;) {
        ssize_t n =
            answer_is_stopped(query) ? -EINTR : unlocked_read(fd, bytes, AT_ONCE, (off_t)at);
        if (n <= 0)
            return n == -ENOMEM || n == -EINTR ? (int)n : -EAGAIN;
        EVP_DigestUpdate(context, bytes, (size_t)n);
        at += (uint64_t)n;
    }
    return EVP_DigestFinal_ex(context, ret_digest, NULL) ? 0 : -ENOMEM;
}

int unique_exact_digest(struct index *index, uid_t owner, const struct document *document,
                        const struct index_query *query, uint8_t ret_digest[COMPARED_DIGEST_BYTES])
{
    int r = compared_get_digest(index->kv, owner, document->record, ret_digest);
    if (r != -ENOENT)
        return r;
    if (!is_certain(index, owner, document, query))
        return -EAGAIN;
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, query->looking, &document->record->key, OPEN_TO_READ)};
    r = opened.fd < 0 ? -EAGAIN
                      : digest_file(opened.fd, document->record->size_bytes, query, ret_digest);
    if (r == 0 && !is_certain(index, owner, document, query))
        r = -EAGAIN;
    if (r == 0) {
        (void)compared_put_digest(index->kv, owner, document->record, ret_digest);
    }
    return r;
}
