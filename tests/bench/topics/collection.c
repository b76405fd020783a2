#include "tests/bench/topics/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/extract/stem_counts.h"
#include "tools/commands/cluster/topics_reading.h"

enum { MEMORY_BYTES = 256 << 20 };

const char *collection_scratch(void)
{
    const char *directory = getenv("TMPDIR");
    return directory ? directory : "/tmp";
}

int collection_open(const char *tree, struct collection *ret_collection)
{
    const struct document_rules all = {0};
    char *path = (char *)tree;
    size_t failed;
    *ret_collection = (struct collection){.tree = tree};
    int r = document_list_add(&ret_collection->list, &path, 1, NULL, &all, &failed);
    const uint32_t n = ret_collection->list.n;
    if (r < 0)
        return r;
    ret_collection->names = calloc((size_t)n + 1, sizeof(*ret_collection->names));
    if (!ret_collection->names)
        return -ENOMEM;
    for (; ret_collection->n < n; ret_collection->n++) {
        _cleanup_free_ char *full = document_list_path(&ret_collection->list, ret_collection->n);
        char *name = full ? strdup(full + strlen(tree) + 1) : NULL;
        if (!name)
            return -ENOMEM;
        ret_collection->names[ret_collection->n] = name;
    }
    return 0;
}

void collection_done(struct collection *collection)
{
    for (uint32_t i = 0; i < collection->n; i++)
        free(collection->names[i]);
    free(collection->names);
    document_list_done(&collection->list);
    *collection = (struct collection){0};
}

void bags_done(struct bags *bags)
{
    for (uint32_t i = 0; i < bags->n; i++)
        bag_done(&bags->bags[i]);
    free(bags->bags);
    *bags = (struct bags){0};
}

static int bags_init(uint32_t n, struct bags *ret_bags)
{
    *ret_bags = (struct bags){.bags = calloc((size_t)n + 1, sizeof(*ret_bags->bags)), .n = n};
    return ret_bags->bags ? 0 : -ENOMEM;
}

static int keep(struct bags *bags, uint32_t document, const struct bag *bag)
{
    const struct bag nothing = {0};
    bag_done(&bags->bags[document]);
    return bag_merge(bag, &nothing, &bags->bags[document]);
}

static int begin(const struct bag_weighing *weighing, struct target_bags **ret_bags)
{
    const struct target_bags_options options = {.directory = collection_scratch(),
                                                .n_buckets = TARGET_BAGS_BUCKETS,
                                                .memory_bytes = MEMORY_BYTES,
                                                .weighing = *weighing,
                                                .numbers = BAG_WHOLE};
    return target_bags_new(&options, ret_bags);
}

/* -- with links -- */

struct making {
    struct topics_names *names;
    struct bags *bags;
};

static int take_target(void *user, uint64_t target, const struct bag *bag)
{
    struct making *making = user;
    const int64_t document = topics_names_next(making->names, target);
    if (document < 0)
        return (int)document;
    if (document == TOPICS_NO_DOCUMENT) {
        making->bags->n_other++;
        return 0;
    }
    return keep(making->bags, (uint32_t)document, bag);
}

int bags_of_links(struct collection *collection, const struct bags_way *way, struct bags *ret_bags)
{
    const struct bag_weighing weighing = {.least_df = 1, .most_df_share = 1, .idf = way->idf};
    _cleanup_(target_bags_free_p) struct target_bags *targets = NULL;
    _cleanup_(topics_names_free_p) struct topics_names *names = NULL;
    _cleanup_free_ char *error = NULL;
    struct extractors *extractors = NULL;
    struct progress progress = {0};
    struct target_bags_counts counts;
    struct bags bags;
    int r = bags_init(collection->n, &bags);
    if (r == 0)
        r = extractors_new(NULL, 0, 0, &extractors, &error);
    if (r == 0)
        r = begin(&weighing, &targets);
    if (r == 0)
        r = topics_names_new(collection_scratch(), MEMORY_BYTES, &names);
    if (r == 0) {
        struct topics_reading reading = {.list = &collection->list,
                                         .extractors = extractors,
                                         .tree = collection->tree,
                                         .kind = way->kind,
                                         .window = way->window,
                                         .n_threads = 1,
                                         .bags = targets,
                                         .names = names,
                                         .progress = &progress};
        r = topics_reading_run(&reading);
    }
    struct making making = {names, &bags};
    if (r == 0)
        r = topics_names_begin(names);
    if (r == 0)
        r = target_bags_finish(targets, take_target, &making, &counts);
    extractors_free(extractors);
    if (r < 0)
        bags_done(&bags);
    else
        *ret_bags = bags;
    return r;
}

