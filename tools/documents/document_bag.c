#include "tools/documents/document_bag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/files/fd_whole.h"
#include "base/files/file_key.h"
#include "base/room.h"
#include "engine/sketch/policy.h"

enum { READ_BYTES = 64 * 1024 };

static void keep(struct document_bag *bag, int r)
{
    if (r < 0 && bag->error == 0)
        bag->error = r;
}

static void take_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct document_bag *bag = user;
    keep(bag, spellings_add(&bag->stems, word, stem, size_bytes));
}

static uint64_t target_of(void *user, const char *href, size_t href_bytes)
{
    struct document_bag *bag = user;
    const char *fragment = memchr(href, '#', href_bytes);
    size_t n = fragment ? (size_t)(fragment - href) : href_bytes;
    uint64_t target = XXH3_64bits_withSeed(href, n, file_key_secret);
    if (bag->n_windows == DOCUMENT_BAG_MOST_WINDOWS ||
        bag->targets.n == DOCUMENT_BAG_MOST_WINDOWS ||
        bag->target_bytes + n > DOCUMENT_BAG_MOST_TARGET_BYTES ||
        spellings_of(&bag->targets, target))
        return target;
    bag->target_bytes += n;
    keep(bag, spellings_add(&bag->targets, target, href, n));
    return target;
}

static void take_window(void *user, uint64_t target, const struct bag *fragment)
{
    struct document_bag *bag = user;
    const struct bag nothing = {0};
    struct document_window window = {.target = target};
    if (bag->n_windows == DOCUMENT_BAG_MOST_WINDOWS || !spellings_of(&bag->targets, target))
        return;
    if (!MAKE_ROOM(bag->windows, bag->room, bag->n_windows + 1) ||
        bag_merge(fragment, &nothing, &window.words) < 0)
        keep(bag, -ENOMEM);
    else
        bag->windows[bag->n_windows++] = window;
}

/* -- reading -- */

int bag_reader_new(const struct bag_document_options *options, const struct bag_document_sink *sink,
                   struct bag_reader *reader)
{
    struct bag_document_options with_hash = *options;
    struct policy policy;
    *reader = (struct bag_reader){0};
    int r = policy_preset("default", &policy);
    if (r == 0)
        r = shingle_hash_new(&policy, &reader->hash);
    with_hash.hash = reader->hash;
    if (r == 0)
        r = bag_document_new(&with_hash, sink, &reader->document);
    if (r < 0)
        return r;
    const struct canon_sink text_sink = bag_document_sink(reader->document);
    return canon_new(&text_sink, &reader->canon);
}

void bag_reader_done(struct bag_reader *reader)
{
    canon_free(reader->canon);
    bag_document_free(reader->document);
    shingle_hash_free(reader->hash);
    *reader = (struct bag_reader){0};
}

/* What a document has on the disk bounds what is read of it: a few bytes can be packed, or a hole,
 * of very many. A file system that does not say has DOCUMENT_BAG_UNKNOWN_BYTES. */
static int most_bytes(int fd, uint64_t *ret_most)
{
    enum { OF_BLOCKS = 512 }; /* st_blocks, whatever the file system's are */
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    const uint64_t on_disk = (uint64_t)st.st_blocks * OF_BLOCKS;
    *ret_most = on_disk ? DOCUMENT_BAG_FREE_BYTES + DOCUMENT_BAG_UNPACKED * on_disk
                        : DOCUMENT_BAG_UNKNOWN_BYTES;
    return 0;
}

struct reading {
    const int *error;
    uint64_t most;
    bool is_cut;
};

static bool goes_on(void *user, uint64_t n_bytes)
{
    struct reading *reading = user;
    reading->is_cut |= n_bytes > reading->most;
    return !reading->is_cut && *reading->error == 0;
}

static int read_all(const struct text_source *text, struct canon *canon, const int *error,
                    bool *ret_cut)
{
    _cleanup_free_ uint8_t *bytes = malloc(READ_BYTES);
    struct reading reading = {.error = error};
    struct fd_whole whole;
    struct text_form form;
    ssize_t n;
    int r = bytes ? fd_whole_begin(&whole, text->fd) : -ENOMEM;
    if (r == 0)
        r = most_bytes(text->fd, &reading.most);
    if (r < 0)
        return r;
    canon_on_unpacking(canon, goes_on, &reading);
    canon_begin_known(canon, text->as);
    for (uint64_t n_read = 0; goes_on(&reading, n_read); n_read += (uint64_t)n) {
        n = fd_whole_read(&whole, bytes, READ_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        canon_feed(canon, bytes, (size_t)n);
    }
    canon_finish(canon, &form);
    *ret_cut = reading.is_cut;
    return *error;
}

int bag_reader_read(struct bag_reader *reader, const struct text_source *text, const int *error,
                    struct bag *ret_content, struct bag *ret_title,
                    struct bag_document_counts *ret_counts)
{
    bag_document_begin(reader->document, BAG_NO_TARGET);
    bool is_cut = false;
    int r = read_all(text, reader->canon, error, &is_cut);
    if (r == 0)
        r = bag_document_finish(reader->document, ret_content, ret_title, ret_counts);
    if (r == 0)
        ret_counts->cut |= is_cut;
    return r;
}

int document_bag_read(const struct text_source *text, const struct word_options *words,
                      uint32_t window, struct document_bag *bag)
{
    _cleanup_(bag_reader_done) struct bag_reader reader;
    const struct bag_document_options options = {
        .words = *words, .before = window, .after = window, .most_words = DOCUMENT_BAG_MOST_WORDS};
    const struct bag_document_sink sink = {target_of, take_window, take_word, bag};
    int r = bag_reader_new(&options, &sink, &reader);
    if (r == 0)
        r = bag_reader_read(&reader, text, &bag->error, &bag->content, &bag->title, &bag->counts);
    return r < 0 ? r : bag->error;
}

void document_bag_done(struct document_bag *bag)
{
    spellings_done(&bag->stems);
    spellings_done(&bag->targets);
    bag_done(&bag->content);
    bag_done(&bag->title);
    for (size_t i = 0; i < bag->n_windows; i++)
        bag_done(&bag->windows[i].words);
    free(bag->windows);
    *bag = (struct document_bag){0};
}
