#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/index/queue/change_queue_private.h"

static struct file_key key_of(unsigned n)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    memcpy(key.bytes, &n, sizeof(n));
    return key;
}

static void count_work(void *user)
{
    ++*(unsigned *)user;
}

static struct change_queue *new_queue(size_t max)
{
    const size_t max_changes[LANE_N] = {max, max};
    struct change_queue *queue;
    assert_int_equal(change_queue_new(max_changes, &queue), 0);
    return queue;
}

static int note(struct change_queue *queue, enum change_lane lane, unsigned n)
{
    struct file_key key = key_of(n);
    return change_queue_note(queue, lane, CHANGE_CONTENT, &key, NULL, NULL);
}

/* The next change, which must be of file n. */
static struct change *take(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &change), 1);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

static void assert_empty(struct change_queue *queue)
{
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &change), 0);
}

/* A hint, which anybody else who notes the file takes back, and so does work on it. */
static void test_change_queue__unknown_is_what_nobody_else_noted(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key keys[] = {key_of(1), key_of(2), key_of(3)};
    struct change *change;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[i], NULL), 1);
    assert_int_equal(change_queue_note_unknown(queue, LANE_FOREGROUND, &keys[0], NULL), 0);
    assert_int_equal(note(queue, LANE_SCAN, 2), 0);
    change = take(queue, 1);
    assert_true(change->is_unknown);
    change_queue_pass_on(queue, change, 0, false);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
    assert_true(change->is_unknown);
    change_queue_done(queue, change);
    change = take(queue, 2);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);
    change = take(queue, 3);
    change_queue_retry(queue, change);
    change = take(queue, 3);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);

    assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[0], NULL), 1);
    change = take(queue, 1);
    assert_int_equal(change_queue_note_unknown(queue, LANE_SCAN, &keys[0], NULL), 0);
    change_queue_done(queue, change); /* there is something in the store now */
    change = take(queue, 1);
    assert_false(change->is_unknown);
    change_queue_done(queue, change);
    assert_empty(queue);
    change_queue_free(queue);
}

/* What was passed on is for others; who waits for it does so as before. */
static void test_change_queue__what_is_passed_on_is_for_others(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change;
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_SCAN, 2);
    change_queue_pass_on(queue, take(queue, 1), 0, false);
    note(queue, LANE_FOREGROUND, 3);
    change_queue_pass_on(queue, take(queue, 3), 0, false);
    change_queue_done(queue, take(queue, 2));
    assert_empty(queue);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);

    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0); /* it goes before others, and not back */
    assert_empty(queue);
    unsigned expected[] = {3, 1};
    for (size_t i = 0; i < 2; i++) {
        struct file_key key = key_of(expected[i]);
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        assert_true(file_key_equal(&change->key, &key));
        assert_int_equal(change->kind, CHANGE_CONTENT);
        assert_int_equal(change->lane, LANE_FOREGROUND);
        assert_int_equal(change->n_tries, 0);
        if (i == 0) {
            assert_int_equal(note(queue, LANE_FOREGROUND, 3), 0); /* who knows what it is now */
            change_queue_done(queue, change);
            change_queue_done(queue, take(queue, 3));
        } else {
            change_queue_retry(queue, change);
            change_queue_done(queue, take(queue, 1));
        }
    }
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    change_queue_free(queue);
}

