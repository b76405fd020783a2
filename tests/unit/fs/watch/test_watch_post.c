#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <semaphore.h>
#include <cmocka.h>

#include "fs/watch/watch_post.h"

struct desk {
    struct watch_post post;
    sem_t begun, go_on, over;
    atomic_uint n_batches, n_later;
    int later_ms;
};

static int work(void *user, struct watch_batch *batch)
{
    struct desk *desk = user;
    if (!watch_post_step(&desk->post))
        return -1;
    if (batch) {
        atomic_fetch_add(&desk->n_batches, 1);
        sem_post(&desk->begun);
        sem_wait(&desk->go_on);
    } else {
        atomic_fetch_add(&desk->n_later, 1);
    }
    sem_post(&desk->over);
    return batch ? desk->later_ms : -1;
}

static void open_desk(struct desk *desk, int later_ms)
{
    *desk = (struct desk){.later_ms = later_ms};
    sem_init(&desk->begun, 0, 0);
    sem_init(&desk->go_on, 0, 0);
    sem_init(&desk->over, 0, 0);
    assert_int_equal(watch_post_start(&desk->post, work, desk), 0);
}

static void test_watch_post__works_on_every_batch_and_comes_back_later(void **state)
{
    (void)state;
    struct desk desk;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    open_desk(&desk, 0);
    for (int i = 0; i < 3; i++) {
        sem_post(&desk.go_on);
        assert_true(watch_post_push(&desk.post, batch));
        sem_wait(&desk.over);
    }
    sem_wait(&desk.over);
    assert_int_equal(desk.n_batches, 3);
    assert_true(desk.n_later > 0);
    assert_true(watch_post_end(&desk.post, -1));
    assert_int_equal(batch->n_refs, 1);
}

static void test_watch_post__has_room_for_so_many_and_can_be_cleared(void **state)
{
    (void)state;
    struct desk desk;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    open_desk(&desk, -1);
    assert_true(watch_post_push(&desk.post, batch));
    sem_wait(&desk.begun);
    assert_true(desk.post.busy_since_ms > 0);
    assert_false(watch_post_is_waiting(&desk.post));
    for (int i = 0; i < WATCH_POST_ROOM; i++)
        assert_true(watch_post_push(&desk.post, batch));
    assert_true(watch_post_is_waiting(&desk.post));
    assert_false(watch_post_push(&desk.post, batch));
    assert_int_equal(batch->n_refs, WATCH_POST_ROOM + 2);
    watch_post_clear(&desk.post);
    assert_false(watch_post_is_waiting(&desk.post));
    assert_int_equal(batch->n_refs, 2);
    sem_post(&desk.go_on);
    sem_wait(&desk.over);
    assert_true(watch_post_end(&desk.post, -1));
    assert_int_equal(desk.n_batches, 1);
}

static void test_watch_post__has_room_for_so_much_in_all(void **state)
{
    (void)state;
    struct desk desk;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    open_desk(&desk, -1);
    assert_true(watch_post_push(&desk.post, batch));
    sem_wait(&desk.begun);
    batch->n_seen = WATCH_POST_SEEN_MAX / 3 + 1;
    assert_true(watch_post_push(&desk.post, batch));
    assert_true(watch_post_push(&desk.post, batch));
    assert_false(watch_post_push(&desk.post, batch));
    watch_post_clear(&desk.post);
    batch->n_seen = WATCH_POST_SEEN_MAX + 1;
    assert_true(watch_post_push(&desk.post, batch));
    batch->n_seen = 0;
    watch_post_clear(&desk.post);
    sem_post(&desk.go_on);
    assert_true(watch_post_end(&desk.post, -1));
}

static void test_watch_post__says_when_a_step_does_not_end(void **state)
{
    (void)state;
    struct desk desk;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    open_desk(&desk, -1);
    assert_true(watch_post_push(&desk.post, batch));
    assert_true(watch_post_push(&desk.post, batch));
    sem_wait(&desk.begun);
    assert_false(watch_post_end(&desk.post, 0));
    sem_post(&desk.go_on);
    assert_true(watch_post_end(&desk.post, -1));
    assert_int_equal(desk.n_batches, 1); /* no further step */
    assert_int_equal(batch->n_refs, 1);
    assert_true(watch_post_end(&desk.post, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_post__works_on_every_batch_and_comes_back_later),
        cmocka_unit_test(test_watch_post__has_room_for_so_many_and_can_be_cleared),
        cmocka_unit_test(test_watch_post__has_room_for_so_much_in_all),
        cmocka_unit_test(test_watch_post__says_when_a_step_does_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
