/* What a batch leaves in a directory, and what is made of it. */
#include "tests/unit/engine/cluster/batch_world.h"

#include <endian.h>
#include <errno.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

static const char *keep_directory(void)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/keep", scratch_group);
    return path;
}

static struct batch_options options_of(uint32_t n, enum batch_mode mode, double threshold)
{
    struct batch_options options = world_options(scratch_group, n, mode, threshold);
    options.keep = keep_directory();
    return options;
}

static struct batch *resume(const struct batch_options *options, enum batch_phase from)
{
    struct batch *batch;
    struct batch_options others = *options;
    others.n_documents = 1; /* not asked for */
    assert_int_equal(batch_resume(&others, from, &batch), 0);
    assert_int_equal(batch_run(batch), 0);
    return batch;
}

static void expect_the_same(const struct batch *batch, const struct batch *other, uint32_t n)
{
    const struct batch_totals *a = batch_totals(batch), *b = batch_totals(other);
    assert_memory_equal(batch_clusters(batch), batch_clusters(other), n * sizeof(uint32_t));
    assert_memory_equal(&a->equivalence, &b->equivalence, sizeof(a->equivalence));
    assert_int_equal(a->n_documents, b->n_documents);
    assert_int_equal(a->n_empty, b->n_empty);
    assert_int_equal(a->lists.n_lists, b->lists.n_lists);
    assert_int_equal(a->lists.n_pairs, b->lists.n_pairs);
    assert_int_equal(a->lists.n_counted, b->lists.n_counted);
    assert_int_equal(a->lists.n_left_out, b->lists.n_left_out);
    assert_int_equal(a->n_clusters, b->n_clusters);
    assert_int_equal(a->n_clustered, b->n_clustered);
    assert_int_equal(a->n_identical_clusters, b->n_identical_clusters);
}

static void make_world(struct world *world, uint32_t n)
{
    struct policy policy;
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    assert_int_equal(policy_preset("broder1997", &policy), 0);
    world_begin(world, &policy);
    assert_int_equal(planted_new(8, n, policy.w, &planted), 0);
    world_add_planted(world, planted, 0, n);
    for (unsigned i = 0; i < 3; i++) /* without words, of which two are the same */
        world_add(world, "  ", 1 + i % 2);
}

/* From sketches that were made once, in whatever memory, each mode and threshold makes what it
 * makes of the documents. */
static void test_batch_keep__any_mode_and_threshold_from_the_same_sketches(void **state)
{
    (void)state;
    const uint32_t n = part_of(12000);
    const double thresholds[] = {0.5, 1};
    struct world world;
    make_world(&world, n);
    for (unsigned kept = 0; kept < 2; kept++) {
        struct batch_options first = options_of(world.n, BATCH_FAST, 0.5);
        first.memory_bytes = kept ? batch_least_memory(world.n) : (uint64_t)1 << 30;
        batch_free(world_batch(&world, &first));
        for (unsigned i = 0; i < 2 * BATCH_N_MODES; i++) {
            struct batch_options options = options_of(world.n, i / 2, thresholds[i % 2]);
            options.memory_bytes = kept ? (uint64_t)1 << 30 : batch_least_memory(world.n);
            _cleanup_(batch_free_p) struct batch *resumed = resume(&options, BATCH_DUPLICATES);
            options.keep = NULL;
            _cleanup_(batch_free_p) struct batch *whole = world_batch(&world, &options);
            expect_the_same(resumed, whole, world.n);
            assert_true(batch_totals(resumed)->load.read_bytes > (uint64_t)n * 500);
            assert_int_equal(batch_totals(resumed)->n_documents, n + 3);
            assert_int_equal(batch_totals(resumed)->n_empty, 3);
        }
    }
    world_end(&world);
}

static void unlink_kept(const char *name)
{
    assert_int_equal(unlink(scratch_path(keep_directory(), "%s", name)), 0);
}

/* C18: another threshold takes the last phase only. Nothing is sketched, sorted or paired anew, and
 * the sketches need not even be there; the result is that of a run from the beginning. */