/* The next slow change, which must be of file n. */
static struct change *take_slow(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

static void note_slow(struct change_queue *queue, enum change_lane lane, unsigned n, uid_t owner)
{
    assert_int_equal(note(queue, lane, n), 1);
    change_queue_pass_on(queue, take(queue, n), owner, false);
}

/* However many one owner has, and however long they take: the second who takes is another's. */
static void test_change_queue__no_owner_keeps_all_who_take_slow_ones(void **state)
{
    enum { ONE = 1000, OTHER = 2000, THIRD = 3000 };
    (void)state;
    struct change_queue *queue = new_queue(64);
    for (unsigned n = 0; n < 20; n++)
        note_slow(queue, LANE_SCAN, n, ONE);
    struct change *first = take_slow(queue, 0), *second = take_slow(queue, 1); /* nobody else's */
    for (unsigned n = 100; n < 105; n++)
        note_slow(queue, LANE_SCAN, n, OTHER);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 25);
    change_queue_done(queue, second);
    for (unsigned n = 100; n < 105; n++) /* the first is still at it */
        change_queue_done(queue, take_slow(queue, n));
    second = take_slow(queue, 2);
    change_queue_done(queue, first);

    /* Of those who have as many in work it is the turn of who had none for longest... */
    note_slow(queue, LANE_SCAN, 200, THIRD);
    note_slow(queue, LANE_SCAN, 201, THIRD);
    first = take_slow(queue, 200);
    change_queue_done(queue, second);
    change_queue_done(queue, first);
    first = take_slow(queue, 3);
    change_queue_done(queue, first);
    first = take_slow(queue, 201);
    change_queue_done(queue, first);
    /* ... but of what was just written before. */
    note_slow(queue, LANE_SCAN, 202, THIRD);
    note_slow(queue, LANE_FOREGROUND, 300, ONE);
    change_queue_done(queue, take_slow(queue, 300));
    change_queue_done(queue, take_slow(queue, 202));
    for (unsigned n = 4; n < 20; n++)
        change_queue_done(queue, take_slow(queue, n));
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

/* Who commands very many users has what is next looked for among a bounded number of them. */
static void test_change_queue__owners_past_a_bound_share_a_turn(void **state)
{
    enum { N_OWNERS = 3000, MOST = 1024, ROOT = 0 };
    (void)state;
    struct change_queue *queue = new_queue(N_OWNERS);
    for (unsigned n = 0; n < N_OWNERS; n++)
        note_slow(queue, LANE_SCAN, n, 100000 + n);
    unsigned n_turns = 0, n_items = 0;
    struct turn *turn;
    TAILQ_FOREACH(turn, &queue->slow.list, next)
    {
        n_turns++;
        n_items += turn->n_items[LANE_SCAN];
        assert_int_equal(turn->n_items[LANE_SCAN], turn->owner == ROOT ? N_OWNERS - (MOST - 1) : 1);
    }
    assert_int_equal(n_turns, MOST);
    assert_int_equal(n_items, N_OWNERS);

    bool *taken = calloc(N_OWNERS, sizeof(*taken));
    struct change *change;
    for (unsigned n = 0; n < N_OWNERS; n++) {
        uint32_t file;
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        for (file = 0; file < N_OWNERS; file++) {
            const struct file_key key = key_of(file);
            if (file_key_equal(&change->key, &key))
                break;
        }
        assert_true(file < N_OWNERS && !taken[file]);
        taken[file] = true;
        change_queue_done(queue, change);
    }
    free(taken);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    /* There is room for owners again. */
    note_slow(queue, LANE_SCAN, 1, 100001);
    assert_true(TAILQ_FIRST(&queue->slow.list)->owner == 100001 && queue->slow.n == 2);
    change_queue_free(queue);
}

static void note_slow_many(struct change_queue *queue, unsigned first, unsigned n, uid_t owner)
{
    for (unsigned i = 0; i < n; i++)
        note_slow(queue, LANE_SCAN, first + i, owner);
}

/* Takes and does n slow ones of an owner who alone has any. */
static void do_slow(struct change_queue *queue, unsigned n)
{
    struct change *change;
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
        change_queue_done(queue, change);
    }
}

/* Each as many as are left for others, so that there is always some room for one who comes. */
static void test_change_queue__owners_share_what_room_there_is(void **state)
{
    enum { MAX = 1024, ONE = 1000, OTHER = 2000, THIRD = 3000, SHARE_MIN = 64 };
    (void)state;
    struct change_queue *queue = new_queue(4 * MAX);
    change_queue_bound_slow(queue, MAX);
    note_slow_many(queue, 0, MAX, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), MAX / 2);
    note_slow_many(queue, MAX, MAX, OTHER);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), MAX / 2 + MAX / 4);
    for (unsigned i = 0; i < 20; i++) /* however many there are */
        note_slow_many(queue, (2 + i) * MAX, MAX, THIRD + i);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN),
                     MAX / 2 + MAX / 4 + MAX / 8 + 19 * SHARE_MIN);
    /* What was dropped is not in the queue, and what is not slow has the room that it had. */
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN),
                     change_queue_slow(queue, LANE_SCAN));
    assert_int_equal(note(queue, LANE_SCAN, MAX - 1), 1);
    change_queue_done(queue, take(queue, MAX - 1));
    change_queue_free(queue);
}

/* Not as long as there is no room; and then once, by when all that was dropped can be found. */
static void test_change_queue__what_is_dropped_wants_a_scan_once_there_is_room(void **state)
{
    enum { MAX = 1024, KEPT = MAX / 2, LEFT = KEPT / 8, ONE = 1000, OTHER = 2000 };
    (void)state;
    struct change_queue *queue = new_queue(2 * MAX);
    unsigned n_told = 0;
    change_queue_on_work(queue, count_work, &n_told);
    change_queue_bound_slow(queue, MAX);
    note_slow_many(queue, 0, KEPT, ONE);
    do_slow(queue, KEPT); /* nothing was dropped */
    assert_false(change_queue_wants_scan(queue));

    note_slow_many(queue, 0, MAX, ONE);
    for (unsigned round = 0; round < 3; round++) { /* each finds what there is no room for */
        change_queue_scan_begins(queue);
        note_slow_many(queue, KEPT, MAX, ONE);
        assert_false(change_queue_wants_scan(queue));
    }
    do_slow(queue, KEPT - LEFT - 1);
    assert_false(change_queue_wants_scan(queue));
    assert_int_equal(n_told, 0);
    do_slow(queue, 1);
    assert_true(change_queue_wants_scan(queue));
    assert_int_equal(n_told, 1);
    change_queue_scan_begins(queue);
    assert_false(change_queue_wants_scan(queue));
    do_slow(queue, LEFT);
    assert_false(change_queue_wants_scan(queue));

    /* Another's share is as full as ever. */
    note_slow_many(queue, 0, MAX, OTHER);
    note_slow_many(queue, MAX, KEPT, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), KEPT + KEPT / 2);
    for (unsigned i = 0; i < KEPT / 2; i++) { /* of the two it is each one's turn */
        struct change *change;
        for (unsigned j = 0; j < 2; j++) {
            assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
            change_queue_done(queue, change);
        }
    }
    assert_true(change_queue_wants_scan(queue));
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), KEPT / 2);
    change_queue_free(queue);
}

