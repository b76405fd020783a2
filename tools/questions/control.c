#include "tools/questions/control.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "tools/questions/control_wire.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

enum {
    MAX_CONNECTIONS = 64, /* scripts and people at keyboards; each costs a thread */
    MAX_REQUEST_BYTES = 64 << 10,
    PEER_WAIT_S = 30, /* a peer that does not read or write for so long has hung */
};

struct connection {
    struct control *control;
    pthread_t thread;
    int fd;
    bool used;
    bool asked, ended; /* its request was read; it can be joined */
    bool turned_away;
    uint64_t number; /* of all that came */
};

struct control {
    const struct work_context *context;
    work_finder work;
    int store_fd, listen_fd, stop_fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of the connections' asked and ended */
    pthread_cond_t changed;
    uint64_t n_taken;
    struct connection connections[MAX_CONNECTIONS];
};

static int send_row(void *user, struct json_object *row)
{
    _cleanup_json_ struct json_object *taken = row;
    return taken ? control_send_line(*(int *)user, taken) : -ENOMEM;
}

static int read_request(int fd, struct json_object **ret_request)
{
    _cleanup_free_ char *text = malloc(MAX_REQUEST_BYTES);
    if (!text)
        return -ENOMEM;
    for (size_t n = 0; n < MAX_REQUEST_BYTES;) {
        ssize_t got = recv(fd, text + n, MAX_REQUEST_BYTES - n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EPIPE;
        n += (size_t)got;
        if (text[n - 1] != '\n')
            continue;
        text[n - 1] = '\0';
        struct json_object *request = json_tokener_parse(text);
        if (!json_object_is_type(request, json_type_object)) {
            json_object_put(request);
            return -EINVAL;
        }
        *ret_request = request;
        return 0;
    }
    return -EMSGSIZE;
}

static void set_flag(struct connection *connection, bool *flag)
{
    LOCKED(&connection->control->lock);
    *flag = true;
    pthread_cond_signal(&connection->control->changed);
}

/* The other side has gone, or control_stop() ends it. */
static bool is_over(void *user)
{
    const struct connection *connection = user;
    struct pollfd fd = {.fd = connection->fd};
    return poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR);
}

static int answer(struct connection *connection, char **ret_error)
{
    struct control *control = connection->control;
    _cleanup_json_ struct json_object *request = NULL;
    int r = read_request(connection->fd, &request);
    if (r < 0)
        return refuse(ret_error, r, "not a request: %s", strerror(-r));
    set_flag(connection, &connection->asked);
    struct json_object *member = NULL;
    json_object_object_get_ex(request, "command", &member);
    const char *name = member ? json_object_get_string(member) : NULL;
    work_fn work = name ? control->work(name) : NULL;
    if (!work)
        return refuse(ret_error, -EINVAL, "the daemon does not know the command '%s'",
                      name ? name : "");
    struct work_context context = *control->context;
    context.stop = is_over;
    context.stop_user = connection;
    return work(&context, request, send_row, &connection->fd, ret_error);
}

static void send_end(int fd, int r, const char *error)
{
    _cleanup_json_ struct json_object *last = json_object_new_object();
    struct json_object *end = json_object_new_object();
    json_object_object_add(end, "errno", json_object_new_int(-r));
    if (r < 0)
        json_path_add(end, "error", error ? error : strerror(-r));
    json_object_object_add(last, "end", end);
    (void)control_send_line(fd, last);
}

static void *serve(void *user)
{
    struct connection *connection = user;
    _cleanup_free_ char *error = NULL;
    int r = answer(connection, &error);
    send_end(connection->fd, r, error);
    shutdown(connection->fd, SHUT_RDWR);
    set_flag(connection, &connection->ended);
    return NULL;
}

static void reap(struct connection *connection)
{
    pthread_join(connection->thread, NULL);
    close(connection->fd);
    connection->used = false;
}

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* A place for a connection, or NULL. Only the accepting thread takes and frees places. */
static struct connection *find_place(struct control *control)
{
    for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
        struct connection *connection = &control->connections[i];
        bool ended;
        {
            LOCKED(&control->lock);
            ended = connection->ended;
        }
        if (connection->used && ended)
            reap(connection);
        if (!connection->used)
            return connection;
    }
    return NULL;
}

