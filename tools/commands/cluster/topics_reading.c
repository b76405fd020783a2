/* Links of HTML have the words around them, as the paper says. Of other formats
 * (engine/topic/links) it is not known where in the text a link stands: they have the words by
 * which they link.
 */
#include "tools/commands/cluster/topics_reading.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/files/fd_whole.h"
#include "base/files/file_key.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/extract/sketching.h"
#include "engine/topic/bags/bag_document.h"
#include "engine/topic/links/link_place.h"
#include "tools/commands/links/linked_tree.h"
#include "tools/documents/document_links.h"
#include "tools/documents/regular_file.h"
#include "tools/show/message.h"

enum { READ_BYTES = 64 * 1024, DOCUMENTS_AT_ONCE = 16, LOOKED = 1 << 14 };

/* Takes canonical text to a bag. */
struct text_bag {
    struct bag_document *document;
    struct canon *canon;
};

/* The kind of thing at a name of the tree, by a hash; of zeroes: not known. */
struct looked {
    uint64_t hash;
    enum link_is is;
};

struct run {
    struct topics_reading *reading;
    const struct shingle_hash *hash;
    struct linked_owners owners;
    struct linked_tree *trees; /* one a thread */
    pthread_mutex_t mutex;     /* of the bags and names */
    uint32_t next;             /* DOCUMENTS_AT_ONCE documents, by atomic operations */
};

struct worker {
    struct run *run;
    struct linked_tree *tree;
    struct link_tree view;
    struct extractor_choice *choice;
    struct text_bag page, words; /* of a document; of the text of a link */
    struct place_way way;        /* to the document */
    const char *name;            /* of the document, in the tree */
    uint64_t own;                /* its fingerprint */
    uint32_t n_links;            /* of the document, that led somewhere or not */
    bool is_made;                /* its text is what an extractor has made */
    int error;
    uint8_t bytes[READ_BYTES];
    struct looked looked[LOOKED]; /* the last ones; most pages of a site link to the same */
};

static void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    extractor_choice_free(worker->choice);
    canon_free(worker->page.canon);
    canon_free(worker->words.canon);
    bag_document_free(worker->page.document);
    bag_document_free(worker->words.document);
    place_way_done(&worker->way);
    free(worker);
}
DEFINE_CLEANUP(struct worker *, worker_free);

static void keep(struct worker *worker, int r)
{
    if (r < 0 && worker->error == 0)
        worker->error = r;
}

/* -- what is said of whom -- */

static void add_fragment(struct worker *worker, uint64_t target, const struct bag *fragment)
{
    struct run *run = worker->run;
    pthread_mutex_lock(&run->mutex);
    int r = target_bags_add(run->reading->bags, target, fragment);
    pthread_mutex_unlock(&run->mutex);
    keep(worker, r);
}

static enum link_is look(void *user, const char *name)
{
    struct worker *worker = user;
    const uint64_t hash = XXH3_64bits_withSeed(name, strlen(name), file_key_secret);
    struct looked *looked = &worker->looked[hash % LOOKED];
    if (looked->hash != hash) {
        const enum link_is is = linked_tree_is(worker->tree, name);
        if (worker->tree->is_late) /* it was not looked for */
            return is;
        *looked = (struct looked){hash, is};
    }
    return looked->is;
}

/* BAG_NO_TARGET: it leads nowhere that is to have a bag. */
static uint64_t target_of(struct worker *worker, const struct link *link)
{
    struct run *run = worker->run;
    struct link_place place;
    if (worker->n_links++ >= TOPICS_READING_MOST_LINKS)
        return BAG_NO_TARGET;
    if (worker->tree->is_late || link_place_find(link, worker->name, &worker->view, &place) < 0 ||
        worker->tree->is_late)
        return BAG_NO_TARGET;
    if (place.outside)
        place.name[strcspn(place.name, "#")] = '\0';
    if ((place.outside && !*place.name) || (worker->is_made && !place.outside))
        return BAG_NO_TARGET; /* within a book */
    const uint64_t target = link_name_fingerprint(place.outside, place.name);
    if (target == worker->own)
        return target;
    pthread_mutex_lock(&run->mutex);
    int r = topics_names_add(run->reading->names, target, place.outside, place.name);
    pthread_mutex_unlock(&run->mutex);
    keep(worker, r);
    return target;
}

