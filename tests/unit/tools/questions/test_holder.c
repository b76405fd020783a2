#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tools/questions/holder.h"
#include "tests/unit/tools/state_scratch.h"

/* A bound on the size of files stands for a disk that is full amid a write. */
static void test_holder__what_it_said_stays_where_it_cannot_be_written(void **state)
{
    struct scratch *scratch = *state;
    const struct rlimit none = {4, RLIM_INFINITY};
    _cleanup_free_ char *store = message("%s/full", scratch->root);
    _cleanup_free_ char *new = message("%s/holder.new", store);
    struct rlimit before;
    int fd = -1;
    mkdir(store, 0700);
    assert_int_equal(holder_hold(store, "scan", "/first", NULL, &fd), 0);
    close(fd);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    int r = holder_hold(store, "mount", "/second", "/mnt", &fd);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(access(new, F_OK), -1);

    _cleanup_(holder_done) struct holder holder = {0};
    assert_int_equal(holder_read(store, &holder), 0);
    assert_string_equal(holder.source, "/first");
    assert_false(holder.alive);
}

static void test_holder__a_place_made_is_one_mounts_at_a_time_and_goes(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *place = message("%s/place", scratch->state);
    _cleanup_free_ char *file = message("%s/holder", place), *gone = message("%s.gone", place);
    struct stat st;
    for (int i = 0; i < 2; i++) { /* the name can be used again */
        _cleanup_close_ int fd = -1, second = -1;
        assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
        assert_int_equal(stat(place, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(holder_make(place, scratch->tree, "/m", &second), -EBUSY);
        holder_remove(place);
        assert_int_equal(stat(place, &st), -1);
        assert_int_equal(stat(gone, &st), -1);
    }
    /* What a killed one left is taken over. */
    _cleanup_close_ int fd = -1;
    assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
    close(TAKE_FD(fd));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
    holder_remove(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holder__what_it_said_stays_where_it_cannot_be_written),
        cmocka_unit_test(test_holder__a_place_made_is_one_mounts_at_a_time_and_goes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
