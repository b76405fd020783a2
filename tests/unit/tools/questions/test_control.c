#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/questions/control.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

/* A store whose path is longer than a socket's address. */
static char *store_root, *store;

static int set_up(void **state)
{
    (void)state;
    char template[] = "/tmp/kinfs-test.XXXXXX";
    store_root = strdup(mkdtemp(template));
    store = message("%s/%0200d", store_root, 0);
    return mkdir(store, 0700);
}

static int tear_down(void **state)
{
    (void)state;
    int r = rmdir(store) | rmdir(store_root);
    free(store);
    free(store_root);
    return r;
}

/* Answers with the numbers from 1 to n, then with an error if asked to. */
static int work_count_up(const struct work_context *context, struct json_object *request,
                         row_fn row, void *user, char **ret_error)
{
    struct json_object *n, *path;
    (void)context;
    json_object_object_get_ex(request, "n", &n);
    for (int i = 1; i <= json_object_get_int(n); i++) {
        struct json_object *object = json_object_new_object();
        json_object_object_add(object, "i", json_object_new_int(i));
        int r = row(user, object);
        if (r < 0)
            return r;
    }
    if (json_object_object_get_ex(request, "path", &path))
        return refuse(ret_error, -ENOENT, "%s: not here", json_object_get_string(path));
    return 0;
}

/* Answers until nobody listens. */
static int work_for_ever(const struct work_context *context, struct json_object *request,
                         row_fn row, void *user, char **ret_error)
{
    (void)context, (void)request, (void)ret_error;
    for (;;) {
        int r = row(user, json_object_new_object());
        if (r < 0)
            return r;
    }
}

static int n_quiet, n_quiet_ended; /* by atomic operations */

/* Has nothing to say until nobody waits for it. */
static int work_quietly(const struct work_context *context, struct json_object *request, row_fn row,
                        void *user, char **ret_error)
{
    (void)request, (void)row, (void)user, (void)ret_error;
    __atomic_fetch_add(&n_quiet, 1, __ATOMIC_RELAXED);
    while (!context->stop(context->stop_user))
        sched_yield();
    __atomic_fetch_add(&n_quiet_ended, 1, __ATOMIC_RELAXED);
    return -EINTR;
}

static work_fn find_work(const char *command)
{
    if (strcmp(command, "quietly") == 0)
        return work_quietly;
    if (strcmp(command, "count") == 0)
        return work_count_up;
    return strcmp(command, "for_ever") == 0 ? work_for_ever : NULL;
}

static int add_up(void *user, struct json_object *row)
{
    struct json_object *i;
    json_object_object_get_ex(row, "i", &i);
    *(int *)user += json_object_get_int(i);
    json_object_put(row);
    return 0;
}

static int stop_at_once(void *user, struct json_object *row)
{
    (void)user;
    json_object_put(row);
    return -ECANCELED;
}

static const struct work_context context;

static int ask_for(const char *command, int n, const char *path, row_fn row, void *user,
                   char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "command", json_object_new_string(command));
    json_object_object_add(request, "n", json_object_new_int(n));
    if (path)
        json_path_add(request, "path", path);
    return control_ask(store, request, row, user, ret_error);
}

/* Another's socket by a link, and what is none, are not asked. */
static void test_control__a_link_to_a_socket_is_no_daemon(void **state)
{
    (void)state;
    struct control *control = NULL;
    _cleanup_free_ char *others = message("%s/others", store), *path = message("%s/control", store);
    int sum = 0;
    assert_int_equal(mkdir(others, 0700), 0);
    assert_int_equal(control_start(others, &context, find_work, &control), 0);
    assert_int_equal(symlink("others/control", path), 0);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, NULL), -ECONNREFUSED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, NULL), -ECONNREFUSED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sum, 0);
    control_stop(control);
    assert_int_equal(rmdir(others), 0);
}

static void test_control__a_store_that_others_can_change_is_not_asked(void **state)
{
    (void)state;
    struct control *control = NULL, *refused = NULL;
    _cleanup_free_ char *error = NULL;
    int sum = 0;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    assert_int_equal(chmod(store, 0770), 0);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, &error), -EPERM);
    assert_non_null(strstr(error, "chmod go-w"));
    assert_int_equal(control_start(store, &context, find_work, &refused), -EPERM);
    assert_int_equal(chmod(store, 0700), 0);
    free(TAKE_PTR(error));
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, &error), 0);
    assert_int_equal(sum, 6);
    control_stop(control);
}

static void test_control__answers_row_by_row(void **state)
{
    (void)state;
    struct control *control = NULL;
    _cleanup_free_ char *error = NULL;
    int sum = 0;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    assert_int_equal(ask_for("count", 1000, NULL, add_up, &sum, &error), 0);
    assert_int_equal(sum, 1000 * 1001 / 2);
    assert_null(error);
    /* more connections than places: each is given back */
    for (int i = 0; i < 50; i++)
        assert_int_equal(ask_for("count", 1, NULL, add_up, &sum, &error), 0);
    control_stop(control);
}