static void test_batch_keep__another_threshold_takes_the_last_phase_only(void **state)
{
    (void)state;
    const double thresholds[] = {0.3, 0.5, 0.65, 0.8, 0.9999};
    struct world world;
    make_world(&world, 6000);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    batch_free(world_batch(&world, &options));
    assert_int_equal(truncate(scratch_path(keep_directory(), "sketches"), 0), 0);
    uint64_t last = UINT64_MAX;
    for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        options = options_of(world.n, BATCH_BRODER1997, thresholds[i]);
        _cleanup_(batch_free_p) struct batch *resumed = resume(&options, BATCH_CLUSTERS);
        options.keep = NULL;
        _cleanup_(batch_free_p) struct batch *whole = world_batch(&world, &options);
        expect_the_same(resumed, whole, world.n);
        const struct batch_totals *totals = batch_totals(resumed);
        assert_true(totals->load.wall_s == 0);
        for (enum batch_phase phase = 0; phase < BATCH_CLUSTERS; phase++)
            assert_true(totals->cost[phase].wall_s == 0 && totals->cost[phase].read_bytes == 0);
        assert_int_equal(totals->scratch_bytes, 0);
        assert_true(totals->n_clustered < last);
        last = totals->n_clustered;
    }
    world_end(&world);
}

/* A single pair is kept as well. */
static void test_batch_keep__keeps_a_single_pair(void **state)
{
    (void)state;
    struct world world;
    struct policy policy;
    assert_int_equal(policy_preset("broder1997", &policy), 0);
    policy.m = 1;
    world_begin(&world, &policy);
    world_add(&world, "a b c d e f g h i j k l m", 25);
    world_add(&world, "a b c d e f g h i j k l n", 25);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    batch_free(world_batch(&world, &options));
    _cleanup_(batch_free_p) struct batch *resumed = resume(&options, BATCH_CLUSTERS);
    assert_int_equal(batch_begins_with(resumed), BATCH_CLUSTERS);
    assert_int_equal(batch_totals(resumed)->n_clustered, 2);
    world_end(&world);
}

/* From each phase the clusters are those of a run from the beginning; where it begins is the phase
 * itself, or the nearest before it of which something is kept. */
static void test_batch_keep__begins_with_any_phase(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 3000);
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        struct batch_options options = options_of(world.n, mode, 0.5), other = options;
        other.keep = NULL;
        _cleanup_(batch_free_p) struct batch *whole = world_batch(&world, &other);
        batch_free(world_batch(&world, &options));
        for (unsigned i = 0; i < 2 * BATCH_N_PHASES; i++) {
            const enum batch_phase from = i / 2;
            options.cap = from % 2 ? 999 : 0;
            /* Pairs of another cap are of no use; of this one there are some the second time. */
            bool has_pairs = mode == BATCH_BRODER1997 && from == BATCH_CLUSTERS && i % 2;
            _cleanup_(batch_free_p) struct batch *resumed = resume(&options, from);
            assert_int_equal(batch_begins_with(resumed),
                             has_pairs ? BATCH_CLUSTERS : BATCH_DUPLICATES);
            assert_int_equal(batch_totals(resumed)->load.read_bytes == 0, has_pairs);
            expect_the_same(resumed, whole, world.n);
        }
        unlink_kept("pairs");
        _cleanup_(batch_free_p) struct batch *resumed = resume(&options, BATCH_CLUSTERS);
        assert_int_equal(batch_begins_with(resumed), BATCH_DUPLICATES);
        expect_the_same(resumed, whole, world.n);
    }
    world_end(&world);
}

static int try_resume(const struct batch_options *options, enum batch_phase from)
{
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    int r = batch_resume(options, from, &batch);
    return r < 0 ? r : batch_run(batch);
}

