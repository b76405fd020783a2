/* What is remembered of texts takes no more than it may, however long their paths are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/index/answers/unique/unique_memory.h"

enum { PATH_BYTES = 4000 };

static struct unique_text *make_text(uint64_t number)
{
    struct unique_text *text = calloc(1, sizeof(*text));
    text->number = number;
    text->sid = number;
    text->rank.path = malloc(PATH_BYTES + 1);
    memset(text->rank.path, 'a', PATH_BYTES);
    text->rank.path[PATH_BYTES] = '\0';
    return text;
}

/* Adds texts of long paths as long as there is room; how many. */
static size_t fill(struct unique_memory *memory, uint64_t first, size_t most_bytes)
{
    size_t n = 0;
    while (unique_memory_has_room(memory, 0, most_bytes))
        unique_memory_add(memory, make_text(first + n++));
    return n;
}

static void test_unique_memory__bytes_are_counted(void **state)
{
    (void)state;
    struct unique_memories memories;
    size_t n_bytes;
    unique_memories_init(&memories);
    struct unique_memory *memory = unique_memory_get(&memories, 0, 2);
    assert_int_equal(unique_memory_begin(memory, &n_bytes), 1);
    assert_int_equal(n_bytes, 0);
    const size_t each = PATH_BYTES + 1 + sizeof(struct unique_text);
    assert_int_equal(fill(memory, 1, 100 * each), 101);
    assert_int_equal(unique_memory_begin(memory, &n_bytes), 2);
    assert_int_equal(n_bytes, 101 * each);
    struct unique_better *better = calloc(1, unique_better_bytes(10));
    better->n = 10;
    struct unique_text *text = unique_memory_add(memory, make_text(1)); /* which is there */
    unique_memory_keep_better(memory, text, better);
    assert_ptr_equal(unique_memory_better(memory, text), better);
    (void)unique_memory_begin(memory, &n_bytes);
    assert_int_equal(n_bytes, 101 * each + unique_better_bytes(10));
    unique_memory_put(memory);
    unique_memories_done(&memories);
}

static void
test_unique_memory__one_that_is_full_is_begun_anew_and_one_that_is_closed_is_not(void **s)
{
    (void)s;
    struct unique_memories memories;
    size_t n_bytes;
    unique_memories_init(&memories);
    /* Full by many answers. */
    struct unique_memory *memory = unique_memory_get(&memories, 0, 2);
    for (uint64_t i = 1; (unique_memory_begin(memory, &n_bytes), n_bytes < UNIQUE_BYTES_MAX); i++)
        unique_memory_add(memory, make_text(i));
    struct unique_memory *anew = unique_memory_get(&memories, 0, 2);
    assert_ptr_not_equal(anew, memory);
    unique_memory_put(memory);
    /* By a single one: until the index is in another state. */
    assert_true(fill(anew, 1, UNIQUE_BYTES_MAX) > 1000);
    struct unique_memory *again = unique_memory_get(&memories, 0, 2);
    assert_ptr_equal(again, anew);
    assert_false(unique_memory_has_room(again, 0, SIZE_MAX));
    struct unique_memory *later = unique_memory_get(&memories, 0, 4);
    assert_ptr_not_equal(later, anew);
    assert_true(unique_memory_has_room(later, 0, UNIQUE_BYTES_MAX));
    assert_false(unique_memory_has_room(later, UNIQUE_BYTES_MAX + 1, UNIQUE_BYTES_MAX));
    unique_memory_put(later);
    unique_memory_put(again);
    unique_memory_put(anew);
    unique_memories_done(&memories);
}