static void test_control__errors_come_back_with_their_words(void **state)
{
    (void)state;
    struct control *control = NULL;
    char *error = NULL;
    int sum = 0;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    assert_int_equal(ask_for("count", 3, "a b", add_up, &sum, &error), -ENOENT);
    assert_string_equal(error, "a b: not here");
    assert_int_equal(sum, 6);
    free(TAKE_PTR(error));
    assert_int_equal(ask_for("no such", 0, NULL, add_up, &sum, &error), -EINVAL);
    free(error);
    control_stop(control);
}

static void test_control__without_a_daemon_nothing_listens(void **state)
{
    (void)state;
    struct control *control = NULL;
    int sum = 0;
    assert_int_equal(ask_for("count", 1, NULL, add_up, &sum, NULL), -ECONNREFUSED);
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    control_stop(control);
    assert_int_equal(ask_for("count", 1, NULL, add_up, &sum, NULL), -ECONNREFUSED);
}

static void test_control__a_socket_left_behind_is_replaced(void **state)
{
    (void)state;
    struct control *first = NULL, *second = NULL;
    int sum = 0;
    assert_int_equal(control_start(store, &context, find_work, &first), 0);
    assert_int_equal(control_start(store, &context, find_work, &second), 0);
    assert_int_equal(ask_for("count", 1, NULL, add_up, &sum, NULL), 0);
    control_stop(first);
    control_stop(second);
}

static void test_control__what_is_no_socket_is_left_alone(void **state)
{
    (void)state;
    struct control *control = NULL;
    _cleanup_free_ char *path = message("%s/control", store);
    FILE *out = fopen(path, "w");
    fputs("precious", out);
    fclose(out);
    assert_int_equal(control_start(store, &context, find_work, &control), -EADDRINUSE);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, sizeof("precious") - 1);
    unlink(path);
}

static void test_control__who_stops_listening_ends_the_work(void **state)
{
    (void)state;
    struct control *control = NULL;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    assert_int_equal(ask_for("for_ever", 0, NULL, stop_at_once, NULL, NULL), -ECANCELED);
    control_stop(control); /* returns only when the work has ended */
}

/* Returns a connection on which that was asked. */
static int send_request(const char *request)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control"};
    assert_int_equal(chdir(store), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    return fd;
}

/* More than there are connections, so that each has to end; and one that is there when all end. */
static void test_control__work_that_says_nothing_ends_with_who_asked(void **state)
{
    (void)state;
    struct control *control = NULL;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    for (int i = 1; i <= 200; i++) {
        int fd = send_request("{\"command\": \"quietly\"}\n");
        while (__atomic_load_n(&n_quiet, __ATOMIC_RELAXED) < i)
            sched_yield();
        if (i < 200)
            close(fd);
        else
            control_stop(control), close(fd);
        while (__atomic_load_n(&n_quiet_ended, __ATOMIC_RELAXED) < i)
            sched_yield();
    }
}

static void test_control__stopping_ends_an_answer(void **state)
{
    (void)state;
    struct control *control = NULL;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    _cleanup_close_ int fd = send_request("{\"command\": \"for_ever\"}\n");
    struct pollfd poll_fd = {fd, POLLIN, 0};
    assert_int_equal(poll(&poll_fd, 1, -1), 1); /* it answers, into a socket nobody empties */
    control_stop(control);
}

static void test_control__what_is_no_request_is_refused(void **state)
{
    (void)state;
    struct control *control = NULL;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control"};
    static const char *const wrong[] = {"nonsense\n", "[1]\n", "{}\n", "{\"command\": 7}\n", "\n"};
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(chdir(store), 0);
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        assert_int_equal(chdir("/"), 0);
        assert_int_equal(send(fd, wrong[i], strlen(wrong[i]), 0), strlen(wrong[i]));
        char answer[512];
        ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);
        assert_true(n > 0);
        answer[n] = '\0';
        assert_non_null(strstr(answer, "\"errno\":22"));
    }
    control_stop(control);
}

static int connect_idle(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control"};
    assert_int_equal(chdir(store), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(chdir("/"), 0);
    return fd;
}

enum { MANY = 200 }; /* more than are served at once */

static void test_control__connections_that_ask_nothing_lock_nobody_out(void **state)
{
    (void)state;
    struct control *control = NULL;
    int idle[MANY], sum = 0;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    for (int i = 0; i < MANY; i++)
        idle[i] = connect_idle();
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, NULL), 0);
    assert_int_equal(sum, 6);
    for (int i = 0; i < MANY; i++)
        close(idle[i]);
    control_stop(control);
}

/* Of those who ask as many are answered as there are threads; the next are told so, and answered
 * once there is one again. */
