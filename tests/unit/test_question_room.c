/* No user, and not all together, take more for questions than there is for them; what is given back
 * is there again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "fs/question_room.h"

static const uint64_t gib = (uint64_t)1 << 30;

static int setup(void **state)
{
    static struct question_room room;
    question_room_init(&room);
    *state = &room;
    return 0;
}

static int teardown(void **state)
{
    question_room_done(*state);
    return 0;
}

static void test_question_room__a_user_has_so_many(void **state)
{
    struct question_room *room = *state;
    for (int i = 0; i < QUESTIONS_OF_A_USER_MAX; i++)
        assert_int_equal(question_room_enter(room, 7), 0);
    assert_int_equal(question_room_enter(room, 7), -EMFILE);
    assert_int_equal(question_room_enter(room, 8), 0);
    question_room_leave(room, 7, 0);
    assert_int_equal(question_room_enter(room, 7), 0);
}

static void test_question_room__all_together_have_so_many(void **state)
{
    struct question_room *room = *state;
    for (unsigned i = 0; i < QUESTIONS_MAX; i++)
        assert_int_equal(question_room_enter(room, 1000 + i), 0);
    assert_int_equal(question_room_enter(room, 1), -ENFILE);
    assert_int_equal(question_room_enter(room, 1000), -ENFILE);
    question_room_leave(room, 1255, 0);
    assert_int_equal(question_room_enter(room, 1), 0);
}

static void test_question_room__bytes_are_bounded(void **state)
{
    struct question_room *room = *state;
    for (uid_t uid = 0; uid < 5; uid++)
        assert_int_equal(question_room_enter(room, uid), 0);
    assert_int_equal(question_room_enter(room, 0), 0); /* its bytes are of the same share */
    assert_int_equal(question_room_take(room, 0, 2 * gib), 0);
    assert_int_equal(question_room_take(room, 0, 1), -EDQUOT);
    for (uid_t uid = 1; uid < 4; uid++)
        assert_int_equal(question_room_take(room, uid, 2 * gib), 0);
    assert_int_equal(question_room_take(room, 4, 1), -ENOSPC);
    question_room_give_back(room, 0, gib);
    assert_int_equal(question_room_take(room, 4, gib), 0);
    assert_int_equal(question_room_take(room, 0, 1), -ENOSPC);
    question_room_leave(room, 1, 2 * gib);
    assert_int_equal(question_room_take(room, 0, gib), 0);
    assert_int_equal(question_room_take(room, 0, 1), -EDQUOT);
}

/* Random histories against the plain sums. */
static void test_question_room__agrees_with_adding_up(void **state)
{
    enum { N_USERS = 6, N_STEPS = 20000 };
    struct question_room *room = *state;
    struct {
        unsigned n;
        uint64_t bytes[QUESTIONS_MAX];
    } users[N_USERS] = {{0}};
    unsigned n_all = 0;
    uint64_t all = 0;
    unsigned short seed[3] = {1, 2, 3};

    for (int step = 0; step < N_STEPS; step++) {
        const uid_t uid = (uid_t)nrand48(seed) % N_USERS;
        const unsigned what = (unsigned)nrand48(seed) % 4;
        const uint64_t n_bytes = (uint64_t)nrand48(seed) % (gib / 4);
        uint64_t mine = 0;
        for (unsigned i = 0; i < users[uid].n; i++)
            mine += users[uid].bytes[i];
        if (what == 0) {
            const int wanted = users[uid].n >= QUESTIONS_OF_A_USER_MAX ? -EMFILE
                               : n_all >= QUESTIONS_MAX                ? -ENFILE
                                                                       : 0;
            assert_int_equal(question_room_enter(room, uid), wanted);
            if (wanted == 0) {
                users[uid].bytes[users[uid].n++] = 0;
                n_all++;
            }
        } else if (what < 3 && users[uid].n > 0) {
            const int wanted = mine + n_bytes > 2 * gib  ? -EDQUOT
                               : all + n_bytes > 8 * gib ? -ENOSPC
                                                         : 0;
            assert_int_equal(question_room_take(room, uid, n_bytes), wanted);
            if (wanted == 0) {
                users[uid].bytes[users[uid].n - 1] += n_bytes;
                all += n_bytes;
            }
        } else if (users[uid].n > 0 && nrand48(seed) % 8 == 0) {
            users[uid].n--;
            n_all--;
            all -= users[uid].bytes[users[uid].n];
            question_room_leave(room, uid, users[uid].bytes[users[uid].n]);
        }
    }
    assert_int_equal(room->n_questions, n_all);
    assert_int_equal(room->n_bytes, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_question_room__a_user_has_so_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_question_room__all_together_have_so_many, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_question_room__bytes_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_question_room__agrees_with_adding_up, setup, teardown),
    };
    return cmocka_run_group_tests_name("question_room", tests, NULL, NULL);
}