/* Round by round, and nothing besides. */
static void test_change_queue__scans_find_all_that_was_dropped(void **state)
{
    enum { MAX = 256, N = 1500, ONE = 1000 };
    (void)state;
    struct change_queue *queue = new_queue(N);
    bool is_done[N] = {0};
    unsigned n_done = 0, n_scans = 0;
    struct change *change;
    change_queue_bound_slow(queue, MAX);
    for (bool scans = true; scans; scans = change_queue_wants_scan(queue)) {
        n_scans++;
        change_queue_scan_begins(queue);
        for (unsigned n = 0; n < N; n++) {
            if (is_done[n] || note(queue, LANE_SCAN, n) == 0)
                continue;
            change_queue_pass_on(queue, take(queue, n), ONE, n % 2);
        }
        while (!change_queue_wants_scan(queue) &&
               change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change) == 1) {
            uint32_t n;
            memcpy(&n, change->key.bytes, sizeof(n));
            assert_false(is_done[n]);
            is_done[n] = true;
            n_done++;
            change_queue_done(queue, change);
        }
    }
    assert_int_equal(n_done, N);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 0);
    assert_true(n_scans > 1 && n_scans <= N / (MAX / 2 - MAX / 16) + 1);
    change_queue_free(queue);
}

/* Those past some dozens wait behind it, as long ones do, and cannot be brought back by their
 * owner. */
static void test_change_queue__an_owner_has_few_slow_ones_in_the_foreground(void **state)
{
    enum { N = 100, AHEAD = 32, ONE = 1000, OTHER = 2000 };
    (void)state;
    struct change_queue *queue = new_queue(2 * N);
    for (unsigned n = 0; n < N; n++)
        note_slow(queue, LANE_FOREGROUND, n, ONE);
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), N - AHEAD);
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 1), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), AHEAD);
    note_slow(queue, LANE_FOREGROUND, N, OTHER); /* who has as many */
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD + 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, N + 1), 1); /* short ones have no bound */
    change_queue_done(queue, take(queue, N + 1));

    /* One is done, and another is noted again: it has its place. */
    change_queue_done(queue, take_slow(queue, N));
    change_queue_done(queue, take_slow(queue, 0));
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 1), 0);
    assert_int_equal(note(queue, LANE_FOREGROUND, N - 2), 0);
    assert_int_equal(change_queue_slow(queue, LANE_FOREGROUND), AHEAD);
    do_slow(queue, N - 1);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    assert_false(change_queue_wants_scan(queue));
    change_queue_free(queue);
}

struct taker {
    struct change_queue *queue;
    atomic_int thread;
    struct change *change;
};

static void *take_when_there_is_one(void *user)
{
    struct taker *taker = user;
    atomic_store(&taker->thread, (int)syscall(SYS_gettid));
    if (change_queue_take(taker->queue, CHANGE_SLOW_CONTENT, true, &taker->change) == 1)
        change_queue_done(taker->queue, taker->change);
    return NULL;
}

static bool is_asleep(int thread)
{
    char path[64], state = '?';
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
    fclose(file);
    return state == 'S';
}

/* The thread that ended the turn may wait for something else before it takes a change. */
static void test_change_queue__a_turn_that_ends_is_for_those_who_wait(void **state)
{
    (void)state;
    struct taker taker = {.queue = new_queue(8)};
    pthread_t thread;
    change_queue_bound_turns(taker.queue, CHANGE_SLOW_CONTENT, 1);
    for (unsigned n = 0; n < 2; n++)
        note_slow(taker.queue, LANE_FOREGROUND, n, 1000);
    struct change *first = take_slow(taker.queue, 0);
    assert_int_equal(pthread_create(&thread, NULL, take_when_there_is_one, &taker), 0);
    while (!atomic_load(&taker.thread) || !is_asleep(atomic_load(&taker.thread)))
        usleep(1000);
    change_queue_end_turn(taker.queue, first);
    pthread_join(thread, NULL);
    assert_non_null(taker.change);
    change_queue_done(taker.queue, first);
    assert_int_equal(change_queue_settle(taker.queue, LANE_SCAN, 0), 0);
    change_queue_free(taker.queue);
}

