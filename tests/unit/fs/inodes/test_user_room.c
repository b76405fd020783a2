/* A user takes as many as are left and no more, so that another always finds some. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "fs/inodes/user_room.h"

enum { OWN = 4711, N_THREADS = 4, N_ROUNDS = 20000 };

static int setup(void **state)
{
    static struct user_room room;
    user_room_init(&room, 100);
    room.own_uid = OWN;
    *state = &room;
    return 0;
}

static int teardown(void **state)
{
    user_room_done(*state);
    return 0;
}

static size_t take_all(struct user_room *room, uid_t uid)
{
    size_t n = 0;
    while (user_room_enter(room, uid, 1))
        n++;
    return n;
}

static void test_user_room__the_first_has_half_the_next_half_of_the_rest(void **state)
{
    struct user_room *room = *state;
    assert_int_equal(take_all(room, 7), 50);
    assert_int_equal(take_all(room, 7 + USER_ROOM_BUCKETS), 25);
    assert_int_equal(take_all(room, 9), 12);
    assert_int_equal(room->n_taken, 87);
    assert_int_equal(take_all(room, 7), 0);
    user_room_leave(room, 7, 50);
    assert_int_equal(take_all(room, 7), (100 - 25 - 12) / 2);
}

static void test_user_room__several_at_once_are_taken_or_none(void **state)
{
    struct user_room *room = *state;
    assert_true(user_room_enter(room, 7, 49));
    assert_false(user_room_enter(room, 7, 2));
    assert_true(user_room_enter(room, 7, 1));
    assert_false(user_room_enter(room, 8, 51));
    assert_false(user_room_enter(room, 8, SIZE_MAX / 2));
    assert_int_equal(room->n_taken, 50);
}

static void test_user_room__what_is_given_back_is_there_again(void **state)
{
    struct user_room *room = *state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take_all(room, 7), 50);
        for (int j = 0; j < 50; j++)
            user_room_leave(room, 7, 1);
        assert_int_equal(room->n_taken, 0);
    }
    for (size_t i = 0; i < USER_ROOM_BUCKETS; i++)
        assert_null(room->buckets[i]);
}

static void test_user_room__the_owner_and_nobody_are_not_counted(void **state)
{
    struct user_room *room = *state;
    for (int i = 0; i < 1000; i++) {
        assert_true(user_room_enter(room, USER_NOBODY, 1));
        assert_true(user_room_enter(room, OWN, 1));
    }
    assert_int_equal(take_all(room, 7), 50);
    user_room_leave(room, USER_NOBODY, 1000);
    user_room_leave(room, OWN, 1000);
    assert_int_equal(room->n_taken, 50);
}

static void test_user_room__root_is_a_user_whoever_owns_it(void **state)
{
    struct user_room *room = *state;
    assert_int_equal(take_all(room, 0), 50);
    user_room_leave(room, 0, 50);
    room->own_uid = 0;
    assert_int_equal(take_all(room, 0), 50);
    assert_int_equal(take_all(room, 7), 25);
}

/* This process stands for what root asks, and is of the user who began it, or of nobody known. */
static void test_user_room__once_root_has_its_part_who_began_what_it_asks_pays(void **state)
{
    struct user_room *room = *state;
    const size_t part = 100 / USER_ROOM_ROOTS_PART;
    for (size_t i = 0; i < part; i++) {
        assert_int_equal(user_room_payer(room, 0, -1), 0);
        assert_true(user_room_enter(room, 0, 1));
    }
    assert_int_equal(user_room_payer(room, 0, getpid()), getuid());
    assert_int_equal(user_room_payer(room, 0, -1), USER_UNKNOWN);
    assert_int_equal(user_room_payer(room, 7, -1), 7);
    assert_int_equal(user_room_payer(room, OWN, -1), OWN);
    user_room_leave(room, 0, 1);
    assert_int_equal(user_room_payer(room, 0, -1), 0);
}

static void test_user_room__full_is_where_nobody_new_is_let_in(void **state)
{
    struct user_room *room = *state;
    for (uid_t uid = 1; uid < 40; uid++) {
        bool is_full = user_room_is_full(room);
        assert_int_equal(take_all(room, uid) == 0, is_full);
    }
    assert_true(user_room_is_full(room));
    user_room_leave(room, 1, 1);
    assert_false(user_room_is_full(room));
}

static void *come_and_go(void *user)
{
    struct user_room *room = user;
    for (uid_t i = 0; i < N_ROUNDS; i++)
        if (user_room_enter(room, 1 + i % 3, 1 + i % 5))
            user_room_leave(room, 1 + i % 3, 1 + i % 5);
    return NULL;
}

static void test_user_room__threads_lose_none(void **state)
{
    struct user_room *room = *state;
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, room), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(room->n_taken, 0);
    assert_int_equal(take_all(room, 1), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_user_room__the_first_has_half_the_next_half_of_the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_user_room__several_at_once_are_taken_or_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_user_room__what_is_given_back_is_there_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_user_room__the_owner_and_nobody_are_not_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_user_room__root_is_a_user_whoever_owns_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_user_room__once_root_has_its_part_who_began_what_it_asks_pays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_user_room__full_is_where_nobody_new_is_let_in, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_user_room__threads_lose_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