static uint64_t take_target(void *user, const char *href, size_t href_bytes)
{
    const struct link link = {.kind = LINK_URL, .target = href, .target_bytes = href_bytes};
    return target_of(user, &link);
}

static void take_window(void *user, uint64_t target, const struct bag *fragment)
{
    add_fragment(user, target, fragment);
}

/* A link of another format than HTML. */
static void take_link(void *user, const struct link *link)
{
    struct worker *worker = user;
    struct topics_reading *reading = worker->run->reading;
    struct bag_document_counts counts;
    struct text_form form;
    struct bag content, title;
    const uint64_t target = target_of(worker, link);
    __atomic_fetch_add(&reading->n_links, 1, __ATOMIC_RELAXED);
    if (target == BAG_NO_TARGET || target == worker->own)
        return;
    bag_document_begin(worker->words.document, BAG_NO_TARGET);
    canon_begin_as(worker->words.canon, TEXT_PLAIN);
    canon_feed(worker->words.canon, link->text, link->text_bytes);
    canon_finish(worker->words.canon, &form);
    int r = bag_document_finish(worker->words.document, &content, &title, &counts);
    keep(worker, r);
    if (r < 0)
        return;
    if (content.n_words) {
        add_fragment(worker, target, &content);
        __atomic_fetch_add(&reading->n_windows, 1, __ATOMIC_RELAXED);
    }
    bag_done(&content);
    bag_done(&title);
}

/* -- a document -- */

