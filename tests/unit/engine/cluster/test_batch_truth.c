/* Clusters of real documents against the exact sets of their shingles (nothing sampled, told apart
 * by 128 bits). Sketches that hold every shingle estimate without an error, so
 * that whatever mode exact made of them must be the truth. What sketches of the usual size make of
 * it is in docs/TRUTH.md. */
#include "tests/unit/engine/cluster/batch_world.h"

#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

enum { FILES_MAX = 700, BYTES_MAX = 100000 };

static uint32_t most_files; /* with those of the tree at hand */
static struct exact_set *sets[FILES_MAX];
static struct world world;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size > BYTES_MAX || world.n == most_files)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = malloc((size_t)st->st_size + 1);
    ssize_t n = fd >= 0 && bytes ? read(fd, bytes, (size_t)st->st_size) : -1;
    if (n >= 0 && lseek(fd, 0, SEEK_SET) == 0 &&
        exact_set_read(fd, NULL, world.policy.w, NULL, SIZE_MAX, &sets[world.n]) == 0)
        world_add(&world, bytes, (size_t)n);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return 0;
}

static bool exactly(const struct document_sketch *a, const struct document_sketch *b,
                    void *threshold)
{
    double r;
    return exact_set_resemblance(sets[a - world.documents], sets[b - world.documents], &r) == 0 &&
           r >= *(double *)threshold;
}

/* C1: mode exact is brute force over the exact sets of shingles */
static void test_batch_truth__exact_is_the_truth_where_sketches_hold_all(void **state)
{
    (void)state;
    const double thresholds[] = {0.25, 0.35, 0.5, 0.8};
    char scratch[64];
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    policy.s = POLICY_S_MAX;
    policy.m = 1;
    policy.v_max = POLICY_V_MAX;
    scratch_make(scratch);
    world_begin(&world, &policy);
    /* Copyrights resemble each other, sources hardly do. */
    most_files = part_of(FILES_MAX) / 2;
    nftw("/usr/share/doc", add_file, 16, FTW_PHYS);
    most_files = part_of(FILES_MAX);
    nftw(SOURCE_ROOT "/engine", add_file, 16, FTW_PHYS);
    nftw(SOURCE_ROOT "/tests", add_file, 16, FTW_PHYS);
    assert_true(world.n > part_of(300));
    for (uint32_t i = 0; i < world.n; i++) /* they do hold all */
        assert_int_equal(world.documents[i].sketch.n_values, exact_set_count(sets[i]));
    uint32_t n_joined = 0;
    for (size_t t = 0; t < sizeof(thresholds) / sizeof(*thresholds); t++) {
        double threshold = thresholds[t];
        const struct batch_options options =
            world_options(scratch, world.n, BATCH_EXACT, threshold);
        _cleanup_(batch_free_p) struct batch *batch = world_batch(&world, &options);
        _cleanup_free_ uint32_t *expected = world_clusters(&world, exactly, &threshold);
        for (uint32_t i = 0; i < world.n; i++) {
            assert_int_equal(batch_clusters(batch)[i], expected[i]);
            n_joined += expected[i] != i;
        }
    }
    assert_true(n_joined > part_of(10));
    for (uint32_t i = 0; i < world.n; i++)
        exact_set_free(sets[i]);
    world_end(&world);
    scratch_remove(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_truth__exact_is_the_truth_where_sketches_hold_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
