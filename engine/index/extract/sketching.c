#include "engine/index/extract/sketching.h"
#include "engine/index/tables/left_out.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/unlocked_read.h"

enum {
    READ_BYTES = 256 * 1024,
    BLOCK_BYTES = 4096, /* at least, of a disk */
};

struct sketching {
    struct document_sketcher *sketcher;
    struct extractor_choice *choice;
    const struct extractors *extractors;
    uint8_t *buffer;
    bool takes_slow, runs_none;
    uint64_t most_bytes, n_fed; /* of this document */
    int unpacking;              /* 0, or why it is not unpacked on */
    uint32_t extractor;         /* of this document, 0: none */
    off_t offset;               /* where it is read */
    bool is_sparse;             /* less than half of it is more than holes */
    bool (*stop)(void *user);
    void *user;
};

static bool is_stopped(void *user)
{
    struct sketching *sketching = user;
    return sketching->stop(sketching->user);
}

static int check(struct sketching *sketching, uint64_t n_bytes)
{
    if (n_bytes > sketching->most_bytes)
        return SKETCHING_TOO_LONG;
    return is_stopped(sketching) ? -ESHUTDOWN : 0;
}

static bool goes_on(void *user, uint64_t n_unpacked)
{
    struct sketching *sketching = user;
    sketching->unpacking = check(sketching, sketching->n_fed + n_unpacked);
    return sketching->unpacking == 0;
}

int sketching_new(const struct sketching_by *by, bool (*stop)(void *user), void *user,
                  struct sketching **ret_sketching)
{
    _cleanup_(sketching_free_p) struct sketching *sketching = calloc(1, sizeof(*sketching));
    if (!sketching)
        return -ENOMEM;
    sketching->takes_slow = by->takes_slow;
    sketching->runs_none = by->runs_none;
    sketching->extractors = by->extractors;
    sketching->stop = stop;
    sketching->user = user;
    int r = document_sketcher_new(by->policy, by->hash, &sketching->sketcher);
    if (r == 0)
        r = extractor_choice_new(by->extractors, by->takes_slow, &sketching->choice);
    if (r == 0 && !(sketching->buffer = aligned_alloc(BLOCK_BYTES, READ_BYTES)))
        r = -ENOMEM;
    if (r < 0)
        return r;
    document_sketcher_on_unpacking(sketching->sketcher, goes_on, sketching);
    *ret_sketching = TAKE_PTR(sketching);
    return 0;
}

void sketching_free(struct sketching *sketching)
{
    if (!sketching)
        return;
    free(sketching->buffer);
    document_sketcher_free(sketching->sketcher);
    extractor_choice_free(sketching->choice);
    free(sketching);
}

void sketching_on_shingles(struct sketching *sketching,
                           void (*take)(void *user, const uint64_t *fingerprints, size_t n),
                           void *user)
{
    document_sketcher_on_shingles(sketching->sketcher, take, user);
}

void sketching_on_words(struct sketching *sketching, const struct document_words *words)
{
    document_sketcher_on_words(sketching->sketcher, words);
}

void sketching_on_tokens(struct sketching *sketching, const struct document_tokens *tokens)
{
    document_sketcher_on_tokens(sketching->sketcher, tokens);
}

int sketching_on_links(struct sketching *sketching,
                       void (*take)(void *user, const struct canon_link *link), void *user)
{
    return document_sketcher_on_links(sketching->sketcher, take, user);
}

static void begin_reading(struct sketching *sketching, int fd, uint64_t most_bytes)
{
    struct stat st;
    sketching->is_sparse = most_bytes > SKETCHING_SHORT_BYTES && fstat(fd, &st) == 0 &&
                           st.st_blocks < st.st_size / 512 / 2;
    sketching->most_bytes = most_bytes;
    sketching->n_fed = 0;
    sketching->unpacking = 0;
    sketching->offset = 0;
}

/* As many bytes as there are, up to READ_BYTES. Returns how many, or an error. */
static ssize_t read_block(struct sketching *sketching, int fd)
{
    size_t size_bytes = 0;
    while (size_bytes < READ_BYTES) {
        ssize_t n = (sketching->is_sparse ? unlocked_read_sparse : unlocked_read)(
            fd, sketching->buffer + size_bytes, READ_BYTES - size_bytes, sketching->offset);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        size_bytes += (size_t)n;
        sketching->offset += n;
    }
    return (ssize_t)size_bytes;
}

/* From the block that has been read to the end. */
static int feed_document(struct sketching *sketching, int fd, ssize_t n)
{
    while (n > 0) {
        document_sketcher_feed(sketching->sketcher, sketching->buffer, (size_t)n);
        if (n < READ_BYTES || sketching->unpacking != 0)
            return sketching->unpacking;
        sketching->n_fed += (uint64_t)n;
        const int r = check(sketching, sketching->n_fed);
        if (r != 0)
            return r;
        n = read_block(sketching, fd);
    }
    return (int)n;
}

/* The last bytes, of a short document all, are unpacked here. */
static int finish_document(struct sketching *sketching, struct document_sketch *ret_sketch)
{
    document_sketcher_finish(sketching->sketcher, ret_sketch);
    return sketching->unpacking;
}

static void take_text(void *user, const void *bytes, size_t size_bytes)
{
    struct sketching *sketching = user;
    document_sketcher_feed_text(sketching->sketcher, bytes, size_bytes);
}

