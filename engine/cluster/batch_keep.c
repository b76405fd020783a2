/* A directory in which the results of phases are kept:
 *
 *   kinfs-batch empty: marks the directory as a batch's, in which everything may be overwritten
 *   sketches    blocks of sketch_file.h       sketches.head    policy, how many
 *   pairs       blocks of pair_file.h         pairs.head       of which sketches, how many
 *   duplicates  sets and marks after the first phase, for the pairs
 *
 * kept_directory.h has how they are written.
 *
 * Example: `kinfs cluster --keep` writes sketches, then sketches.head, then duplicates and pairs,
 * then pairs.head. After a crash while pairs were written there is no pairs.head, and the next run
 * begins with the sketches.
 *
 * Cost: one write of the data; beginning with the last phase reads the pairs and 4.25 bytes a
 * document. Left out: keeping sorted lists. They are larger than the sketches and quickly made.
 */
#include <errno.h>

#include <xxhash.h>

#include "engine/cluster/batch_state.h"
#include "engine/cluster/large/kept_directory.h"
#include "engine/cluster/pairs/pair_file.h"
#include "engine/cluster/large/parallel.h"

static const uint64_t sketches_magic = UINT64_C(0x6b696e6673736b33); /* "kinfssk3" */
static const uint64_t pairs_magic = UINT64_C(0x6b696e6673707232);    /* "kinfspr2" */

struct sketches_head {
    uint64_t magic;
    uint8_t policy[POLICY_ENCODED_BYTES];
    uint64_t n_documents; /* of options; of these n_added were added, n_empty without a shingle */
    uint64_t n_added, n_empty, file_bytes;
    uint64_t checksum; /* of all before */
};

struct pairs_head {
    uint64_t magic, sketches_checksum, n_documents, cap, file_bytes;
    uint64_t duplicates_checksum;
    struct equivalence_counts equivalence;
    struct list_counts lists;
    uint64_t checksum;
};

struct kept {
    int directory;
    struct sketches_head sketches;
    struct pair_file pairs;
    struct scratch_file duplicates;
    uint64_t duplicates_checksum;
};

/* -- opening -- */

void kept_free(struct kept *kept)
{
    if (!kept)
        return;
    scratch_file_done(&kept->pairs.file);
    scratch_file_done(&kept->duplicates);
    if (kept->directory >= 0)
        close(kept->directory);
    free(kept);
}

int kept_open(const char *directory, bool fresh, struct scratch_file *ret_sketches,
              struct kept **ret_kept)
{
    _cleanup_(kept_free_p) struct kept *kept = calloc(1, sizeof(*kept));
    if (!kept)
        return -ENOMEM;
    kept->directory = -1;
    kept->directory = kept_directory_open(directory, "kinfs-batch", fresh);
    if (kept->directory < 0)
        return kept->directory;
    int r = fresh ? kept_head_remove(kept->directory, "sketches.head") : 0;
    if (r == 0 && fresh)
        r = kept_head_remove(kept->directory, "pairs.head");
    if (r == 0)
        r = kept_directory_file(kept->directory, "sketches", fresh, ret_sketches);
    if (r == 0 && fresh)
        r = kept_directory_file(kept->directory, "pairs", true, &kept->pairs.file);
    if (r < 0)
        return r;
    *ret_kept = TAKE_PTR(kept);
    return 0;
}

int kept_read(struct kept *kept, struct policy *ret_policy, uint32_t *ret_n_documents,
              struct batch_totals *ret_totals)
{
    struct sketches_head *head = &kept->sketches;
    int r = kept_head_read(kept->directory, "sketches.head", sketches_magic, head, sizeof(*head));
    if (r < 0)
        return r;
    if (policy_decode(head->policy, sizeof(head->policy), ret_policy) != 0 ||
        head->n_documents > UINT32_MAX || head->n_added > head->n_documents ||
        head->n_empty > head->n_added)
        return -EUCLEAN;
    *ret_n_documents = (uint32_t)head->n_documents;
    ret_totals->n_documents = head->n_added;
    ret_totals->n_empty = head->n_empty;
    return 0;
}

int kept_check_sketches(const struct kept *kept, const struct scratch_file *sketches)
{
    return sketches->size_bytes == kept->sketches.file_bytes ? 0 : -EUCLEAN;
}

/* -- keeping -- */

int batch_keep_sketches(struct batch *batch)
{
    struct kept *kept = batch->kept;
    if (!kept || kept->sketches.magic)
        return 0; /* the sketches are kept already */
    int r = sketch_file_keep(&batch->sketches);
    if (r < 0)
        return r;
    kept->sketches = (struct sketches_head){
        .magic = sketches_magic,
        .n_documents = batch->options.n_documents,
        .n_added = batch->totals.n_documents,
        .n_empty = batch->totals.n_empty,
        .file_bytes = batch->scratch[SCRATCH_SKETCHES].size_bytes,
    };
    policy_encode(&batch->policy, kept->sketches.policy);
    return kept_head_write(kept->directory, "sketches.head", &kept->sketches,
                           sizeof(kept->sketches));
}