/* Who waits for what was written does not wait for it, nor when it is written again and again. */
static void test_change_queue__nobody_waits_for_a_long_one(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_pass_on(queue, take(queue, 1), 1000, true);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), -ETIMEDOUT);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    struct change *change = take_slow(queue, 1);
    assert_true(change->is_long);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);

    /* Worked on once more, it may not be long any more, and is waited for as any other. */
    change_queue_done(queue, change);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change = take(queue, 1);
    assert_false(change->is_long);
    change_queue_done(queue, change);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(change_queue_slow(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

/* What waits to be stored is nobody's turn any more. */
static void test_change_queue__an_owner_has_so_many_turns(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change, *changes[2];
    change_queue_bound_turns(queue, CHANGE_SLOW_CONTENT, 2);
    for (unsigned n = 0; n < 5; n++)
        note_slow(queue, LANE_FOREGROUND, n, 1000);
    for (unsigned n = 0; n < 2; n++)
        changes[n] = take_slow(queue, n);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    note_slow(queue, LANE_SCAN, 7, 2000);
    change_queue_done(queue, take_slow(queue, 7));
    change_queue_end_turn(queue, changes[0]);
    struct change *third = take_slow(queue, 2);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    change_queue_done(queue, changes[0]);
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 0);
    change_queue_retry(queue, third);
    changes[0] = take_slow(queue, 3);
    change_queue_pass_on(queue, changes[0], 1000, true);
    change_queue_done(queue, take_slow(queue, 4));
    change_queue_done(queue, take_slow(queue, 3));
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, changes[1]);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    change_queue_free(queue);
}

static int note_below(struct change_queue *queue, unsigned n, uid_t owner,
                      const struct change *parent)
{
    struct file_key key = key_of(n);
    return change_queue_note_below(queue, &key, owner, parent);
}

static struct change *take_below(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 1);
    assert_int_equal(change->kind, CHANGE_BELOW);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

/* Beside the documents', and a directory that is noted while it is read stays its owner's. */
static void test_change_queue__directories_have_turns_of_their_own(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct change *change, *changes[3];
    change_queue_bound_turns(queue, CHANGE_BELOW, 2);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(note_below(queue, n, 1000, NULL), 1);
    note_slow(queue, LANE_FOREGROUND, 0, 1000);
    for (unsigned n = 0; n < 2; n++)
        changes[n] = take_below(queue, n);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    changes[2] = take_slow(queue, 0);
    assert_int_equal(note_below(queue, 5, 2000, NULL), 1);
    change_queue_done(queue, take_below(queue, 5));

    assert_int_equal(note_below(queue, 0, 1000, NULL), 0);
    change_queue_done(queue, changes[0]);
    changes[0] = take_below(queue, 2);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    change_queue_done(queue, changes[0]);
    change_queue_done(queue, take_below(queue, 3));
    change_queue_done(queue, take_below(queue, 0));
    change_queue_done(queue, changes[1]);
    change_queue_done(queue, changes[2]);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(queue->below.n, 1);
    change_queue_free(queue);
}

/* Among the directories; and is an entry like others when it is to be looked at once more. */
static void test_change_queue__an_entry_is_passed_on_to_who_reads_directories(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct file_key directory = key_of(1);
    struct change *entry, *change;
    change_queue_bound_turns(queue, CHANGE_BELOW, 1);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_pass_on(queue, entry, 1000, false);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 0);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    note_below(queue, 2, 1000, NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &entry), 1);
    assert_int_equal(entry->kind, CHANGE_ENTRY);
    assert_string_equal(entry->name, "d");
    assert_int_equal(change_queue_take(queue, CHANGE_BELOW, false, &change), 0);
    change_queue_end_turn(queue, entry);
    change_queue_done(queue, take_below(queue, 2));
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", NULL);
    change_queue_done(queue, entry);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_done(queue, entry);
    assert_int_equal(change_queue_settle(queue, LANE_SCAN, 0), 0);
    assert_int_equal(queue->below.n, 1);
    change_queue_free(queue);
}

/* Who waits for an entry waits for what was below it, and for that which was found there. */
static void test_change_queue__what_is_below_settles_with_its_directory(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    struct file_key directory = key_of(1);
    struct change *entry, *below;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "d", NULL);
    note(queue, LANE_FOREGROUND, 9);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    assert_int_equal(note_below(queue, 2, 1000, entry), 1);
    change_queue_done(queue, entry);
    below = take_below(queue, 2);
    struct file_key file = key_of(3);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, below);
    const struct item *oldest = TAILQ_FIRST(&queue->outstanding[LANE_FOREGROUND]);
    assert_ptr_equal(&oldest->change, below);
    change_queue_done(queue, below);
    oldest = TAILQ_FIRST(&queue->outstanding[LANE_FOREGROUND]);
    assert_true(file_key_equal(&oldest->change.key, &file));
    change_queue_shut_down(queue);
    change_queue_free(queue);
}