/* All of it is bytes to the sketcher; what an extractor makes of it is its text. */
static int sketch_extracted(struct sketching *sketching, int fd, ssize_t n,
                            const struct extractor *extractor, struct document_sketch *ret_sketch,
                            char reason[EXTRACTOR_REASON_BYTES])
{
    document_sketcher_begin_given(sketching->sketcher, extractor->type,
                                  extractor->lines ? DOCUMENT_LINES_GIVEN : DOCUMENT_TEXT_GIVEN);
    int r = feed_document(sketching, fd, n);
    if (r != 0)
        return r;
    const struct extractor_run run = {
        .extractor = extractor,
        .document = fd,
        .output = take_text,
        .stop = is_stopped,
        .user = sketching,
    };
    r = extractor_run(&run, reason);
    if (r < 0)
        return r;
    document_sketcher_finish(sketching->sketcher, ret_sketch);
    ret_sketch->form.cut = r == 1;
    return 0;
}

const void *sketching_bytes(const struct sketching *sketching, size_t *ret_n_bytes)
{
    *ret_n_bytes = (size_t)sketching->offset;
    return sketching->offset < READ_BYTES ? sketching->buffer : NULL;
}

uint32_t sketching_extractor(const struct sketching *sketching)
{
    return sketching->extractor;
}

int sketching_find_extractor(struct sketching *sketching, int fd, uint32_t *ret_extractor)
{
    ssize_t n = unlocked_read(fd, sketching->buffer, TEXT_SNIFF_BYTES, 0);
    if (n < 0)
        return (int)n;
    const struct extractor *extractor;
    enum text_type type;
    *ret_extractor = 0;
    if (extractors_leave_out(sketching->extractors, fd, sketching->buffer, (size_t)n, &type) ||
        (extractors_left_out(sketching->extractors) &&
         canon_is_packed(sketching->buffer, (size_t)n)))
        return SKETCHING_LEFT_OUT;
    int r = extractor_choose(sketching->choice, fd, sketching->buffer, (size_t)n, &extractor);
    *ret_extractor = extractor ? extractor->id : 0;
    return r == EXTRACTOR_SLOW ? SKETCHING_SLOW : r;
}

int sketching_refuse(char ret_reason[SKETCHING_REASON_BYTES])
{
    snprintf(ret_reason, SKETCHING_REASON_BYTES, "longer than %d GiB", SKETCHING_MOST_GIB);
    return -EBADMSG;
}

static int leave_out(enum text_type type, char ret_reason[SKETCHING_REASON_BYTES])
{
    snprintf(ret_reason, SKETCHING_REASON_BYTES, LEFT_OUT_REASON "its type is %s",
             text_type_name(type));
    return -EBADMSG;
}

static int run(struct sketching *sketching, int fd, uint64_t most_bytes,
               struct document_sketch *ret_sketch, char ret_reason[SKETCHING_REASON_BYTES])
{
    if (is_stopped(sketching))
        return -ESHUTDOWN;
    begin_reading(sketching, fd, most_bytes);
    ssize_t n = read_block(sketching, fd);
    if (n < 0)
        return (int)n;
    const struct extractor *extractor;
    enum text_type type;
    sketching->extractor = 0;
    if (extractors_leave_out(sketching->extractors, fd, sketching->buffer, (size_t)n, &type))
        return leave_out(type, ret_reason);
    int r = extractor_choose(sketching->choice, fd, sketching->buffer, (size_t)n, &extractor);
    sketching->extractor = extractor ? extractor->id : 0;
    if (!sketching->takes_slow &&
        (r == EXTRACTOR_SLOW || extractor || canon_is_packed(sketching->buffer, (size_t)n)))
        return SKETCHING_SLOW;
    if (extractor && sketching->runs_none)
        return SKETCHING_SLOW;
    if (extractor) {
        char reason[EXTRACTOR_REASON_BYTES] = "";
        r = sketch_extracted(sketching, fd, n, extractor, ret_sketch, reason);
        if (r == -EBADMSG)
            snprintf(ret_reason, SKETCHING_REASON_BYTES, "%s: %s", extractor->name, reason);
        /* A scan has no words: its bytes are all there is to compare. */
        if (r != 0 || ret_sketch->sketch.n_values > 0 || extractor->type == TEXT_EXTRACTED)
            return r;
        begin_reading(sketching, fd, most_bytes);
        n = read_block(sketching, fd);
    }
    document_sketcher_begin(sketching->sketcher);
    r = n < 0 ? (int)n : feed_document(sketching, fd, n);
    return r == 0 ? finish_document(sketching, ret_sketch) : r;
}

int sketching_run(struct sketching *sketching, int fd, uint64_t most_bytes,
                  struct document_sketch *ret_sketch, char ret_reason[SKETCHING_REASON_BYTES])
{
    int r = run(sketching, fd, most_bytes, ret_sketch, ret_reason);
    if (r == 0 && extractors_left_out(sketching->extractors) & 1u << ret_sketch->form.type)
        r = leave_out(ret_sketch->form.type, ret_reason);
    if (r != 0)
        document_sketcher_begin(sketching->sketcher); /* which gives back what it took */
    return r;
}

int sketching_run_whole(struct sketching *sketching, int fd, struct document_sketch *ret_sketch,
                        char ret_reason[SKETCHING_REASON_BYTES])
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    int r = SKETCHING_TOO_LONG;
    if ((uint64_t)st.st_size <= SKETCHING_MOST_BYTES)
        r = sketching_run(sketching, fd, SKETCHING_MOST_BYTES, ret_sketch, ret_reason);
    return r == SKETCHING_TOO_LONG ? sketching_refuse(ret_reason) : r;
}