static void flip(const char *name, off_t at)
{
    const char *path = scratch_path(keep_directory(), "%s", name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    uint8_t byte;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 16;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* A byte that is not what it was is found, in each file; and what is not there. */
static void test_batch_keep__tells_what_is_damaged(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 3000);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    batch_free(world_batch(&world, &options));
    const struct {
        const char *name;
        off_t at;
        enum batch_phase from;
    } damages[] = {
        {"sketches", 1000, BATCH_DUPLICATES},   {"sketches", (2 << 20) + 7, BATCH_DUPLICATES},
        {"sketches.head", 3, BATCH_DUPLICATES}, {"sketches.head", 50, BATCH_DUPLICATES},
        {"sketches.head", 3, BATCH_CLUSTERS},   {"pairs", 5, BATCH_CLUSTERS},
        {"pairs", 4000, BATCH_CLUSTERS},        {"pairs.head", 60, BATCH_CLUSTERS},
        {"duplicates", 8000, BATCH_CLUSTERS},
    };
    for (unsigned i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        assert_int_equal(try_resume(&options, damages[i].from), 0);
        flip(damages[i].name, damages[i].at);
        if (try_resume(&options, damages[i].from) != -EUCLEAN)
            fail_msg("%s at %ld", damages[i].name, (long)damages[i].at);
        flip(damages[i].name, damages[i].at);
    }
    assert_int_equal(truncate(scratch_path(keep_directory(), "sketches"), 1 << 20), 0);
    assert_int_equal(try_resume(&options, BATCH_DUPLICATES), -EUCLEAN);
    assert_int_equal(truncate(scratch_path(keep_directory(), "pairs"), 1000), 0);
    assert_int_equal(try_resume(&options, BATCH_CLUSTERS), -EUCLEAN);
    unlink_kept("sketches.head");
    assert_int_equal(try_resume(&options, BATCH_DUPLICATES), -ENOENT);
    world_end(&world);
}

static size_t read_kept(const char *name, uint8_t *bytes, size_t room)
{
    int fd = open(scratch_path(keep_directory(), "%s", name), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t n = read(fd, bytes, room);
    close(fd);
    assert_true(n > 0 && (size_t)n < room);
    return (size_t)n;
}

static void write_kept(const char *name, const uint8_t *bytes, size_t n)
{
    int fd = open(scratch_path(keep_directory(), "%s", name), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* Another document that one was joined to, with checksums that are right: of the arrays one after
 * the other, in the head behind five numbers; and of the head, at its end. Returns what it was. */
static uint32_t forge_parent(uint32_t n, uint32_t document, uint32_t parent)
{
    static uint8_t arrays[1 << 20], head[4096];
    const size_t n_mark_bytes = (n / 64 + 1) * 8;
    const size_t sizes[] = {n * sizeof(uint32_t), n_mark_bytes, n_mark_bytes};
    size_t n_bytes = read_kept("duplicates", arrays, sizeof(arrays)),
           n_head_bytes = read_kept("pairs.head", head, sizeof(head)), at = 0;
    uint64_t sum = 0;
    uint32_t before;
    memcpy(&before, arrays + document * sizeof(parent), sizeof(before));
    memcpy(arrays + document * sizeof(parent), &parent, sizeof(parent));
    for (unsigned i = 0; i < 3; at += sizes[i++])
        sum = XXH3_64bits_withSeed(arrays + at, sizes[i], sum);
    assert_int_equal(at, n_bytes);
    memcpy(head + 5 * sizeof(sum), &sum, sizeof(sum));
    sum = XXH3_64bits(head, n_head_bytes - sizeof(sum));
    memcpy(head + n_head_bytes - sizeof(sum), &sum, sizeof(sum));
    write_kept("duplicates", arrays, n_bytes);
    write_kept("pairs.head", head, n_head_bytes);
    return before;
}

/* What is kept may come from elsewhere: what no run leaves is refused, be its checksums right. */
static void test_batch_keep__refuses_what_no_run_leaves(void **state)
{
    (void)state;
    struct world world;
    make_world(&world, 300);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    batch_free(world_batch(&world, &options));
    const struct {
        uint32_t document, parent;
    } forged[] = {{world.n - 1, UINT32_MAX}, {world.n - 1, world.n}, {7, 1 << 30}, {7, 8}};
    for (unsigned i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        uint32_t before = forge_parent(world.n, forged[i].document, forged[i].parent);
        if (try_resume(&options, BATCH_CLUSTERS) != -EUCLEAN)
            fail_msg("%u joined to %u", forged[i].document, forged[i].parent);
        forge_parent(world.n, forged[i].document, before);
        assert_int_equal(try_resume(&options, BATCH_CLUSTERS), 0);
    }
    world_end(&world);
}

/* -- sketches and pairs that no run leaves -- */

enum {
    BLOCK_BYTES = 1 << 20,
    N_FORGED = 8,    /* documents, of 110 words each: sketches that hold all shingles */
    WORDS_BEFORE = 6 /* of a document, as sketch_file.c has them */
};

/* Words of a block of sketches, of the document that begins there. */
struct kept_words {
    uint32_t *number, *n_values;
    uint64_t *below, *v_below, *values, *end;
};

static struct kept_words words_of(uint64_t *at)
{
    uint32_t *counts = (uint32_t *)at;
    uint32_t n = be32toh(counts[1]) - 1;
    return (struct kept_words){&counts[0],
                               &counts[1],
                               at + WORDS_BEFORE,
                               at + WORDS_BEFORE + 1,
                               at + WORDS_BEFORE + 2,
                               at + WORDS_BEFORE + (n ? 2 + n : 0)};
}

static void too_few_for_a_bound(struct kept_words words)
{
    *words.below = UINT64_C(1) << 63;
    for (uint64_t *value = words.values; value < words.end; value++)
        *value >>= 1;
}

static void in_no_order(struct kept_words words)
{
    uint64_t first = words.values[0];
    words.values[0] = words.values[1];
    words.values[1] = first;
}

static void twice(struct kept_words words)
{
    words.values[1] = words.values[0];
}

static void of_no_modulus(struct kept_words words)
{
    *words.v_below = 3;
}

static void of_the_first_number(struct kept_words words)
{
    *words.number = 0;
}

static void of_no_number(struct kept_words words)
{
    *words.number = htobe32(N_FORGED + 1);
}

static void of_too_many_values(struct kept_words words)
{
    *words.n_values = htobe32(POLICY_V_MAX + 2);
}

static void put_sum(uint8_t *bytes, size_t n_bytes)
{
    uint64_t sum = XXH3_64bits(bytes, n_bytes - sizeof(sum));
    memcpy(bytes + n_bytes - sizeof(sum), &sum, sizeof(sum));
}

/* All sketches of the first block, or its last document alone; the checksum is right. */
static void forge_sketches(const uint8_t *as_it_was, void (*forge)(struct kept_words), bool all)
{
    static uint64_t block[BLOCK_BYTES / 8];
    memcpy(block, as_it_was, BLOCK_BYTES);
    for (uint64_t *at = block, *end; *at; at = end) {
        struct kept_words words = words_of(at);
        end = words.end;
        if (forge && (all ? end > words.below : !*end))
            forge(words);
    }
    put_sum((uint8_t *)block, BLOCK_BYTES);
    write_kept("sketches", (const uint8_t *)block, BLOCK_BYTES);
}

static void expect_refused(const struct batch_options *options, enum batch_phase from, int expected,
                           const char *what, unsigned number)
{
    int r = try_resume(options, from);
    if (r != expected)
        fail_msg("%s %u, mode %u: %d", what, number, (unsigned)options->mode, r);
}

/* Each shares most shingles with the next; and two without any. */
static void make_small_world(struct world *world)
{
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(world, &policy);
    for (unsigned i = 0; i < N_FORGED - 1; i++) {
        char *text = scratch_text(1, i, 110, 3);
        world_add(world, text, strlen(text));
        free(text);
    }
    world_add(world, "  ", 1);
    world_add(world, "  ", 2);
}

static void test_batch_keep__refuses_sketches_that_no_run_leaves(void **state)
{
    static uint8_t bytes[2 * BLOCK_BYTES];
    (void)state;
    struct world world;
    make_small_world(&world);
    const struct {
        void (*forge)(struct kept_words);
        bool all;
    } forged[] = {
        {too_few_for_a_bound, true}, {in_no_order, true},          {twice, true},
        {of_no_modulus, true},       {of_the_first_number, false}, {of_no_number, false},
        {of_too_many_values, false},
    };
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        struct batch_options options = options_of(world.n, mode, 0.5);
        batch_free(world_batch(&world, &options));
        assert_int_equal(read_kept("sketches", bytes, sizeof(bytes)), BLOCK_BYTES);
        for (unsigned i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
            forge_sketches(bytes, forged[i].forge, forged[i].all);
            expect_refused(&options, BATCH_DUPLICATES, -EUCLEAN, "sketches", i);
            forge_sketches(bytes, NULL, false);
            expect_refused(&options, BATCH_DUPLICATES, 0, "sketches", i);
        }
    }
    world_end(&world);
}

/* Of which there are more than documents, or more without a shingle than were added. */
static void test_batch_keep__refuses_counts_that_no_run_leaves(void **state)
{
    enum { N_ADDED_AT = 8 + POLICY_ENCODED_BYTES + 8, N_EMPTY_AT = N_ADDED_AT + 8 };
    static uint8_t head[4096];
    (void)state;
    struct world world;
    make_small_world(&world);
    struct batch_options options = options_of(world.n, BATCH_EXACT, 0.5);
    batch_free(world_batch(&world, &options));
    const size_t places[] = {N_ADDED_AT, N_EMPTY_AT};
    size_t n = read_kept("sketches.head", head, sizeof(head));
    for (unsigned i = 0; i < 2; i++) {
        uint64_t before, forged = world.n + 1;
        memcpy(&before, head + places[i], sizeof(before));
        assert_int_equal(before, i == 0 ? world.n : 2);
        memcpy(head + places[i], &forged, sizeof(forged));
        put_sum(head, n);
        write_kept("sketches.head", head, n);
        expect_refused(&options, BATCH_DUPLICATES, -EUCLEAN, "counts", i);
        memcpy(head + places[i], &before, sizeof(before));
    }
    world_end(&world);
}

/* A pair is of two documents, the smaller before the larger, that share at least one shingle and no
 * more than there are. */
static void test_batch_keep__refuses_pairs_that_no_run_leaves(void **state)
{
    static uint8_t bytes[2 * BLOCK_BYTES];
    (void)state;
    struct world world;
    make_world(&world, 300);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    options.n_threads = 1; /* each that has pairs writes a block */
    batch_free(world_batch(&world, &options));
    assert_int_equal(read_kept("pairs", bytes, sizeof(bytes)), BLOCK_BYTES);
    const uint32_t forged[][4] = {{1, 1, 1, 1}, {2, 1, 1, 1},       {1, 2, 0, 0}, {1, 2, 0, 5},
                                  {1, 2, 6, 5}, {1, world.n, 1, 1}, {1, 2, 1, 0}};
    for (unsigned i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        memcpy(bytes + 8, forged[i], sizeof(forged[i]));
        put_sum(bytes, BLOCK_BYTES);
        write_kept("pairs", bytes, BLOCK_BYTES);
        expect_refused(&options, BATCH_CLUSTERS, -EUCLEAN, "pair", i);
    }
    world_end(&world);
}

/* A run that did not come to its end leaves nothing that another would take for complete; one that
 * is under way has its directory for itself; and what is somebody else's is not touched. */
static void test_batch_keep__refuses_what_is_not_there(void **state)
{
    (void)state;
    struct world world;
    struct batch *batch, *other = NULL;
    struct policy policy;
    make_world(&world, 100);
    struct batch_options options = options_of(world.n, BATCH_BRODER1997, 0.5);
    batch_free(world_batch(&world, &options));
    uint32_t n = 0;
    assert_int_equal(batch_kept_documents(options.keep, &policy, &n), 0);
    assert_int_equal(n, world.n);
    assert_int_equal(policy_id(&policy), policy_id(&world.policy));

    assert_int_equal(batch_new(&world.policy, &options, &batch), 0);
    assert_int_equal(batch_new(&world.policy, &options, &other), -EBUSY);
    assert_int_equal(batch_resume(&options, BATCH_DUPLICATES, &other), -EBUSY);
    batch_free(batch);
    assert_int_equal(batch_resume(&options, BATCH_DUPLICATES, &other), -ENOENT);
    assert_int_equal(batch_kept_documents(options.keep, &policy, &n), -ENOENT);

    batch_free(world_batch(&world, &options));
    assert_int_equal(batch_resume(&options, BATCH_N_PHASES, &other), -EINVAL);
    options.memory_bytes = batch_least_memory(world.n) - 1;
    assert_int_equal(batch_resume(&options, BATCH_DUPLICATES, &other), -E2BIG);

    options = options_of(world.n, BATCH_EXACT, 0.5);
    options.keep = scratch_path(scratch_group, "none");
    assert_int_equal(batch_resume(&options, BATCH_DUPLICATES, &other), -ENOENT);
    const char *others = scratch_path(scratch_group, "others");
    assert_int_equal(mkdir(others, 0755), 0);
    scratch_write(scratch_path(others, "sketches"), "mine");
    options.keep = others;
    assert_int_equal(batch_new(&world.policy, &options, &other), -ENOTEMPTY);
    struct stat st;
    assert_int_equal(stat(scratch_path(others, "sketches"), &st), 0);
    assert_int_equal(st.st_size, 4);
    assert_null(other);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_keep__any_mode_and_threshold_from_the_same_sketches),
        cmocka_unit_test(test_batch_keep__another_threshold_takes_the_last_phase_only),
        cmocka_unit_test(test_batch_keep__keeps_a_single_pair),
        cmocka_unit_test(test_batch_keep__begins_with_any_phase),
        cmocka_unit_test(test_batch_keep__tells_what_is_damaged),
        cmocka_unit_test(test_batch_keep__refuses_what_no_run_leaves),
        cmocka_unit_test(test_batch_keep__refuses_sketches_that_no_run_leaves),
        cmocka_unit_test(test_batch_keep__refuses_counts_that_no_run_leaves),
        cmocka_unit_test(test_batch_keep__refuses_pairs_that_no_run_leaves),
        cmocka_unit_test(test_batch_keep__refuses_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