/* With what is queued and in work of several owners. */
static void test_change_queue__slow_ones_go_with_the_queue(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    for (unsigned n = 0; n < 6; n++)
        note_slow(queue, LANE_SCAN, n, n / 2);
    for (unsigned n = 0; n < 6; n++)
        note_below(queue, n, n / 2, NULL);
    change_queue_shut_down(queue);
    change_queue_free(queue);
}

static void test_change_queue__foreground_goes_before_scan(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_FOREGROUND, 2);
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, take(queue, 1));
    assert_empty(queue);
    change_queue_free(queue);
}

static void test_change_queue__a_file_is_queued_once(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    change_queue_done(queue, take(queue, 1));
    assert_empty(queue);
    change_queue_free(queue);
}

static void test_change_queue__noted_while_in_work_is_worked_on_again(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    struct change *change = take(queue, 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_empty(queue); /* not twice at once */
    change_queue_done(queue, change);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__a_scanned_file_that_is_noted_moves_ahead(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    note(queue, LANE_SCAN, 2);
    note(queue, LANE_FOREGROUND, 2);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    assert_int_equal(change_queue_outstanding(queue, LANE_SCAN), 1);
    struct change *change = take(queue, 2);
    assert_int_equal(change->lane, LANE_FOREGROUND);
    change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));
    change_queue_free(queue);
}

static void test_change_queue__in_work_of_the_scan_holds_up_the_foreground_once_noted(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    struct change *change = take(queue, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__each_lane_is_bounded(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(2);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 2), 1);
    assert_int_equal(note(queue, LANE_FOREGROUND, 3), -ENOBUFS);
    assert_int_equal(note(queue, LANE_FOREGROUND, 1), 0);
    assert_int_equal(note(queue, LANE_SCAN, 3), 1);
    change_queue_done(queue, take(queue, 1));
    assert_int_equal(note(queue, LANE_FOREGROUND, 4), 1);
    change_queue_free(queue);
}

static void test_change_queue__a_retried_change_goes_to_the_end_and_counts(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_FOREGROUND, 2);
    change_queue_retry(queue, take(queue, 1));
    change_queue_done(queue, take(queue, 2));
    struct change *change = take(queue, 1);
    assert_int_equal(change->n_tries, 1);
    change_queue_done(queue, change);
    change_queue_free(queue);
}

static void test_change_queue__a_part_settles_with_its_whole(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    struct change *entry;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", NULL);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    assert_string_equal(entry->name, "name");
    note(queue, LANE_FOREGROUND, 9);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, entry);
    change_queue_done(queue, entry);
    change_queue_done(queue, take(queue, 9));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_done(queue, take(queue, 8));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__entries_of_two_names_are_two_changes(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7);
    assert_int_equal(change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "a", NULL),
                     1);
    assert_int_equal(change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "b", NULL),
                     1);
    assert_int_equal(change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "a", NULL),
                     0);
    change_queue_free(queue);
}

static void test_change_queue__a_part_known_already_settles_with_its_whole(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    struct change *entry;
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", NULL);
    note(queue, LANE_FOREGROUND, 9); /* stands between the two */
    note(queue, LANE_FOREGROUND, 8);
    assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, entry);
    change_queue_done(queue, entry);
    change_queue_done(queue, take(queue, 9));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    change_queue_done(queue, take(queue, 8));
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), 0);
    change_queue_free(queue);
}

static void test_change_queue__what_is_taken_keeps_the_lane_it_was_taken_from(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    note(queue, LANE_SCAN, 1);
    struct change *change = take(queue, 1);
    note(queue, LANE_FOREGROUND, 1); /* by another thread, while this one reads the lane */
    assert_int_equal(change->lane, LANE_SCAN);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 1);
    change_queue_done(queue, change);
    change = take(queue, 1);
    assert_int_equal(change->lane, LANE_FOREGROUND);
    change_queue_done(queue, change);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 0);
    change_queue_free(queue);
}

/* File and name lead to each other, for ever where the two never agree. */
static void test_change_queue__what_leads_to_itself_counts_its_rounds(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key directory = key_of(7), file = key_of(8);
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        struct change *entry, *content = take(queue, 8);
        assert_int_equal(content->n_tries, i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", content);
        change_queue_done(queue, content);
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        assert_int_equal(entry->n_tries, i + 1);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, entry);
        change_queue_done(queue, entry);
    }
    change_queue_free(queue);
}

