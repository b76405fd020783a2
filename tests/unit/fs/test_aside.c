/* What is put aside comes back as it was, to users by turns; nobody's takes the room of others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "fs/aside.h"

enum { MAX_BYTES = 1 << 20, THREADS = 8, NOW = 1000, OWN = 4711, N_PUTTERS = 4, N_EACH = 2000 };

struct world {
    struct user_room threads;
    struct asides asides;
};

static int setup(void **state)
{
    static struct world world;
    user_room_init(&world.threads, THREADS);
    world.threads.own_uid = OWN;
    asides_init(&world.asides, &world.threads, MAX_BYTES);
    world.asides.bytes.own_uid = OWN;
    *state = &world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    asides_done(&world->asides);
    user_room_done(&world->threads);
    return 0;
}

/* All threads that the user may have stand. */
static size_t stand(struct world *world, uid_t uid)
{
    size_t n = 0;
    while (user_room_enter(&world->threads, uid, 1))
        n++;
    return n;
}

static void put(struct world *world, uid_t uid, uint64_t id)
{
    assert_int_equal(asides_put(&world->asides, uid, id, false, &id, sizeof(id), NOW), 0);
}

/* The next one, which is answered at once. */
static uint64_t answer(struct world *world)
{
    struct aside *aside = asides_take(&world->asides);
    if (!aside)
        return 0;
    uint64_t id = aside->id;
    user_room_leave(&world->threads, aside->uid, 1);
    aside_free(&world->asides, aside);
    return id;
}

static void test_aside__a_request_comes_back_as_it_was(void **state)
{
    struct world *world = *state;
    char request[5000], expected[sizeof(request)];
    for (size_t i = 0; i < sizeof(request); i++)
        request[i] = (char)(i * 31);
    memcpy(expected, request, sizeof(request));
    assert_int_equal(stand(world, 7), THREADS / 2);
    assert_int_equal(asides_put(&world->asides, 7, 2, false, request, sizeof(request), NOW), 0);
    memset(request, 0, sizeof(request)); /* the buffer is used for the next one */
    assert_null(asides_take(&world->asides));
    user_room_leave(&world->threads, 7, 1);
    struct aside *aside = asides_take(&world->asides);
    assert_non_null(aside);
    assert_int_equal(aside->uid, 7);
    assert_int_equal(aside->n_bytes, sizeof(expected));
    assert_int_equal((uintptr_t)aside->request % sizeof(uint64_t), 0);
    assert_memory_equal(aside->request, expected, sizeof(expected));
    assert_false(user_room_enter(&world->threads, 7, 1)); /* it has the thread */
    assert_null(asides_take(&world->asides));
    aside_free(&world->asides, aside);
    assert_int_equal(world->asides.bytes.n_taken, 0);
}

static void test_aside__with_a_thread_that_became_free_it_is_not_kept(void **state)
{
    struct world *world = *state;
    uint64_t request = 2;
    assert_int_equal(asides_put(&world->asides, 7, 2, false, &request, sizeof(request), NOW), 1);
    assert_int_equal(world->threads.n_taken, 1);
    assert_int_equal(world->asides.bytes.n_taken, 0);
    assert_null(asides_take(&world->asides));
}

/* One of few waits for no more than one of each other's. */
static void test_aside__users_have_turns(void **state)
{
    struct world *world = *state;
    size_t n_stand = stand(world, 7), n_others = stand(world, 8), n_last = stand(world, 9);
    for (uint64_t i = 0; i < 100; i++)
        put(world, 7, 700 + i);
    put(world, 8, 800);
    put(world, 8, 801);
    put(world, 9, 900);
    assert_int_equal(answer(world), 0);
    user_room_leave(&world->threads, 7, n_stand);
    user_room_leave(&world->threads, 8, n_others);
    user_room_leave(&world->threads, 9, n_last);
    static const uint64_t expected[] = {700, 800, 900, 701, 801, 702, 703};
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
        assert_int_equal(answer(world), expected[i]);
    for (uint64_t i = 704; i < 800; i++)
        assert_int_equal(answer(world), i);
    assert_int_equal(answer(world), 0);
    assert_int_equal(atomic_load(&world->asides.n), 0);
    assert_true(TAILQ_EMPTY(&world->asides.users));
}

/* Some users' threads all stand: what is first is another's. */
static void test_aside__who_stands_is_passed_over(void **state)
{
    struct world *world = *state;
    size_t n_others;
    assert_int_equal(stand(world, 7), THREADS / 2);
    n_others = stand(world, 8);
    put(world, 7, 700);
    put(world, 8, 800);
    put(world, 7, 702);
    put(world, 8, 802);
    user_room_leave(&world->threads, 8, n_others);
    assert_int_equal(answer(world), 800);
    assert_int_equal(answer(world), 802);
    assert_int_equal(answer(world), 0);
}

