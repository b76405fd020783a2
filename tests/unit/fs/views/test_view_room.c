/* No user, and not all together, have more open than there is room for; what is closed leaves its
 * room to others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "fs/views/view_room.h"

enum { N_MAX = 24, N_OF_A_USER_MAX = 10, BYTES_MAX = 8000, BYTES_OF_A_USER_MAX = 2000 };
static const struct view_room_limits limits = {.n_max = N_MAX,
                                               .n_of_a_user_max = N_OF_A_USER_MAX,
                                               .bytes_max = BYTES_MAX,
                                               .bytes_of_a_user_max = BYTES_OF_A_USER_MAX};

static int setup(void **state)
{
    static struct view_room room;
    assert_int_equal(view_room_init(&room, &limits), 0);
    *state = &room;
    return 0;
}

static int teardown(void **state)
{
    struct view_room *room = *state;
    view_room_done(room);
    return 0;
}

static struct view_room_stay enter(struct view_room *room, uid_t uid)
{
    struct view_room_stay stay;
    assert_int_equal(view_room_enter(room, uid, &stay), 0);
    return stay;
}

static void refuse(struct view_room *room, uid_t uid, int wanted)
{
    struct view_room_stay stay = {0};
    assert_int_equal(view_room_enter(room, uid, &stay), wanted);
    assert_null(stay.room);
}

static void test_view_room__a_user_has_so_many(void **state)
{
    struct view_room_stay stay = {0};
    for (int i = 0; i < N_OF_A_USER_MAX; i++)
        stay = enter(*state, 7);
    refuse(*state, 7, -EMFILE);
    enter(*state, 8);
    view_room_leave(&stay);
    enter(*state, 7);
    refuse(*state, 7, -EMFILE);
}

static void test_view_room__all_together_have_so_many(void **state)
{
    struct view_room_stay stay = {0};
    for (uid_t i = 0; i < N_MAX - 1; i++)
        stay = enter(*state, 1000 + i);
    refuse(*state, 1, -ENFILE);
    refuse(*state, 1000, -ENFILE);
    view_room_leave(&stay);
    view_room_leave(&stay); /* once more is nothing */
    enter(*state, 1);
    refuse(*state, 2, -ENFILE);
}

/* Of 24 two users take 10 and 7 (7 are left then), and so on: 10 + 7 + 3 + 2 + 1. */
static void test_view_room__what_is_left_is_for_others(void **state)
{
    const unsigned wanted[] = {10, 7, 3, 2, 1};
    for (uid_t uid = 0; uid < sizeof(wanted) / sizeof(*wanted); uid++) {
        for (unsigned i = 0; i < wanted[uid]; i++)
            enter(*state, uid);
        refuse(*state, uid, uid == 0 ? -EMFILE : -ENFILE);
    }
    refuse(*state, 7, -ENFILE);
}

static void test_view_room__bytes_are_bounded(void **state)
{
    struct view_room_stay stays[5], another;
    for (uid_t uid = 0; uid < 5; uid++)
        stays[uid] = enter(*state, uid);
    another = enter(*state, 0); /* its bytes are of the same share */
    assert_int_equal(view_room_hold(&stays[0], 2000), 0);
    assert_int_equal(view_room_hold(&another, 1), -EDQUOT);
    assert_int_equal(view_room_hold(&stays[0], 2001), -EDQUOT);
    assert_int_equal(stays[0].n_bytes, 2000);
    for (uid_t uid = 1; uid < 3; uid++)
        assert_int_equal(view_room_hold(&stays[uid], 2000), 0);
    assert_int_equal(view_room_hold(&stays[3], 1001), -ENOSPC); /* of the 2000 that were left */
    assert_int_equal(view_room_hold(&stays[3], 1000), 0);
    assert_int_equal(view_room_hold(&stays[4], 501), -ENOSPC);
    assert_int_equal(view_room_hold(&stays[0], 1000), 0);
    assert_int_equal(view_room_hold(&stays[4], 1000), 0);
    assert_int_equal(view_room_hold(&another, 1), -ENOSPC);
    view_room_leave(&stays[1]);
    assert_int_equal(view_room_hold(&another, 1000), 0);
    assert_int_equal(view_room_hold(&another, 1001), -EDQUOT);
    view_room_leave(&stays[0]);
    assert_int_equal(view_room_hold(&another, 1001), 0);
}