/* A directory that comes leads to what is in it, however deep that is: no round of anything. */
static void test_change_queue__what_is_below_counts_no_rounds(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct file_key file = key_of(8);
    struct change *above = NULL;
    for (unsigned depth = 0; depth < 20; depth++) {
        struct file_key directory = key_of(100 + depth);
        struct change *entry;
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", above);
        if (above)
            change_queue_done(queue, above);
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        assert_int_equal(entry->n_tries, 0);
        above = entry;
    }
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, above);
    assert_int_equal(take(queue, 8)->n_tries, 0);
    change_queue_free(queue);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Each stands far from the last item of its lane; walking there from the end took minutes. */
static void test_change_queue__many_parts_and_promotions_take_no_walk(void **state)
{
    (void)state;
    enum { N = 100000 };
    const size_t max_changes[LANE_N] = {4 * N, 2 * N};
    struct change_queue *queue;
    char name[16];
    assert_int_equal(change_queue_new(max_changes, &queue), 0);
    double begin = seconds_now();
    for (unsigned i = 0; i < N; i++)
        note(queue, LANE_SCAN, i);
    for (unsigned i = 0; i < N; i++) {
        struct file_key directory = key_of(7);
        snprintf(name, sizeof(name), "%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, NULL);
    }
    for (unsigned i = 0; i < N; i++) {
        struct file_key file = key_of(2 * N + i);
        struct change *entry;
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &entry), 1);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_CONTENT, &file, NULL, entry);
        change_queue_done(queue, entry);
    }
    for (unsigned i = 0; i < N / 2; i++) /* upwards, and downwards */
        note(queue, LANE_FOREGROUND, i);
    for (unsigned i = N; i-- > N / 2;)
        note(queue, LANE_FOREGROUND, i);
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 2 * N);
    assert_true(seconds_now() - begin < 5);
    change_queue_free(queue);
}

/* A document that is written has a notice of its name and one of its contents. */
static void test_change_queue__a_document_of_two_notices_is_one(void **state)
{
    (void)state;
    enum { N = 400 };
    struct change_queue *queue = new_queue(4 * N);
    struct change *taken;
    struct file_key directory = key_of(N);
    char name[32];
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%u", i);
        change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, name, NULL);
        note(queue, LANE_FOREGROUND, i);
    }
    assert_int_equal(change_queue_outstanding(queue, LANE_FOREGROUND), 2 * N);
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), N);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(change_queue_take(queue, CHANGE_ENTRY, false, &taken), 1);
        change_queue_done(queue, taken);
        assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), N);
    }
    for (unsigned i = N; i > 0; i--) {
        assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &taken), 1);
        assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), i);
        change_queue_done(queue, taken);
    }
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), 0);
    /* Of what is moved or removed there is the name alone. */
    change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &directory, "name", NULL);
    assert_int_equal(change_queue_documents(queue, LANE_FOREGROUND), 1);
    assert_int_equal(change_queue_documents(queue, LANE_SCAN), 0);
    change_queue_free(queue);
}

struct settler {
    struct change_queue *queue;
    int result;
};

static void *settle(void *user)
{
    struct settler *settler = user;
    settler->result = change_queue_settle(settler->queue, LANE_FOREGROUND, -1);
    return NULL;
}

static void test_change_queue__settling_does_not_wait_for_later_changes(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    note(settler.queue, LANE_FOREGROUND, 1);
    struct change *first = take(settler.queue, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    /* Whether the second is noted before or after the thread's call, it must end when both are
     * done, and may end when the first is. */
    note(settler.queue, LANE_FOREGROUND, 2);
    struct change *second = take(settler.queue, 2);
    change_queue_done(settler.queue, first);
    change_queue_done(settler.queue, second);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);
    change_queue_free(settler.queue);
}

static void test_change_queue__shutting_down_ends_every_wait(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    struct change *change;
    note(settler.queue, LANE_FOREGROUND, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    change_queue_shut_down(settler.queue);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, -ESHUTDOWN);
    assert_int_equal(change_queue_take(settler.queue, CHANGE_CONTENT, true, &change), -ESHUTDOWN);
    assert_int_equal(note(settler.queue, LANE_FOREGROUND, 2), -ESHUTDOWN);
    change_queue_free(settler.queue);
}

/* -- holding back -- */

static int note_name(struct change_queue *queue, unsigned directory, const char *name)
{
    struct file_key key = key_of(directory);
    return change_queue_note(queue, LANE_FOREGROUND, CHANGE_ENTRY, &key, name, NULL);
}

static void test_change_queue__what_is_held_back_comes_when_released(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_FOREGROUND, 2);
    assert_empty(queue);
    assert_true(change_queue_is_holding(queue));
    change_queue_release(queue);
    assert_false(change_queue_is_holding(queue));
    struct change *first = take(queue, 1);
    note(queue, LANE_FOREGROUND, 3);
    change_queue_done(queue, first);
    change_queue_done(queue, take(queue, 2));
    change_queue_done(queue, take(queue, 3)); /* came before all was done */
    note(queue, LANE_FOREGROUND, 4);
    assert_empty(queue);
    change_queue_free(queue);
}