static void test_control__too_many_questions_are_refused_with_a_line(void **state)
{
    (void)state;
    struct control *control = NULL;
    static const char request[] = "{\"command\": \"for_ever\"}\n";
    int asking[MANY], n_refused = 0, sum = 0;
    char *error = NULL;
    assert_int_equal(control_start(store, &context, find_work, &control), 0);
    for (int i = 0; i < MANY; i++) {
        char answer[512];
        asking[i] = connect_idle();
        (void)send(asking[i], request, strlen(request), MSG_NOSIGNAL); /* a refused one is closed */
        ssize_t n = recv(asking[i], answer, sizeof(answer) - 1, MSG_PEEK);
        assert_true(n > 0);
        answer[n] = '\0';
        n_refused += strstr(answer, "\"errno\":16") != NULL;
    }
    assert_in_range(n_refused, 1, MANY - 16);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, &error), -EBUSY);
    assert_non_null(strstr(error, "ask again"));
    for (int i = 0; i < MANY; i++)
        close(asking[i]);
    int r;
    while ((r = ask_for("count", 3, NULL, add_up, &sum, NULL)) == -EBUSY)
        sched_yield();
    assert_int_equal(r, 0);
    free(error);
    control_stop(control);
}

/* A process of its own, which can be stopped. */
static void test_control__a_daemon_that_is_stopped_is_said_to_be(void **state)
{
    (void)state;
    char *error = NULL;
    int ready[2], sum = 0, status;
    assert_int_equal(pipe(ready), 0);
    pid_t daemon = fork();
    if (!daemon) {
        struct control *control = NULL;
        if (control_start(store, &context, find_work, &control) < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, NULL), 0);
    assert_int_equal(kill(daemon, SIGSTOP), 0);
    assert_int_equal(waitpid(daemon, &status, WUNTRACED), daemon);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, &error), -ETIMEDOUT);
    assert_non_null(strstr(error, "kill -CONT"));
    assert_int_equal(kill(daemon, SIGCONT), 0);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, NULL), 0);
    assert_int_equal(sum, 12);
    free(error);
    assert_int_equal(kill(daemon, SIGKILL), 0);
    assert_int_equal(waitpid(daemon, &status, 0), daemon);
    _cleanup_free_ char *path = message("%s/control", store);
    assert_int_equal(unlink(path), 0);
}

/* Stands for a daemon that hangs: it listens and never answers. */
static void test_control__a_daemon_that_never_answers_is_given_up(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control"};
    char *error = NULL;
    int sum = 0;
    assert_int_equal(chdir(store), 0);
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(ask_for("count", 3, NULL, add_up, &sum, &error), -ETIMEDOUT);
    assert_non_null(strstr(error, "does not answer"));
    free(error);
    assert_int_equal(unlink("control"), 0);
    assert_int_equal(chdir("/"), 0);
}

static int drop_row(void *user, struct json_object *row)
{
    (void)user;
    json_object_put(row);
    return 0;
}

/* Silent for longer than the tool looks away for. */
static int work_long(const struct work_context *unused, struct json_object *request, row_fn row,
                     void *user, char **ret_error)
{
    (void)unused, (void)request, (void)ret_error;
    sleep(7);
    return row(user, json_object_new_object());
}

static work_fn find_long_work(const char *command)
{
    return strcmp(command, "long") == 0 ? work_long : NULL;
}

static void test_control__a_long_silence_of_one_that_lives_is_borne(void **state)
{
    (void)state;
    struct control *control = NULL;
    assert_int_equal(control_start(store, &context, find_long_work, &control), 0);
    assert_int_equal(ask_for("long", 0, NULL, drop_row, NULL, NULL), 0);
    control_stop(control);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control__a_link_to_a_socket_is_no_daemon),
        cmocka_unit_test(test_control__a_store_that_others_can_change_is_not_asked),
        cmocka_unit_test(test_control__answers_row_by_row),
        cmocka_unit_test(test_control__errors_come_back_with_their_words),
        cmocka_unit_test(test_control__without_a_daemon_nothing_listens),
        cmocka_unit_test(test_control__a_socket_left_behind_is_replaced),
        cmocka_unit_test(test_control__what_is_no_socket_is_left_alone),
        cmocka_unit_test(test_control__who_stops_listening_ends_the_work),
        cmocka_unit_test(test_control__work_that_says_nothing_ends_with_who_asked),
        cmocka_unit_test(test_control__stopping_ends_an_answer),
        cmocka_unit_test(test_control__what_is_no_request_is_refused),
        cmocka_unit_test(test_control__connections_that_ask_nothing_lock_nobody_out),
        cmocka_unit_test(test_control__too_many_questions_are_refused_with_a_line),
        cmocka_unit_test(test_control__a_daemon_that_is_stopped_is_said_to_be),
        cmocka_unit_test(test_control__a_daemon_that_never_answers_is_given_up),
        cmocka_unit_test(test_control__a_long_silence_of_one_that_lives_is_borne),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
