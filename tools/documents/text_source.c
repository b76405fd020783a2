#include "tools/documents/text_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files/fd_whole.h"
#include "base/files/unnamed_file.h"
#include "engine/index/extract/extractor.h"
#include "engine/index/extract/sketching.h"
#include "tools/show/message.h"

enum { READ_BYTES = 64 * 1024 };

DEFINE_CLEANUP(struct extractors *, extractors_free);
DEFINE_CLEANUP(struct extractor_choice *, extractor_choice_free);

static const enum text_type as_text = TEXT_PLAIN, as_book = TEXT_EPUB, as_lines = TEXT_EXTRACTED;

void text_source_done(struct text_source *text)
{
    if (text->fd >= 0)
        close(text->fd);
    text->fd = -1;
}

static bool is_late(int64_t until_ms)
{
    return until_ms && clock_now_ms() >= until_ms;
}

struct output {
    int fd, error;
    int64_t until_ms;
};

static void put(void *user, const void *bytes, size_t size_bytes)
{
    struct output *output = user;
    for (size_t at = 0; at < size_bytes && output->error == 0;) {
        ssize_t n = write(output->fd, (const char *)bytes + at, size_bytes - at);
        if (n < 0 && errno != EINTR)
            output->error = -errno;
        at += n > 0 ? (size_t)n : 0;
    }
}

static bool stop(void *user)
{
    const struct output *output = user;
    return is_late(output->until_ms);
}

/* -- whether there are words, and which -- */

/* Fingerprints compare under one policy. */
static int sketch(const struct text_source *text, const struct policy *policy, int64_t until_ms,
                  struct document_sketcher **ret_sketcher, struct document_sketch *ret_sketch)
{
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_free_ uint8_t *buffer = malloc(READ_BYTES);
    struct fd_whole whole;
    int r = fd_whole_begin(&whole, text->fd);
    if (r == 0)
        r = buffer ? shingle_hash_new(policy, &hash) : -ENOMEM;
    if (r == 0)
        r = document_sketcher_new(policy, hash, &sketcher);
    if (r < 0)
        return r;
    if (text->as)
        document_sketcher_begin_given(sketcher, *text->as,
                                      *text->as == TEXT_EXTRACTED ? DOCUMENT_LINES_GIVEN
                                                                  : DOCUMENT_TEXT_GIVEN);
    ssize_t n;
    while ((n = is_late(until_ms) ? -ETIMEDOUT : fd_whole_read(&whole, buffer, READ_BYTES)) > 0) {
        if (text->as)
            document_sketcher_feed_text(sketcher, buffer, (size_t)n);
        else
            document_sketcher_feed(sketcher, buffer, (size_t)n);
    }
    if (n < 0)
        return (int)n;
    document_sketcher_finish(sketcher, ret_sketch);
    ret_sketch->form.cut |= text->cut;
    *ret_sketcher = TAKE_PTR(sketcher);
    return 0;
}

int text_source_equal(const struct text_source *a, const struct text_source *b,
                      const struct word_options *words)
{
    _cleanup_(document_sketcher_free_p) struct document_sketcher *of_a = NULL, *of_b = NULL;
    struct document_sketch x, y;
    struct policy policy;
    int r = policy_preset("default", &policy);
    if (r < 0)
        return r;
    policy.words = *words;
    r = sketch(a, &policy, 0, &of_a, &x);
    if (r == 0)
        r = sketch(b, &policy, 0, &of_b, &y);
    if (r < 0)
        return r;
    return document_text_is_known(&x.form, &x.sketch) &&
           document_text_is_known(&y.form, &y.sketch) &&
           memcmp(x.text_fingerprint, y.text_fingerprint, FINGERPRINT_BYTES) == 0;
}

/* -- reading -- */

/* Returns 0, or 1 where there are no words in it. */
static int extract(const char *path, int fd, const struct extractor *extractor, int64_t until_ms,
                   struct text_source *text, char **ret_error)
{
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
    char reason[EXTRACTOR_REASON_BYTES] = "";
    struct output output = {.fd = unnamed_file_make_temporary(), .until_ms = until_ms};
    struct document_sketch found;
    struct policy policy;
    if (output.fd < 0)
        return refuse(ret_error, output.fd, "%s: its text: %s", path, strerror(-output.fd));
    const enum text_type *as = extractor->lines               ? &as_lines
                               : extractor->type == TEXT_EPUB ? &as_book
                                                              : &as_text;
    *text = (struct text_source){output.fd, as, false};
    const struct extractor_run run = {
        .extractor = extractor, .document = fd, .output = put, .stop = stop, .user = &output};
    int r = extractor_run(&run, reason);
    text->cut = r == 1;
    if (r == -EBADMSG)
        return refuse(ret_error, r, "%s: cannot be read: %s: %s", path, extractor->name, reason);
    if (r == -ESHUTDOWN)
        r = -ETIMEDOUT;
    if (r >= 0)
        r = output.error;
    /* A scan has no words: its bytes are all there is to compare. */
    if (r == 0 && extractor->type != TEXT_EXTRACTED) {
        r = policy_preset("default", &policy);
        if (r == 0)
            r = sketch(text, &policy, until_ms, &sketcher, &found);
    }
    if (r == -ETIMEDOUT)
        return refuse(ret_error, r, TEXT_SOURCE_LATE, path);
    if (r < 0)
        return refuse(ret_error, r, "%s: its text: %s", path, strerror(-r));
    return sketcher && found.sketch.n_values == 0;
}

int text_source_open(const char *path, int fd, const struct configuration *configuration,
                     int64_t until_ms, struct text_source *ret_text, char **ret_error)
{
    _cleanup_(extractors_free_p) struct extractors *extractors = NULL;
    _cleanup_(extractor_choice_free_p) struct extractor_choice *choice = NULL;
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    uint8_t head[8 * 1024];
    char reason[SKETCHING_REASON_BYTES];
    struct fd_whole whole;
    int r = fd_whole_begin(&whole, fd);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", path, strerror(-r));
    if ((uint64_t)whole.end > SKETCHING_MOST_BYTES)
        return refuse(ret_error, sketching_refuse(reason), "%s: %s; name another", path, reason);
    r = extractors_new(configuration->extractors, configuration->n_extractors, 0, &extractors,
                       ret_error);
    if (r == 0)
        r = extractor_choice_new(extractors, true, &choice);
    if (r < 0)
        return r;
    const ssize_t n_head = fd_whole_read(&whole, head, sizeof(head));
    if (n_head < 0)
        return refuse(ret_error, (int)n_head, "%s: %s", path, strerror((int)-n_head));
    const struct extractor *extractor;
    extractor_choose(choice, fd, head, (size_t)n_head, &extractor); /* tells all */
    r = extractor ? extract(path, fd, extractor, until_ms, &text, ret_error) : 1;
    if (r == 1) {
        text_source_done(&text);
        text = (struct text_source){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
        r = text.fd < 0 ? refuse(ret_error, -errno, "%s: %s", path, strerror(errno)) : 0;
    }
    if (r < 0)
        return r;
    *ret_text = text;
    text.fd = -1;
    return 0;
}