/* What can be larger than all else is to be had nevertheless, one at a time. */
static void test_view_room__wants_the_users_once_more(void **state)
{
    struct view_room_stay first = enter(*state, 7), second = enter(*state, 7),
                          others = enter(*state, 8);
    assert_int_equal(view_room_wanted(&first), 0);
    assert_int_equal(view_room_hold(&first, 100), 0);
    assert_int_equal(view_room_hold(&second, 20), 0);
    assert_int_equal(view_room_hold(&others, 3), 0);
    assert_int_equal(view_room_wanted(&first), 120 + 123);
    assert_int_equal(view_room_wanted(&others), 3 + 123);
}

static void test_view_room__the_only_one_may_have_any_size(void **state)
{
    (void)state;
    struct view_room room;
    struct view_room_limits any = limits;
    any.any_size_alone = true;
    assert_int_equal(view_room_init(&room, &any), 0);
    struct view_room_stay huge = enter(&room, 1);
    assert_int_equal(view_room_hold(&huge, 5 * BYTES_MAX), 0);
    struct view_room_stay small = enter(&room, 1), others = enter(&room, 2),
                          second = enter(&room, 2);
    assert_int_equal(view_room_hold(&small, 1), -EDQUOT);
    assert_int_equal(view_room_hold(&others, 1), -ENOSPC); /* it has two */
    view_room_leave(&second);
    assert_int_equal(view_room_hold(&others, 1), 0);
    view_room_leave(&huge);
    assert_int_equal(view_room_hold(&small, 3 * BYTES_MAX), 0);
    view_room_leave(&small);
    view_room_leave(&others);
    assert_int_equal(room.n_bytes, 0);
    assert_int_equal(room.n_shares, 0);
    view_room_done(&room);
}

/* Random histories against the plain sums. */
static void test_view_room__agrees_with_adding_up(void **state)
{
    enum { N_USERS = 6, N_STEPS = 20000 };
    struct view_room *room = *state;
    struct view_room_stay stays[N_USERS][N_OF_A_USER_MAX];
    unsigned n[N_USERS] = {0}, n_all = 0;
    uint64_t all = 0;
    unsigned short seed[3] = {1, 2, 3};

    for (int step = 0; step < N_STEPS; step++) {
        const uid_t uid = (uid_t)nrand48(seed) % N_USERS;
        const unsigned what = (unsigned)nrand48(seed) % 5;
        const uint64_t n_bytes = (uint64_t)nrand48(seed) % (BYTES_OF_A_USER_MAX / 2);
        uint64_t mine = 0;
        for (unsigned i = 0; i < n[uid]; i++)
            mine += stays[uid][i].n_bytes;
        if (what < 2) {
            const int wanted = n[uid] >= N_OF_A_USER_MAX    ? -EMFILE
                               : n_all + n[uid] + 2 > N_MAX ? -ENFILE
                                                            : 0;
            struct view_room_stay stay;
            assert_int_equal(view_room_enter(room, uid, &stay), wanted);
            if (wanted == 0) {
                stays[uid][n[uid]++] = stay;
                n_all++;
            }
        } else if (what < 4 && n[uid] > 0) {
            struct view_room_stay *stay = &stays[uid][(unsigned)nrand48(seed) % n[uid]];
            const uint64_t had = stay->n_bytes;
            const int wanted = n_bytes <= had                                 ? 0
                               : mine - had + n_bytes > BYTES_OF_A_USER_MAX   ? -EDQUOT
                               : all + mine + 2 * (n_bytes - had) > BYTES_MAX ? -ENOSPC
                                                                              : 0;
            assert_int_equal(view_room_hold(stay, n_bytes), wanted);
            assert_int_equal(stay->n_bytes, wanted == 0 ? n_bytes : had);
            all += stay->n_bytes - had;
        } else if (what == 4 && n[uid] > 0) {
            n_all--;
            all -= stays[uid][--n[uid]].n_bytes;
            view_room_leave(&stays[uid][n[uid]]);
        }
        assert_int_equal(room->n, n_all);
        assert_int_equal(room->n_bytes, all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_view_room__a_user_has_so_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_room__all_together_have_so_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_room__what_is_left_is_for_others, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_view_room__bytes_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_view_room__wants_the_users_once_more, setup, teardown),
        cmocka_unit_test(test_view_room__the_only_one_may_have_any_size),
        cmocka_unit_test_setup_teardown(test_view_room__agrees_with_adding_up, setup, teardown),
    };
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