static void take_made(void *user, const void *bytes, size_t size_bytes)
{
    struct worker *worker = user;
    canon_feed(worker->page.canon, bytes, size_bytes);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static bool is_bounded(void *user, uint64_t n_bytes)
{
    (void)user;
    return n_bytes <= SKETCHING_MOST_BYTES;
}

static int read_made(struct worker *worker, int fd, const struct extractor *extractor,
                     char reason[SKETCHING_REASON_BYTES])
{
    char why[EXTRACTOR_REASON_BYTES] = "";
    const struct extractor_run run = {
        .extractor = extractor, .document = fd, .output = take_made, .stop = never, .user = worker};
    canon_begin_as(worker->page.canon, extractor->lines               ? TEXT_EXTRACTED
                                       : extractor->type == TEXT_EPUB ? TEXT_EPUB
                                                                      : TEXT_PLAIN);
    int r = extractor_run(&run, why);
    if (r == -EBADMSG)
        snprintf(reason, SKETCHING_REASON_BYTES, "%s: %s", extractor->name, why);
    return r < 0 ? r : 0;
}

static int read_own(struct worker *worker, struct fd_whole *whole, size_t n_head)
{
    canon_begin(worker->page.canon);
    for (ssize_t n = (ssize_t)n_head; n != 0; n = fd_whole_read(whole, worker->bytes, READ_BYTES)) {
        if (n < 0)
            return (int)n;
        canon_feed(worker->page.canon, worker->bytes, (size_t)n);
    }
    return 0;
}

/* Returns 1 where its type is left out. */
static int read_text(struct worker *worker, int fd, struct text_form *ret_form,
                     char reason[SKETCHING_REASON_BYTES])
{
    struct topics_reading *reading = worker->run->reading;
    const struct extractor *extractor;
    struct fd_whole whole;
    enum text_type type;
    int r = fd_whole_begin(&whole, fd);
    if (r < 0)
        return r;
    if ((uint64_t)whole.end > SKETCHING_MOST_BYTES)
        return sketching_refuse(reason);
    const ssize_t n = fd_whole_read(&whole, worker->bytes, READ_BYTES);
    if (n < 0)
        return (int)n;
    if (extractors_leave_out(reading->extractors, fd, worker->bytes, (size_t)n, &type))
        return 1;
    extractor_choose(worker->choice, fd, worker->bytes, (size_t)n, &extractor); /* tells all */
    worker->is_made = extractor;
    r = extractor ? read_made(worker, fd, extractor, reason) : read_own(worker, &whole, (size_t)n);
    canon_finish(worker->page.canon, ret_form);
    __atomic_fetch_add(&reading->n_bytes, (uint64_t)whole.at, __ATOMIC_RELAXED);
    return r < 0 ? r : (extractors_left_out(reading->extractors) >> ret_form->type & 1) != 0;
}

static int read_document(struct worker *worker, int fd, const char *path,
                         char reason[SKETCHING_REASON_BYTES])
{
    struct topics_reading *reading = worker->run->reading;
    struct bag_document_counts counts;
    struct text_form form;
    struct bag content, title;
    bag_document_begin(worker->page.document, worker->own);
    int r = read_text(worker, fd, &form, reason);
    if (r != 0)
        return r < 0 ? r : 0;
    r = bag_document_finish(worker->page.document, &content, &title, &counts);
    if (r < 0)
        return r;
    if (reading->kind != TOPICS_ANCHOR)
        add_fragment(worker, worker->own, &content);
    if (reading->kind != TOPICS_CONTENT)
        add_fragment(worker, worker->own, &title);
    bag_done(&content);
    bag_done(&title);
    if (counts.cut && reading->kind != TOPICS_ANCHOR)
        remark("%s: of more than %u different words the others do not count", path,
               TOPICS_READING_MOST_WORDS);
    __atomic_fetch_add(&reading->n_links, counts.n_links, __ATOMIC_RELAXED);
    __atomic_fetch_add(&reading->n_windows, counts.n_windows, __ATOMIC_RELAXED);
    if (reading->kind == TOPICS_CONTENT || worker->is_made || form.type == TEXT_HTML ||
        worker->tree->is_over)
        return 0;
    bool cut;
    return document_links_read(fd, worker->name, &(struct link_sink){take_link, worker}, &cut);
}

static void remark_links(const struct worker *worker, const char *path)
{
    if (worker->n_links > TOPICS_READING_MOST_LINKS)
        remark("%s: of more than %u links the others do not count", path,
               TOPICS_READING_MOST_LINKS);
    linked_tree_end(worker->tree, path);
}

/* Returns 0, -ENOMEM or an error of the bags: what cannot be read is complained of. */
static int take_document(struct worker *worker, uint32_t i)
{
    struct run *run = worker->run;
    const struct document_list *list = run->reading->list;
    char reason[SKETCHING_REASON_BYTES] = "";
    _cleanup_free_ char *path = document_list_path(list, i), *name = NULL;
    struct stat st;
    if (!path)
        return -ENOMEM;
    _cleanup_close_ int fd = regular_file_open_found(list, i, &worker->way);
    int r = fd < 0 ? fd : linked_tree_name_of(worker->tree, list, i, &name);
    if (r == 0 && fstat(fd, &st) < 0)
        r = -errno;
    if (r == 0) {
        worker->name = name;
        worker->n_links = 0;
        linked_tree_begin(worker->tree, &st);
        worker->own = link_name_fingerprint(false, name);
        pthread_mutex_lock(&run->mutex);
        keep(worker, topics_names_add_document(run->reading->names, worker->own, i));
        pthread_mutex_unlock(&run->mutex);
        r = read_document(worker, fd, path, reason);
        remark_links(worker, path);
    }
    if (worker->error < 0 || r == 0 || r == -ENOMEM)
        return worker->error < 0 ? worker->error : r;
    complain("%s: %s; left out", path,
             *reason        ? reason
             : r == -EINVAL ? "not a regular file"
             : r == -ESTALE ? "replaced since it was found"
             : r == -EXDEV  ? "another user's mount, which can show anything"
                            : strerror(-r));
    __atomic_fetch_add(&run->reading->n_unread, 1, __ATOMIC_RELAXED);
    return 0;
}

/* -- all of them -- */

static int text_bag_init(struct worker *worker, bool links, struct text_bag *ret_bag)
{
    const struct topics_reading *reading = worker->run->reading;
    const struct bag_document_options options = {.words = bag_words_default(),
                                                 .hash = worker->run->hash,
                                                 .before = reading->window,
                                                 .after = reading->window,
                                                 .most_words = TOPICS_READING_MOST_WORDS};
    const struct bag_document_sink sink = {
        .target = links ? take_target : NULL, .window = links ? take_window : NULL, .user = worker};
    int r = bag_document_new(&options, &sink, &ret_bag->document);
    if (r < 0)
        return r;
    const struct canon_sink canon = bag_document_sink(ret_bag->document);
    r = canon_new(&canon, &ret_bag->canon);
    if (r == 0)
        canon_on_unpacking(ret_bag->canon, is_bounded, NULL);
    return r;
}

static int read_documents(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    struct topics_reading *reading = run->reading;
    const uint32_t n = reading->list->n;
    _cleanup_(worker_free_p) struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->run = run;
    worker->tree = &run->trees[thread];
    worker->view = (struct link_tree){look, worker, !*worker->tree->top};
    int r = extractor_choice_new(reading->extractors, true, &worker->choice);
    if (r == 0)
        r = text_bag_init(worker, reading->kind != TOPICS_CONTENT, &worker->page);
    if (r == 0)
        r = text_bag_init(worker, false, &worker->words);
    while (r == 0 && !parallel_stopped(stop)) {
        const uint64_t first = (uint64_t)DOCUMENTS_AT_ONCE * parallel_next(&run->next);
        if (first >= n)
            break;
        const uint32_t until =
            n - first < DOCUMENTS_AT_ONCE ? n : (uint32_t)first + DOCUMENTS_AT_ONCE;
        for (uint32_t i = (uint32_t)first; r == 0 && i < until; i++)
            r = take_document(worker, i);
        if (thread == 0)
            progress_phase(reading->progress, "bags", until, n);
    }
    return r;
}

/* The same words have the same fingerprints in each run, so that the clusters are the same: who
 * wrote the documents could know them. */
static int make_hash(struct shingle_hash **ret_hash)
{
    struct policy policy;
    int r = policy_preset("default", &policy);
    memset(policy.key, 0, sizeof(policy.key));
    return r < 0 ? r : shingle_hash_new(&policy, ret_hash);
}

int topics_reading_run(struct topics_reading *reading)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    const int64_t begin_us = clock_now_us();
    struct run run = {.reading = reading,
                      .mutex = PTHREAD_MUTEX_INITIALIZER,
                      .owners = {.mutex = PTHREAD_MUTEX_INITIALIZER}};
    run.trees = calloc(reading->n_threads, sizeof(*run.trees));
    int r = run.trees ? make_hash(&hash) : -ENOMEM;
    for (unsigned i = 0; r == 0 && i < reading->n_threads; i++) {
        run.trees[i].owners = &run.owners;
        r = linked_tree_open(&run.trees[i], reading->tree, NULL);
    }
    run.hash = hash;
    if (r == 0)
        r = parallel_run(reading->n_threads, read_documents, &run, &reading->cpu_s);
    for (unsigned i = 0; run.trees && i < reading->n_threads; i++)
        linked_tree_done(&run.trees[i]);
    free(run.trees);
    linked_owners_done(&run.owners);
    reading->wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    progress_done(reading->progress);
    return r;
}