static void test_aside__bytes_are_shared_out_by_user(void **state)
{
    struct world *world = *state;
    static char request[1 << 16];
    int n = 0, n_other = 0;
    stand(world, 7);
    stand(world, 8);
    while (asides_put(&world->asides, 7, 2u * n, false, request, sizeof(request), NOW) == 0)
        n++;
    /* Half of the bytes, of which keeping them takes some. */
    assert_int_equal(n, MAX_BYTES / 2 / sizeof(request) - 1);
    assert_int_equal(asides_put(&world->asides, 7, 1000, false, request, sizeof(request), NOW),
                     -ENOMEM);
    put(world, 7, 1002); /* there is room for a short one */
    while (asides_put(&world->asides, 8, 2000 + 2u * n_other, false, request, sizeof(request),
                      NOW) == 0)
        n_other++;
    assert_true(n_other > n / 3);
    /* What has to be kept is kept, whatever there is. */
    assert_int_equal(asides_put(&world->asides, 7, 4000, true, request, sizeof(request), NOW), 0);
    assert_int_equal(asides_interrupt(&world->asides, 4000), 0);
    assert_int_equal(asides_interrupt(&world->asides, 4000), 0);
    for (int i = 0; i < n; i++)
        assert_int_equal(asides_interrupt(&world->asides, 2u * i), 1);
    assert_int_equal(asides_put(&world->asides, 7, 1000, false, request, sizeof(request), NOW), 0);
}

static void test_aside__short_ones_are_bounded_too(void **state)
{
    struct world *world = *state;
    uint64_t n = 0;
    stand(world, 7);
    while (asides_put(&world->asides, 7, 2 * n, false, &n, sizeof(n), NOW) == 0)
        n++;
    assert_in_range(n, 1000, MAX_BYTES / 2 / sizeof(struct aside));
}

static void test_aside__an_interrupted_one_is_gone(void **state)
{
    struct world *world = *state;
    size_t n_stand = stand(world, 7);
    assert_int_equal(asides_interrupt(&world->asides, 2), -ENOENT);
    for (uint64_t id = 2; id <= 8; id += 2)
        put(world, 7, id);
    put(world, 7, 2 + 2 * ASIDE_BUCKETS); /* beside the first */
    assert_int_equal(asides_interrupt(&world->asides, 4), 1);
    assert_int_equal(asides_interrupt(&world->asides, 4), -ENOENT);
    assert_int_equal(asides_interrupt(&world->asides, 2 + 4 * ASIDE_BUCKETS), -ENOENT);
    assert_int_equal(asides_interrupt(&world->asides, 2 + 2 * ASIDE_BUCKETS), 1);
    user_room_leave(&world->threads, 7, n_stand);
    assert_int_equal(answer(world), 2);
    assert_int_equal(asides_interrupt(&world->asides, 2), -ENOENT); /* it was begun */
    assert_int_equal(answer(world), 6);
    assert_int_equal(asides_interrupt(&world->asides, 8), 1);
    assert_int_equal(answer(world), 0);
    assert_int_equal(world->asides.bytes.n_taken, 0);
}

static void put_at(struct world *world, uid_t uid, uint64_t id, bool must, int64_t at_ms, int r)
{
    assert_int_equal(asides_put(&world->asides, uid, id, must, &id, sizeof(id), at_ms), r);
}

/* The next one that is refused by then. */
static uint64_t refuse(struct world *world, int64_t at_ms)
{
    struct aside *aside = asides_expire(&world->asides, at_ms);
    if (!aside)
        return 0;
    uint64_t id = aside->id;
    aside_free(&world->asides, aside);
    return id;
}

static void test_aside__what_is_kept_for_long_is_refused(void **state)
{
    struct world *world = *state;
    size_t n_stand = stand(world, 7);
    stand(world, 8);
    assert_int_equal(asides_expiry_ms(&world->asides), 0);
    put_at(world, 7, 2, true, NOW, 0); /* which never is */
    assert_int_equal(asides_expiry_ms(&world->asides), 0);
    put_at(world, 7, 4, false, NOW + 1, 0);
    put_at(world, 8, 6, false, NOW + 2, 0);
    put_at(world, 7, 8, false, NOW + 3, 0);
    put_at(world, 7, 10, false, NOW + 4, 0);
    assert_int_equal(asides_expiry_ms(&world->asides), NOW + 1 + ASIDE_MS);
    assert_int_equal(refuse(world, NOW + ASIDE_MS), 0);
    assert_int_equal(refuse(world, NOW + 1 + ASIDE_MS), 4);
    assert_int_equal(refuse(world, NOW + 1 + ASIDE_MS), 0);
    assert_int_equal(asides_interrupt(&world->asides, 4), -ENOENT); /* it has its answer */
    assert_int_equal(asides_interrupt(&world->asides, 6), 1);
    assert_int_equal(asides_expiry_ms(&world->asides), NOW + 3 + ASIDE_MS);
    user_room_leave(&world->threads, 7, n_stand);
    assert_int_equal(answer(world), 2);
    assert_int_equal(answer(world), 8);
    assert_int_equal(refuse(world, NOW + 9 * ASIDE_MS), 10); /* so late, it was not begun */
    assert_int_equal(answer(world), 0);
    assert_int_equal(asides_expiry_ms(&world->asides), 0);
    assert_int_equal(world->asides.bytes.n_taken, 0);
    assert_int_equal(atomic_load(&world->asides.n), 0);
}

