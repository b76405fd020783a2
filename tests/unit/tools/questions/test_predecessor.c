#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/questions/control.h"
#include "tools/questions/holder.h"
#include "tools/show/message.h"
#include "tools/questions/predecessor.h"

static char *store;

static int work_nothing(const struct work_context *context, struct json_object *request, row_fn row,
                        void *user, char **ret_error)
{
    (void)context, (void)request, (void)row, (void)user, (void)ret_error;
    return 0;
}

static work_fn find_work(const char *command)
{
    (void)command;
    return work_nothing;
}

/* A daemon whose mount has gone, played by this process. */
struct daemon {
    struct control *control;
    int holder;
    unsigned n_takes, stops_at, ends_at; /* at which try it closes its socket, and gives up */
};

static int set_up(void **state)
{
    static const struct work_context context;
    static struct daemon daemon;
    char template[] = "/tmp/kinfs-test.XXXXXX";
    store = message("%s", mkdtemp(template));
    daemon = (struct daemon){.holder = -1};
    *state = &daemon;
    _cleanup_free_ char *nowhere = message("%s/mnt", store);
    int r = holder_hold(store, "mount", store, nowhere, &daemon.holder);
    return r < 0 ? r : control_start(store, &context, find_work, &daemon.control);
}

static int tear_down(void **state)
{
    struct daemon *daemon = *state;
    control_stop(daemon->control);
    close_p(&daemon->holder);
    _cleanup_free_ char *holder = message("%s/holder", store);
    int r = unlink(holder) | rmdir(store);
    free(store);
    return r;
}

static int take(void *user)
{
    struct daemon *daemon = user;
    daemon->n_takes++;
    if (daemon->n_takes == daemon->stops_at) {
        control_stop(daemon->control);
        daemon->control = NULL;
    }
    return daemon->n_takes == daemon->ends_at ? 0 : -EBUSY;
}

static void test_predecessor__that_has_not_yet_closed_its_socket_is_waited_for(void **state)
{
    struct daemon *daemon = *state;
    daemon->stops_at = 3;
    daemon->ends_at = 5;
    assert_int_equal(predecessor_outlive(store, take, daemon), 0);
    assert_int_equal(daemon->n_takes, 5);
}

static void test_predecessor__that_goes_on_answering_is_not_waited_for(void **state)
{
    struct daemon *daemon = *state;
    assert_int_equal(predecessor_outlive(store, take, daemon), -EBUSY);
    assert_non_null(daemon->control);
}

static void test_predecessor__that_writes_for_long_is_waited_for(void **state)
{
    struct daemon *daemon = *state;
    daemon->stops_at = 1;
    daemon->ends_at = 100;
    assert_int_equal(predecessor_outlive(store, take, daemon), 0);
    assert_int_equal(daemon->n_takes, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_predecessor__that_has_not_yet_closed_its_socket_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_predecessor__that_goes_on_answering_is_not_waited_for,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_predecessor__that_writes_for_long_is_waited_for,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