static void test_change_queue__the_scan_is_not_held_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    note(queue, LANE_SCAN, 2);
    note(queue, LANE_SCAN, 3);
    change_queue_done(queue, take(queue, 2));
    assert_int_equal(note(queue, LANE_FOREGROUND, 3), 0); /* from now on it is */
    assert_empty(queue);
    change_queue_release(queue);
    change_queue_done(queue, take(queue, 1));
    change_queue_done(queue, take(queue, 3));
    change_queue_free(queue);
}

static void test_change_queue__who_asks_for_an_effect_releases(void **state)
{
    (void)state;
    struct settler settler = {.queue = new_queue(8), .result = 1};
    pthread_t thread;
    struct change *change;
    change_queue_hold(settler.queue);
    note(settler.queue, LANE_FOREGROUND, 1);
    assert_int_equal(pthread_create(&thread, NULL, settle, &settler), 0);
    assert_int_equal(change_queue_take(settler.queue, CHANGE_CONTENT, true, &change), 1);
    change_queue_done(settler.queue, change);
    pthread_join(thread, NULL);
    assert_int_equal(settler.result, 0);

    note(settler.queue, LANE_FOREGROUND, 2);
    assert_empty(settler.queue);
    assert_int_equal(change_queue_settle(settler.queue, LANE_SCAN, 0), -ETIMEDOUT);
    change_queue_done(settler.queue, take(settler.queue, 2));
    change_queue_free(settler.queue);
}

static void test_change_queue__much_is_not_held_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    change_queue_hold(queue);
    for (unsigned i = 1; i <= 3; i++)
        note(queue, LANE_FOREGROUND, i);
    assert_true(change_queue_is_holding(queue));
    note(queue, LANE_FOREGROUND, 4);
    assert_false(change_queue_is_holding(queue));
    for (unsigned i = 1; i <= 4; i++)
        change_queue_done(queue, take(queue, i));
    change_queue_free(queue);
}

static void test_change_queue__what_is_released_can_be_held_back_again(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    change_queue_hold_again(queue); /* nothing was held back before */
    note(queue, LANE_FOREGROUND, 1);
    change_queue_done(queue, take(queue, 1));
    change_queue_hold(queue);
    for (unsigned i = 1; i <= 4; i++)
        note(queue, LANE_FOREGROUND, i);
    change_queue_release(queue);
    struct change *first = take(queue, 1);
    change_queue_hold_again(queue);
    assert_empty(queue);
    change_queue_done(queue, first);
    assert_empty(queue);
    change_queue_release(queue);
    change_queue_done(queue, take(queue, 2));

    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, 0), -ETIMEDOUT);
    change_queue_hold_again(queue); /* but somebody asked */
    change_queue_done(queue, take(queue, 3));
    change_queue_done(queue, take(queue, 4));

    for (unsigned i = 1; i <= 8; i++) /* half of what there may be */
        note(queue, LANE_FOREGROUND, i);
    change_queue_hold_again(queue);
    for (unsigned i = 1; i <= 8; i++)
        change_queue_done(queue, take(queue, i));
    change_queue_free(queue);
}

static void test_change_queue__shutting_down_ends_holding_back(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(8);
    struct change *change;
    change_queue_hold(queue);
    note(queue, LANE_FOREGROUND, 1);
    change_queue_shut_down(queue);
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, true, &change), -ESHUTDOWN);
    assert_int_equal(change_queue_settle(queue, LANE_FOREGROUND, -1), -ESHUTDOWN);
    change_queue_free(queue);
}

/* Who takes entries is told of each; of what is held back once, and again when it is there. */
static void test_change_queue__tells_when_there_is_work(void **state)
{
    (void)state;
    struct change_queue *queue = new_queue(16);
    unsigned n_told = 0;
    struct change *change;
    change_queue_on_work(queue, count_work, &n_told);
    note_name(queue, 1, "a");
    note_name(queue, 1, "b");
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(n_told, 2);
    while (change_queue_take(queue, CHANGE_ENTRY, false, &change) == 1)
        change_queue_done(queue, change);
    change_queue_done(queue, take(queue, 1));

    change_queue_hold(queue);
    uint64_t n_before = change_queue_count_notes(queue);
    note(queue, LANE_FOREGROUND, 1);
    assert_int_equal(n_told, 3);
    note_name(queue, 1, "a");
    note_name(queue, 1, "a");
    assert_int_equal(n_told, 3);
    assert_int_equal(change_queue_count_notes(queue), n_before + 3);
    change_queue_release(queue);
    assert_int_equal(n_told, 4);
    change_queue_release(queue);
    assert_int_equal(n_told, 4);
    change_queue_free(queue);
}