/* As many as queue for one lock have it one after the other. */
static void test_aside__who_was_refused_is_refused_at_once(void **state)
{
    struct world *world = *state;
    const int64_t refused_ms = NOW + ASIDE_MS;
    size_t n_stand = stand(world, 7);
    stand(world, 8);
    put_at(world, 7, 2, false, NOW, 0);
    assert_int_equal(refuse(world, refused_ms), 2);
    put_at(world, 7, 4, false, refused_ms, -EAGAIN);
    put_at(world, 7, 6, false, refused_ms + ASIDE_MS - 1, -EAGAIN);
    put_at(world, 7, 8, true, refused_ms, 0);
    put_at(world, 8, 10, false, refused_ms, 0); /* another user's */
    assert_int_equal(asides_expiry_ms(&world->asides), refused_ms + ASIDE_MS);
    user_room_leave(&world->threads, 7, n_stand);
    assert_int_equal(answer(world), 8);
    put_at(world, 7, 12, false, refused_ms, 1); /* there is a thread */
    n_stand = 1 + stand(world, 7);
    put_at(world, 7, 14, false, refused_ms + ASIDE_MS, 0);
    assert_int_equal(refuse(world, refused_ms + ASIDE_MS), 10);
    user_room_leave(&world->threads, 7, n_stand);
    assert_int_equal(answer(world), 14);
    assert_int_equal(world->asides.bytes.n_taken, 0);
    assert_int_equal(atomic_load(&world->asides.n), 0);
}

struct putter {
    struct world *world;
    uid_t uid;
    unsigned n_answered;
};

static void answer_all(struct putter *putter)
{
    while (answer(putter->world))
        putter->n_answered++;
}

/* As threads that serve do: each request has a thread, or is answered by whoever has one next. */
static void *serve(void *user)
{
    struct putter *putter = user;
    struct world *world = putter->world;
    for (uint64_t i = 0; i < N_EACH; i++) {
        uint64_t id = putter->uid + 8 * (i + 1);
        int r =
            user_room_enter(&world->threads, putter->uid % 2 + 1, 1)
                ? 1
                : asides_put(&world->asides, putter->uid % 2 + 1, id, false, &id, sizeof(id), NOW);
        if (r != 1) {
            assert_int_equal(r, 0);
            continue;
        }
        sched_yield(); /* so that others find it taken */
        putter->n_answered++;
        user_room_leave(&world->threads, putter->uid % 2 + 1, 1);
        answer_all(putter);
    }
    return NULL;
}

/* Whoever puts one aside ends; so somebody has to see it. */
static void test_aside__threads_leave_none(void **state)
{
    struct world *world = *state;
    struct putter putters[N_PUTTERS];
    pthread_t threads[N_PUTTERS];
    unsigned n = 0;
    world->threads.n_max = 2; /* one in all */
    world->asides.bytes.n_max = SIZE_MAX / 4;
    for (uid_t i = 0; i < N_PUTTERS; i++) {
        putters[i] = (struct putter){.world = world, .uid = i};
        assert_int_equal(pthread_create(&threads[i], NULL, serve, &putters[i]), 0);
    }
    for (uid_t i = 0; i < N_PUTTERS; i++) {
        pthread_join(threads[i], NULL);
        n += putters[i].n_answered;
    }
    assert_int_equal(n, N_PUTTERS * N_EACH);
    assert_int_equal(world->threads.n_taken, 0);
    assert_int_equal(atomic_load(&world->asides.n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_aside__a_request_comes_back_as_it_was, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_aside__with_a_thread_that_became_free_it_is_not_kept,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__users_have_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__who_stands_is_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__bytes_are_shared_out_by_user, setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__short_ones_are_bounded_too, setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__an_interrupted_one_is_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_aside__what_is_kept_for_long_is_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_aside__who_was_refused_is_refused_at_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_aside__threads_leave_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