static void test_unique_memory__a_doubt_ends_where_it_began(void **state)
{
    (void)state;
    struct unique_memories memories;
    struct unique_text *origin;
    size_t n_bytes;
    unique_memories_init(&memories);
    struct unique_memory *memory = unique_memory_get(&memories, 0, 2);
    struct unique_text *texts[3];
    for (uint64_t i = 0; i < 3; i++)
        texts[i] = unique_memory_add(memory, make_text(i + 1));
    const uint64_t first = unique_memory_begin(memory, &n_bytes);
    unique_memory_put_in_doubt(memory, texts[1], texts[1], texts[0]);
    unique_memory_put_in_doubt(memory, texts[2], texts[1], NULL);
    assert_int_equal(unique_memory_verdict(memory, texts[2], &origin), UNIQUE_IN_DOUBT);
    assert_ptr_equal(origin, texts[1]);
    assert_null(unique_memory_doubt(memory, texts[1], first));
    const uint64_t second = unique_memory_begin(memory, &n_bytes);
    assert_ptr_equal(unique_memory_doubt(memory, texts[1], second), texts[0]);
    unique_memory_decide(memory, texts[1], UNIQUE_LEFT_OUT, 1, 0.97);
    for (int i = 1; i < 3; i++)
        assert_int_equal(unique_memory_verdict(memory, texts[i], &origin),
                         i == 1 ? UNIQUE_LEFT_OUT : UNIQUE_UNKNOWN);
    /* First said wins. */
    unique_memory_put_in_doubt(memory, texts[1], texts[1], texts[0]);
    unique_memory_decide(memory, texts[1], UNIQUE_STAYS, 0, 0);
    assert_int_equal(unique_memory_verdict(memory, texts[1], &origin), UNIQUE_LEFT_OUT);
    unique_memory_put(memory);
    unique_memories_done(&memories);
}

/* However many there are, they leave as much room for others. */
static void test_unique_memory__what_is_of_others_takes_no_room(void **state)
{
    (void)state;
    struct unique_memories memories;
    size_t n_bytes, n = 0;
    unique_memories_init(&memories);
    struct unique_memory *memory = unique_memory_get(&memories, 0, 2);
    struct unique_text *theirs = calloc(1, sizeof(*theirs));
    while (theirs->number = ++n, unique_memory_add(memory, theirs))
        theirs = calloc(1, sizeof(*theirs));
    assert_true(n * sizeof(*theirs) >= UNIQUE_OTHERS_BYTES);
    (void)unique_memory_begin(memory, &n_bytes);
    assert_int_equal(n_bytes, 0);
    assert_true(fill(memory, n, UNIQUE_ANSWER_BYTES) > UNIQUE_ANSWER_BYTES / PATH_BYTES / 2);
    unique_memory_put(memory);
    unique_memories_done(&memories);
}

static void fill_up(struct unique_memory *memory)
{
    size_t n_bytes;
    for (uint64_t i = 1; (unique_memory_begin(memory, &n_bytes), n_bytes < UNIQUE_BYTES_MAX - 4096);
         i++)
        unique_memory_add(memory, make_text(i));
}

static bool knows(struct unique_memories *memories, uid_t owner)
{
    struct unique_memory *memory = unique_memory_get(memories, owner, 2);
    size_t n_bytes;
    (void)unique_memory_begin(memory, &n_bytes);
    unique_memory_put(memory);
    return n_bytes > 0;
}

static void see(struct unique_memories *memories, uid_t owner, bool is_full)
{
    struct unique_memory *memory = unique_memory_get(memories, owner, 2);
    if (is_full)
        fill_up(memory);
    else
        unique_memory_add(memory, make_text(1));
    unique_memory_put(memory);
}

/* As many as there is room for, those that were used last, in number and in bytes. */
static void test_unique_memory__all_have_a_bound(void **state)
{
    (void)state;
    struct unique_memories memories;
    enum { N_FULL = UNIQUE_ALL_BYTES / UNIQUE_BYTES_MAX };
    unique_memories_init(&memories);
    for (uid_t owner = 0; owner < UNIQUE_MEMORIES; owner++)
        see(&memories, owner, false);
    for (uid_t owner = 0; owner < UNIQUE_MEMORIES; owner++)
        assert_true(knows(&memories, owner));
    see(&memories, UNIQUE_MEMORIES, false); /* in the place of the first */
    for (uid_t owner = 1; owner <= UNIQUE_MEMORIES; owner++)
        assert_true(knows(&memories, owner));
    assert_false(knows(&memories, 0));
    for (uid_t owner = 101; owner <= 101 + N_FULL; owner++)
        see(&memories, owner, true);
    for (int i = 0; i < UNIQUE_MEMORIES; i++) /* each takes away one at most */
        see(&memories, 101 + N_FULL, false);
    assert_true(knows(&memories, 101 + N_FULL));
    assert_true(knows(&memories, 100 + N_FULL));
    assert_false(knows(&memories, 101));
    unique_memories_done(&memories);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unique_memory__bytes_are_counted),
        cmocka_unit_test(
            test_unique_memory__one_that_is_full_is_begun_anew_and_one_that_is_closed_is_not),
        cmocka_unit_test(test_unique_memory__a_doubt_ends_where_it_began),
        cmocka_unit_test(test_unique_memory__what_is_of_others_takes_no_room),
        cmocka_unit_test(test_unique_memory__all_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