struct array {
    void *data;
    size_t n_bytes;
};

enum { N_ARRAYS = 3 };

static void list_arrays(struct batch *batch, struct array ret_arrays[N_ARRAYS])
{
    uint32_t n = batch->options.n_documents;
    size_t n_mark_bytes = (n / 64 + 1) * sizeof(uint64_t);
    ret_arrays[0] = (struct array){batch->sets.parent, n * sizeof(uint32_t)};
    ret_arrays[1] = (struct array){batch->marks.node, n_mark_bytes};
    ret_arrays[2] = (struct array){batch->marks.mixed, n_mark_bytes};
}

static uint64_t checksum_of(const struct array arrays[N_ARRAYS])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < N_ARRAYS; i++)
        sum = XXH3_64bits_withSeed(arrays[i].data, arrays[i].n_bytes, sum);
    return sum;
}

int batch_keep_duplicates(struct batch *batch)
{
    struct kept *kept = batch->kept;
    struct array arrays[N_ARRAYS];
    int r = kept_head_remove(kept->directory, "pairs.head");
    if (r == 0 && !kept->pairs.file.fd)
        r = kept_directory_file(kept->directory, "pairs", true, &kept->pairs.file);
    if (r == 0)
        r = kept_directory_file(kept->directory, "duplicates", true, &kept->duplicates);
    list_arrays(batch, arrays);
    for (unsigned i = 0; r == 0 && i < N_ARRAYS; i++) {
        uint64_t at = scratch_file_reserve(&kept->duplicates, arrays[i].n_bytes);
        r = scratch_file_write(&kept->duplicates, at, arrays[i].data, arrays[i].n_bytes);
    }
    kept->duplicates_checksum = checksum_of(arrays);
    return r;
}

struct pair_file *batch_kept_pairs(struct batch *batch)
{
    return batch->kept ? &batch->kept->pairs : NULL;
}

int batch_keep_pairs(struct batch *batch)
{
    struct kept *kept = batch->kept;
    const struct batch_totals *totals = &batch->totals;
    struct pairs_head head = {
        .magic = pairs_magic,
        .sketches_checksum = kept->sketches.checksum,
        .n_documents = batch->options.n_documents,
        .cap = batch->options.cap,
        .file_bytes = kept->pairs.file.size_bytes,
        .duplicates_checksum = kept->duplicates_checksum,
        .equivalence = totals->equivalence,
        .lists = totals->lists,
    };
    return kept_head_write(kept->directory, "pairs.head", &head, sizeof(head));
}

/* -- beginning with the last phase -- */

/* A checksum tells of damage, but a file that somebody else made may have a good one. No parent is
 * larger than its child in a union-find, so a file that keeps to that has neither a member out of
 * range nor a circle. */
static int check_parents(const struct union_find *sets)
{
    for (size_t i = 0; i < sets->n; i++)
        if (sets->parent[i] > i)
            return -EUCLEAN;
    return 0;
}

int batch_load_duplicates(struct batch *batch)
{
    struct kept *kept = batch->kept;
    struct pairs_head head;
    struct array arrays[N_ARRAYS];
    int r = kept_head_read(kept->directory, "pairs.head", pairs_magic, &head, sizeof(head));
    if (r == 0 && (head.sketches_checksum != kept->sketches.checksum ||
                   head.n_documents != batch->options.n_documents))
        r = -EUCLEAN;
    if (r == 0 && head.cap != batch->options.cap)
        r = -ENOENT;
    if (r == 0)
        r = kept_directory_file(kept->directory, "pairs", false, &kept->pairs.file);
    if (r == 0)
        r = kept_directory_file(kept->directory, "duplicates", false, &kept->duplicates);
    if (r == 0 && kept->pairs.file.size_bytes != head.file_bytes)
        r = -EUCLEAN;
    list_arrays(batch, arrays);
    uint64_t at = 0;
    for (unsigned i = 0; r == 0 && i < N_ARRAYS; at += arrays[i++].n_bytes)
        r = scratch_file_read(&kept->duplicates, at, arrays[i].data, arrays[i].n_bytes);
    if (r == 0 && checksum_of(arrays) != head.duplicates_checksum)
        r = -EUCLEAN;
    if (r == 0)
        r = check_parents(&batch->sets);
    if (r < 0)
        return r;
    batch->totals.equivalence = head.equivalence;
    batch->totals.lists = head.lists;
    return 0;
}

static int take_pair(void *user, const struct counted_pair *pair)
{
    struct batch *batch = user;
    uint32_t n = batch->options.n_documents;
    if (pair->a >= pair->b || pair->b >= n || pair->both == 0 || pair->both > pair->all)
        return -EUCLEAN;
    if ((double)pair->both / pair->all >= batch->options.threshold)
        union_find_join(&batch->sets, pair->a, pair->b);
    return 0;
}

int batch_join_kept_pairs(struct batch *batch, double *cpu_s)
{
    unsigned n_threads = budget_threads(&batch->budget, PAIR_WRITER_BYTES);
    return pair_file_each(&batch->kept->pairs, n_threads, take_pair, batch, cpu_s);
}
