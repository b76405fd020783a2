/* Lists of the documents that share a key, read from the sorted records of a partition. Records of
 * one key are neighbours; the list of a key has its nodes, ascending, each once, and a key of a
 * single node has none.
 *
 * Example: the records f3 f7 g2 h1 h5 h5 (key, document) give the lists 3 7 and 1 5. g has one
 * document, and 5 comes once though it has two fingerprints with the kept bits of h.
 *
 * A list longer than its room comes in pieces, with the first n_kept documents in front of each
 * further piece. Cost: one look at each record, nothing but the room for a list. Left out: the
 * positions of shingles in documents; a resemblance does not depend on them.
 */
#include "engine/cluster/pairs/key_lists.h"

#include <errno.h>

#include "engine/cluster/large/large_array.h"

unsigned key_number_bits(uint32_t n_documents)
{
    unsigned bits = KEY_PARTITION_BITS; /* fewer would leave no more bits of a key */
    while (bits < 32 && (uint64_t)1 << bits < n_documents)
        bits++;
    return bits;
}

int key_partition_init(struct sorted_partition *sorted, unsigned number_bits, size_t list_room,
                       size_t n_kept, struct key_partition *ret_partition)
{
    *ret_partition = (struct key_partition){
        .sorted = *sorted,
        .number_bits = number_bits,
        .list = large_array_new(list_room * sizeof(uint32_t)),
        .list_room = list_room,
        .n_kept = n_kept,
    };
    *sorted = (struct sorted_partition){0};
    if (ret_partition->list)
        return 0;
    key_partition_done(ret_partition);
    return -ENOMEM;
}

void key_partition_done(struct key_partition *partition)
{
    sorted_partition_done(&partition->sorted);
    large_array_free(partition->list, partition->list_room * sizeof(uint32_t));
    *partition = (struct key_partition){0};
}

/* Returns 1 when there is another record, 0 at the end, or an error. */
static int look(struct key_partition *partition)
{
    const void *records;
    if (partition->at < partition->n)
        return 1;
    int64_t n = sorted_partition_next(&partition->sorted, &records);
    partition->records = records;
    partition->n = n > 0 ? (size_t)n : 0;
    partition->at = 0;
    return n < 0 ? (int)n : n > 0;
}

int key_partition_begin(struct key_partition *partition, uint32_t number)
{
    sorted_partition_begin(&partition->sorted, number);
    partition->n = partition->at = 0;
    partition->more = false;
    int r = look(partition);
    return r < 0 ? r : 0;
}

/* A list begins at the next record whose key comes at least twice, as far as records are at hand.
 */
static void begin_list(struct key_partition *partition, uint64_t mask)
{
    const uint64_t *records = partition->records;
    size_t at = partition->at;
    while (at + 1 < partition->n && ((records[at] ^ records[at + 1]) & mask))
        at++;
    partition->at = at;
    partition->key = records[at] & mask;
    partition->n_documents = 0;
}

/* Goes on with a list that has n documents so far. Returns their number then, or an error;
 * partition->more tells that the list has more. */
static int64_t go_on(struct key_partition *partition, const uint64_t *nodes, uint64_t mask,
                     size_t n)
{
    uint32_t *list = partition->list;
    int r;
    partition->more = false;
    while ((r = look(partition)) > 0) {
        uint64_t record = partition->records[partition->at];
        uint32_t document = (uint32_t)(record & ~mask);
        if ((record & mask) != partition->key)
            break;
        if (mark_is_set(nodes, document) && (n == 0 || partition->last != document)) {
            if (n == partition->list_room) {
                partition->more = true;
                return (int64_t)n;
            }
            list[n++] = partition->last = document;
            partition->n_documents++;
        }
        partition->at++;
    }
    return r < 0 ? r : (int64_t)n;
}

int64_t key_partition_next(struct key_partition *partition, const uint64_t *nodes)
{
    uint64_t mask = ~(((uint64_t)1 << partition->number_bits) - 1);
    int r = 1;
    if (partition->more)
        return go_on(partition, nodes, mask, partition->n_kept);
    while ((r = look(partition)) > 0) {
        begin_list(partition, mask);
        int64_t n = go_on(partition, nodes, mask, 0);
        if (n < 0 || n > 1)
            return n;
    }
    return r;
}