/* That is so of every hash that is known beforehand; this one is Fowler, Noll and Vo's. */
static void test_change_queue__names_chosen_to_be_alike_are_found_as_soon(void **state)
{
    enum { MANY = 256, LONG = 32 };
    static const size_t max_changes[LANE_N] = {[LANE_FOREGROUND] = 1024, [LANE_SCAN] = 1024};
    (void)state;
    struct change_queue *alike;
    struct file_key directory = key_of(7);
    char name[16];
    assert_int_equal(change_queue_new(max_changes, &alike), 0);
    for (unsigned i = 0; change_queue_outstanding(alike, LANE_SCAN) < MANY; i++) {
        uint64_t h = file_key_hash(&directory) + CHANGE_ENTRY;
        snprintf(name, sizeof(name), "%u", i);
        for (const char *c = name; *c; c++)
            h = (h ^ (uint8_t)*c) * 0x100000001b3u;
        if (((h ^ h >> 29) & (alike->n_buckets - 1)) == 0)
            assert_int_equal(
                change_queue_note(alike, LANE_SCAN, CHANGE_ENTRY, &directory, name, NULL), 1);
    }
    size_t longest = 0;
    for (size_t i = 0; i < alike->n_buckets; i++) {
        size_t n = 0;
        struct item *item;
        SLIST_FOREACH(item, &alike->buckets[i], bucket)
        n++;
        longest = n > longest ? n : longest;
    }
    assert_true(longest < LONG);
    change_queue_free(alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_queue__unknown_is_what_nobody_else_noted),
        cmocka_unit_test(test_change_queue__what_is_passed_on_is_for_others),
        cmocka_unit_test(test_change_queue__no_owner_keeps_all_who_take_slow_ones),
        cmocka_unit_test(test_change_queue__an_owner_has_so_many_turns),
        cmocka_unit_test(test_change_queue__owners_past_a_bound_share_a_turn),
        cmocka_unit_test(test_change_queue__owners_share_what_room_there_is),
        cmocka_unit_test(test_change_queue__what_is_dropped_wants_a_scan_once_there_is_room),
        cmocka_unit_test(test_change_queue__scans_find_all_that_was_dropped),
        cmocka_unit_test(test_change_queue__an_owner_has_few_slow_ones_in_the_foreground),
        cmocka_unit_test(test_change_queue__a_turn_that_ends_is_for_those_who_wait),
        cmocka_unit_test(test_change_queue__nobody_waits_for_a_long_one),
        cmocka_unit_test(test_change_queue__slow_ones_go_with_the_queue),
        cmocka_unit_test(test_change_queue__directories_have_turns_of_their_own),
        cmocka_unit_test(test_change_queue__an_entry_is_passed_on_to_who_reads_directories),
        cmocka_unit_test(test_change_queue__what_is_below_settles_with_its_directory),
        cmocka_unit_test(test_change_queue__foreground_goes_before_scan),
        cmocka_unit_test(test_change_queue__a_file_is_queued_once),
        cmocka_unit_test(test_change_queue__noted_while_in_work_is_worked_on_again),
        cmocka_unit_test(test_change_queue__a_scanned_file_that_is_noted_moves_ahead),
        cmocka_unit_test(test_change_queue__in_work_of_the_scan_holds_up_the_foreground_once_noted),
        cmocka_unit_test(test_change_queue__each_lane_is_bounded),
        cmocka_unit_test(test_change_queue__a_retried_change_goes_to_the_end_and_counts),
        cmocka_unit_test(test_change_queue__a_part_settles_with_its_whole),
        cmocka_unit_test(test_change_queue__a_part_known_already_settles_with_its_whole),
        cmocka_unit_test(test_change_queue__what_is_taken_keeps_the_lane_it_was_taken_from),
        cmocka_unit_test(test_change_queue__what_leads_to_itself_counts_its_rounds),
        cmocka_unit_test(test_change_queue__what_is_below_counts_no_rounds),
        cmocka_unit_test(test_change_queue__many_parts_and_promotions_take_no_walk),
        cmocka_unit_test(test_change_queue__entries_of_two_names_are_two_changes),
        cmocka_unit_test(test_change_queue__a_document_of_two_notices_is_one),
        cmocka_unit_test(test_change_queue__settling_does_not_wait_for_later_changes),
        cmocka_unit_test(test_change_queue__shutting_down_ends_every_wait),
        cmocka_unit_test(test_change_queue__what_is_held_back_comes_when_released),
        cmocka_unit_test(test_change_queue__the_scan_is_not_held_back),
        cmocka_unit_test(test_change_queue__who_asks_for_an_effect_releases),
        cmocka_unit_test(test_change_queue__much_is_not_held_back),
        cmocka_unit_test(test_change_queue__what_is_released_can_be_held_back_again),
        cmocka_unit_test(test_change_queue__shutting_down_ends_holding_back),
        cmocka_unit_test(test_change_queue__tells_when_there_is_work),
        cmocka_unit_test(test_change_queue__names_chosen_to_be_alike_are_found_as_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
