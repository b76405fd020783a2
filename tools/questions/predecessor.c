#include "tools/questions/predecessor.h"

#include <errno.h>
#include <time.h>

#include "tools/questions/control.h"
#include "tools/questions/holder.h"
#include "tools/show/json_path.h"

enum {
    END_WAIT_MS = 60000,    /* the daemon drains what was just written (seconds), and closes */
    UNKNOWN_WAIT_MS = 1000, /* a process that dies gives up its files one after the other */
    SOCKET_WAIT_MS = 1000,  /* and one whose mount has gone has to get to run first */
    POLL_MS = 20,
};

static int drop_row(void *user, struct json_object *row)
{
    (void)user;
    json_object_put(row);
    return 0;
}

/* The first thing a daemon does when its mount has gone is to close the socket. One that is
 * starting has no socket yet, nor a mount, and is soon seen to have both. */
static bool answers(const char *store)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    if (!request)
        return true;
    json_object_object_add(request, "command", json_object_new_string("status"));
    int r = control_ask(store, request, drop_row, NULL, NULL);
    return r != -ECONNREFUSED && r != -EPIPE && r != -ECONNRESET;
}

static bool is_ending(const char *store, int waited_ms)
{
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(store, &holder) < 0 || !holder.alive)
        return waited_ms < UNKNOWN_WAIT_MS;
    return holder.mountpoint && !holder_is_mounted(&holder) &&
           (waited_ms < SOCKET_WAIT_MS || !answers(store));
}

int predecessor_outlive(const char *store, int (*take)(void *user), void *user)
{
    for (int waited_ms = 0;; waited_ms += POLL_MS) {
        int r = take(user);
        if (r != -EBUSY || waited_ms >= END_WAIT_MS || !is_ending(store, waited_ms))
            return r;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}
