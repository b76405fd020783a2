#include "tools/control.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/trust.h"
#include "tools/json_path.h"
#include "tools/message.h"

enum {
    MAX_CONNECTIONS = 16, /* people at keyboards; each costs a thread */
    MAX_REQUEST_BYTES = 64 << 10,
    PEER_WAIT_S = 30, /* a peer that does not read or write for so long has hung */
};

struct connection {
    struct control *control;
    pthread_t thread;
    int fd;
    bool used, ended; /* ended: can be joined */
};

struct control {
    const struct work_context *context;
    control_work_fn work;
    int store_fd, listen_fd, stop_fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of the connections' flags */
    struct connection connections[MAX_CONNECTIONS];
};

/* A socket's address holds 108 bytes and a store's path may be longer: through a descriptor of the
 * store any path fits. */
static const char socket_name[] = "control";

static int open_address(const char *store, struct sockaddr_un *ret_address, char **ret_why)
{
    int fd = trust_open_directory(store, ret_why);
    if (fd < 0)
        return fd;
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof(ret_address->sun_path), "/proc/self/fd/%d/%s", fd,
             socket_name);
    return fd;
}

/* What a link leads to is no daemon of ours. */
static bool is_socket(int store_fd)
{
    struct stat st;
    return fstatat(store_fd, socket_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

static int send_line(int fd, struct json_object *object)
{
    size_t n;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (!text)
        return -ENOMEM;
    struct iovec parts[2] = {{(void *)text, n}, {(void *)"\n", 1}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -errno;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
    return 0;
}

/* -- the daemon's side -- */

static int send_row(void *user, struct json_object *row)
{
    _cleanup_json_ struct json_object *taken = row;
    return taken ? send_line(*(int *)user, taken) : -ENOMEM;
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

static int answer(struct connection *connection, char **ret_error)
{
    struct control *control = connection->control;
    _cleanup_json_ struct json_object *request = NULL;
    int r = read_request(connection->fd, &request);
    if (r < 0)
        return refuse(ret_error, r, "not a request: %s", strerror(-r));
    struct json_object *member = NULL;
    json_object_object_get_ex(request, "command", &member);
    const char *name = member ? json_object_get_string(member) : NULL;
    work_fn work = name ? control->work(name) : NULL;
    if (!work)
        return refuse(ret_error, -EINVAL, "the daemon does not know the command '%s'",
                      name ? name : "");
    return work(control->context, request, send_row, &connection->fd, ret_error);
}

static void *serve(void *user)
{
    struct connection *connection = user;
    _cleanup_free_ char *error = NULL;
    int r = answer(connection, &error);

    _cleanup_json_ struct json_object *last = json_object_new_object();
    struct json_object *end = json_object_new_object();
    json_object_object_add(end, "errno", json_object_new_int(-r));
    if (r < 0)
        json_path_add(end, "error", error ? error : strerror(-r));
    json_object_object_add(last, "end", end);
    (void)send_line(connection->fd, last);

    LOCKED(&connection->control->lock);
    shutdown(connection->fd, SHUT_RDWR);
    connection->ended = true;
    return NULL;
}

static void reap(struct connection *connection)
{
    pthread_join(connection->thread, NULL);
    close(connection->fd);
    connection->used = connection->ended = false;
}

static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

/* Only the accepting thread takes and frees places, so looking for one needs no lock but for
 * `ended`. */
static void take_connection(struct control *control, int fd)
{
    struct timeval wait = {.tv_sec = PEER_WAIT_S};
    _cleanup_close_ int owned = fd;
    if (!is_trusted(fd))
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    for (size_t i = 0; i < MAX_CONNECTIONS; i++) {
        struct connection *connection = &control->connections[i];
        bool ended;
        {
            LOCKED(&control->lock);
            ended = connection->ended;
        }
        if (connection->used && ended)
            reap(connection);
        if (connection->used)
            continue;
        connection->control = control;
        connection->fd = fd;
        connection->ended = false;
        if (pthread_create(&connection->thread, NULL, serve, connection) == 0) {
            connection->used = true;
            (void)TAKE_FD(owned);
        }
        return;
    }
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
    if (is_socket(store_fd))
        unlinkat(store_fd, socket_name, 0);
}

int control_start(const char *store, const struct work_context *context, control_work_fn work,
                  struct control **ret_control)
{
    struct sockaddr_un address;
    _cleanup_close_ int store_fd = open_address(store, &address, NULL);
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
    int r = pthread_create(&control->thread, NULL, accept_all, control);
    if (r != 0) {
        unlink_socket(control->store_fd);
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
    pthread_mutex_destroy(&control->lock);
    close(control->store_fd);
    free(control);
}

/* -- the tool's side -- */

static int connect_to(const char *store, char **ret_error)
{
    struct sockaddr_un address;
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int store_fd = open_address(store, &address, &why);
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (store_fd == -EPERM)
        return refuse(ret_error, store_fd, "store %s is not asked: %s", store,
                      why ? why : strerror(EPERM));
    if (store_fd < 0)
        return refuse(ret_error, store_fd == -ENOENT ? -ECONNREFUSED : store_fd, "%s: %s", store,
                      strerror(-store_fd));
    if (fd < 0)
        return refuse(ret_error, -errno, "socket: %s", strerror(errno));
    if (!is_socket(store_fd))
        return refuse(ret_error, -ECONNREFUSED, "%s/control: no daemon listens there", store);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        if (errno == EACCES || errno == EPERM)
            return refuse(ret_error, -EACCES, "%s: this store is another user's", store);
        return refuse(ret_error, errno == ENOENT ? -ECONNREFUSED : -errno, "%s/control: %s", store,
                      strerror(errno));
    }
    return TAKE_FD(fd);
}

/* The last line's message; returns its code. */
static int read_end(struct json_object *end, char **ret_error)
{
    struct json_object *member;
    if (!json_object_object_get_ex(end, "errno", &member))
        return refuse(ret_error, -EPROTO, "the daemon's answer is not understood");
    int code = json_object_get_int(member);
    if (code == 0)
        return 0;
    _cleanup_free_ char *error = NULL;
    (void)json_path_get(end, "error", &error);
    return refuse(ret_error, -abs(code), "%s", error ? error : strerror(abs(code)));
}

int control_ask(const char *store, struct json_object *request, row_fn row, void *user,
                char **ret_error)
{
    int fd = connect_to(store, ret_error);
    if (fd < 0)
        return fd;
    _cleanup_fclose_ FILE *stream = fdopen(fd, "r");
    if (!stream) {
        close(fd);
        return -ENOMEM;
    }
    int r = send_line(fd, request);
    if (r < 0)
        return refuse(ret_error, r, "%s/control: %s", store, strerror(-r));

    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    while (getline(&line, &line_bytes, stream) > 0) {
        struct json_object *object = json_tokener_parse(line), *end;
        if (!json_object_is_type(object, json_type_object)) {
            json_object_put(object);
            return refuse(ret_error, -EPROTO, "the daemon's answer is not understood");
        }
        if (json_object_object_get_ex(object, "end", &end)) {
            r = read_end(end, ret_error);
            json_object_put(object);
            return r;
        }
        r = row(user, object);
        if (r < 0)
            return r;
    }
    return refuse(ret_error, -EPIPE, "the daemon ended before its answer did");
}