static struct connection *find_idle(struct control *control)
{
    struct connection *oldest = NULL;
    for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
        struct connection *connection = &control->connections[i];
        if (!connection->asked && !connection->turned_away &&
            (!oldest || connection->number < oldest->number))
            oldest = connection;
    }
    return oldest;
}

/* With all places taken, the one that asked nothing for longest goes; one whose request arrives at
 * that moment stays, and it is the next one's turn. */
static void turn_idle_away(struct control *control)
{
    struct connection *idle;
    LOCKED(&control->lock);
    while ((idle = find_idle(control))) {
        idle->turned_away = true;
        shutdown(idle->fd, SHUT_RD);
        while (!idle->asked && !idle->ended)
            pthread_cond_wait(&control->changed, &control->lock);
        if (!idle->asked)
            return;
    }
}

static void take_connection(struct control *control, int fd)
{
    struct timeval wait = {.tv_sec = PEER_WAIT_S};
    _cleanup_close_ int owned = fd;
    if (!is_trusted(fd))
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    struct connection *connection = find_place(control);
    if (!connection) {
        turn_idle_away(control);
        connection = find_place(control);
    }
    if (!connection) {
        _cleanup_free_ char *busy =
            message("the daemon answers %d requests already; ask again when one of them has ended",
                    MAX_CONNECTIONS);
        send_end(fd, -EBUSY, busy);
        return;
    }
    *connection = (struct connection){.control = control, .fd = fd, .number = control->n_taken++};
    int r = pthread_create(&connection->thread, NULL, serve, connection);
    connection->used = r == 0;
    if (r == 0)
        (void)TAKE_FD(owned);
    else
        send_end(fd, -r, "the daemon has no thread or memory left to answer; ask again later");
}

static void *accept_all(void *user)
{
    struct control *control = user;
    struct pollfd fds[2] = {{control->listen_fd, POLLIN, 0}, {control->stop_fd, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[1].revents)
            return NULL;
        if (!(fds[0].revents & POLLIN))
            continue;
        int fd = accept4(control->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0)
            take_connection(control, fd);
        else if (errno == EMFILE || errno == ENFILE)
            poll(&fds[1], 1, 100); /* the connection stays pending; a busy loop would not help */
    }
}

static void unlink_socket(int store_fd)
{
    if (control_is_socket(store_fd))
        unlinkat(store_fd, CONTROL_SOCKET, 0);
}

int control_start(const char *store, const struct work_context *context, work_finder work,
                  struct control **ret_control)
{
    struct sockaddr_un address;
    _cleanup_close_ int store_fd = control_open_address(store, &address, NULL);
    if (store_fd < 0)
        return store_fd;
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    _cleanup_close_ int stop_fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0 || stop_fd < 0)
        return -errno;
    unlink_socket(store_fd);
    /* The store is 0700; the mode of the socket says the same for itself. */
    if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, MAX_CONNECTIONS) < 0)
        return -errno;

    struct control *control = calloc(1, sizeof(*control));
    if (!control)
        return -ENOMEM;
    control->context = context;
    control->work = work;
    control->store_fd = TAKE_FD(store_fd);
    control->listen_fd = fd;
    control->stop_fd = stop_fd;
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->changed, NULL);
    int r = pthread_create(&control->thread, NULL, accept_all, control);
    if (r != 0) {
        unlink_socket(control->store_fd);
        pthread_cond_destroy(&control->changed);
        pthread_mutex_destroy(&control->lock);
        close(control->store_fd);
        free(control);
        return -r;
    }
    (void)TAKE_FD(fd);
    (void)TAKE_FD(stop_fd);
    *ret_control = control;
    return 0;
}

void control_stop(struct control *control)
{
    if (!control)
        return;
    unlink_socket(control->store_fd);
    eventfd_write(control->stop_fd, 1);
    pthread_join(control->thread, NULL);
    for (size_t i = 0; i < MAX_CONNECTIONS; i++)
        if (control->connections[i].used) {
            shutdown(control->connections[i].fd, SHUT_RDWR);
            reap(&control->connections[i]);
        }
    close(control->listen_fd);
    close(control->stop_fd);
    pthread_cond_destroy(&control->changed);
    pthread_mutex_destroy(&control->lock);
    close(control->store_fd);
    free(control);
}