/* -- as in an index -- */

/* Documents' numbers, from 1 on, as targets, which are to be uniform. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
#define GATHER UINT64_C(0xf1de83e19937733d)

static bool never(void *user)
{
    (void)user;
    return false;
}

static int take_document(void *user, uint64_t target, const struct bag *bag)
{
    return keep(user, (uint32_t)(target * GATHER - 1), bag);
}

static int count_document(struct sketching *sketching, struct stem_counts *counts, const char *path,
                          struct bag *ret_bag)
{
    char reason[SKETCHING_REASON_BYTES];
    struct document_sketch sketch;
    _cleanup_free_ uint8_t *row = NULL;
    size_t size;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : sketching_run_whole(sketching, fd, &sketch, reason);
    if (r == 0)
        r = stem_counts_finish(counts, &row, &size);
    return r < 0 ? r : bags_decode((struct kv_slice){row, size}, ret_bag);
}

static int count_documents(struct collection *collection, const struct policy *policy,
                           struct bags *counted)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(sketching_free_p) struct sketching *sketching = NULL;
    struct stem_counts *counts = NULL;
    struct extractors *extractors = NULL;
    _cleanup_free_ char *error = NULL;
    int r = shingle_hash_new(policy, &hash);
    if (r == 0)
        r = extractors_new(NULL, 0, 0, &extractors, &error);
    const struct sketching_by by = {policy, hash, extractors, true, false};
    if (r == 0)
        r = sketching_new(&by, never, NULL, &sketching);
    if (r == 0)
        r = stem_counts_collect(hash, sketching, &counts);
    for (uint32_t i = 0; r == 0 && i < collection->n; i++) {
        _cleanup_free_ char *path = document_list_path(&collection->list, i);
        r = path ? count_document(sketching, counts, path, &counted->bags[i]) : -ENOMEM;
    }
    sketching_free(TAKE_PTR(sketching));
    stem_counts_free(counts);
    extractors_free(extractors);
    return r;
}

int bags_of_index(struct collection *collection, const struct policy *policy,
                  const struct bag_weighing *weighing, struct bags *ret_bags)
{
    _cleanup_(target_bags_free_p) struct target_bags *targets = NULL;
    _cleanup_(bags_done) struct bags counted = {0};
    struct target_bags_counts counts;
    struct bags bags = {0};
    uint64_t n_bags = 0;
    int r = bags_init(collection->n, &counted);
    if (r == 0)
        r = bags_init(collection->n, &bags);
    if (r == 0)
        r = count_documents(collection, policy, &counted);
    for (uint32_t i = 0; r == 0 && i < collection->n; i++)
        n_bags += counted.bags[i].n_words > 0;
    const struct bag_weighing own = bags_weighing(n_bags);
    if (r == 0)
        r = begin(weighing ? weighing : &own, &targets);
    for (uint32_t i = 0; r == 0 && i < collection->n; i++)
        if (counted.bags[i].n_words)
            r = target_bags_add(targets, (i + 1) * SPREAD, &counted.bags[i]);
    if (r == 0)
        r = target_bags_finish(targets, take_document, &bags, &counts);
    if (r < 0)
        bags_done(&bags);
    else
        *ret_bags = bags;
    return r;
}
