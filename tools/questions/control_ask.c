/* The tool's side of the control socket. An answer may take an hour, as a scan does, so silence
 * says nothing by itself: after some of it the daemon is asked something else, which a daemon that
 * lives refuses at once. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tools/questions/control.h"
#include "tools/questions/control_wire.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

enum {
    SILENCE_MS = 5000, /* after which the daemon is looked at */
    ANSWER_MS = 20000, /* for which one that lives needs at most, on a busy machine */
    READ_BYTES = 64 << 10,
};

struct line_reader {
    int fd;
    char *text;
    size_t n_bytes, room;
    size_t n_taken; /* bytes of the line before */
};

static void reader_done(struct line_reader *reader)
{
    close(reader->fd);
    free(reader->text);
}

/* The process that listens there, as of when it began to; uid -1 when nobody says. */
static struct ucred peer_of(int fd)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t n = sizeof(peer);
    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n);
    return peer;
}

/* The peer may be asked with a document, and its answer is believed. */
static int check_peer(const char *store, int fd, char **ret_error)
{
    const uid_t uid = peer_of(fd).uid;
    if (uid == 0 || uid == geteuid())
        return 0;
    return refuse(ret_error, -EPERM,
                  "store %s is not asked: user %u listens on its socket, who is neither root nor "
                  "its owner; end that process, then mount the tree anew",
                  store, (unsigned)uid);
}

static int connect_to(const char *store, char **ret_error)
{
    struct sockaddr_un address;
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int store_fd = control_open_address(store, &address, &why);
    _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* connect(2) waits while more wait already than the daemon lets wait. */
    const struct timeval wait = {.tv_sec = ANSWER_MS / 1000};
    if (store_fd == -EPERM)
        return refuse(ret_error, store_fd, "store %s is not asked: %s", store,
                      why ? why : strerror(EPERM));
    if (store_fd < 0)
        return refuse(ret_error, store_fd == -ENOENT ? -ECONNREFUSED : store_fd, "%s: %s", store,
                      strerror(-store_fd));
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0)
        return refuse(ret_error, -errno, "socket: %s", strerror(errno));
    if (!control_is_socket(store_fd))
        return refuse(ret_error, -ECONNREFUSED, "%s/control: no daemon listens there", store);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
        int r = check_peer(store, fd, ret_error);
        return r < 0 ? r : TAKE_FD(fd);
    }
    if (errno == EACCES || errno == EPERM)
        return refuse(ret_error, -EACCES, "%s: this store is another user's", store);
    if (errno == EAGAIN)
        return refuse(ret_error, -ETIMEDOUT,
                      "%s/control: the daemon does not answer; see with ps whether it is stopped",
                      store);
    return refuse(ret_error, errno == ENOENT ? -ECONNREFUSED : -errno, "%s/control: %s", store,
                  strerror(errno));
}

/* As kill -STOP and a debugger do it. */
static bool is_stopped(pid_t pid)
{
    char text[512], *end_of_name;
    _cleanup_free_ char *path = message("/proc/%d/stat", (int)pid);
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    end_of_name = strrchr(text, ')');
    return end_of_name && end_of_name[1] && strchr("Tt", end_of_name[2]);
}

static bool is_readable(int fd, int wait_ms)
{
    struct pollfd readable = {fd, POLLIN, 0};
    int r = poll(&readable, 1, wait_ms);
    return r > 0 || (r < 0 && errno != EINTR); /* recv(2) tells what went wrong */
}

/* The daemon lives, which is silent: no command has this name. */
static int check_daemon(const char *store, int fd, char **ret_error)
{
    const pid_t pid = peer_of(fd).pid;
    if (is_stopped(pid))
        return refuse(ret_error, -ETIMEDOUT,
                      "store %s: its daemon (process %d) is stopped; kill -CONT %d lets it go on",
                      store, (int)pid, (int)pid);
    _cleanup_json_ struct json_object *nothing = json_object_new_object();
    _cleanup_close_ int other = connect_to(store, ret_error);
    if (other < 0)
        return other;
    json_object_object_add(nothing, "command", json_object_new_string(""));
    (void)control_send_line(other, nothing);
    if (!is_readable(other, ANSWER_MS))
        return refuse(ret_error, -ETIMEDOUT,
                      "store %s: its daemon (process %d) does not answer; if it does not go on, "
                      "end it with kill -9 %d and mount again: nothing that was written is lost",
                      store, (int)pid, (int)pid);
    return 0;
}

/* Returns 1, or 0 at the end; the line is the reader's until the next call. */
static int read_line(struct line_reader *reader, const char *store, char **ret_line,
                     char **ret_error)
{
    reader->n_bytes -= reader->n_taken;
    if (reader->n_taken)
        memmove(reader->text, reader->text + reader->n_taken, reader->n_bytes);
    reader->n_taken = 0;
    for (size_t n_seen = 0;;) {
        char *end = n_seen < reader->n_bytes
                        ? memchr(reader->text + n_seen, '\n', reader->n_bytes - n_seen)
                        : NULL;
        if (end) {
            *end = '\0';
            reader->n_taken = (size_t)(end - reader->text) + 1;
            *ret_line = reader->text;
            return 1;
        }
        n_seen = reader->n_bytes;
        if (reader->room - reader->n_bytes < READ_BYTES) {
            char *more = realloc(reader->text, reader->room * 2 + READ_BYTES);
            if (!more)
                return refuse(ret_error, -ENOMEM, "%s", strerror(ENOMEM));
            reader->text = more;
            reader->room = reader->room * 2 + READ_BYTES;
        }
        while (!is_readable(reader->fd, SILENCE_MS)) {
            int r = check_daemon(store, reader->fd, ret_error);
            if (r < 0)
                return r;
        }
        ssize_t n = recv(reader->fd, reader->text + reader->n_bytes, READ_BYTES, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        reader->n_bytes += (size_t)n;
    }
}

static int not_understood(char **ret_error)
{
    return refuse(ret_error, -EPROTO, "the daemon's answer is not understood");
}

/* The last line's message; returns its code. */
static int read_end(struct json_object *end, char **ret_error)
{
    struct json_object *member;
    if (!json_object_object_get_ex(end, "errno", &member))
        return not_understood(ret_error);
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
    _cleanup_(reader_done) struct line_reader reader = {.fd = fd};
    /* A daemon that answers no more has said why, and closed. */
    int r = control_send_line(fd, request);
    if (r < 0 && r != -EPIPE)
        return refuse(ret_error, r, "%s/control: %s", store, strerror(-r));

    char *line = NULL;
    _cleanup_free_ char *why = NULL;
    while ((r = read_line(&reader, store, &line, &why)) > 0) {
        struct json_object *object = json_tokener_parse(line), *end;
        if (!json_object_is_type(object, json_type_object)) {
            json_object_put(object);
            return not_understood(ret_error);
        }
        if (json_object_object_get_ex(object, "end", &end)) {
            r = read_end(end, ret_error);
            json_object_put(object);
            return r;
        }
        r = row(user, object);
        if (r < 0)
            return r == -EPROTO ? not_understood(ret_error) : r;
    }
    return r < 0 ? refuse(ret_error, r, "%s", why)
                 : refuse(ret_error, -EPIPE, "the daemon ended before its answer did");
}
