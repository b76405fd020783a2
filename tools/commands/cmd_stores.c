/* kinfs stores: the stores where they are by default, and of which trees. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/questions/holder.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

struct stores_options {
    bool json;
    int wait_ms; /* for a tree that does not answer */
};

/* For the first one; who keeps one from answering keeps more. */
enum { WAIT_MS = 20000, WAIT_AGAIN_MS = 500 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stores_options *options = state->input;
    (void)argument;
    switch (key) {
    case 'j': command_set_json(&options->json); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option stores_options[] = {
    {"json", 'j', NULL, 0, "print JSON, an object a line", 0},
    {0},
};
static const struct argp parser = {
    stores_options, parse, "",
    "Print the stores that are where they go when nobody says otherwise: bytes on the disk, a tab, "
    "the state, a tab, the tree, a tab, the store. The state is: mounted or in use, with by whom; "
    "unused; gone, where the tree is not there any more, or not now: kinfs forget removes such a "
    "store; or does not answer. Exit code 1 when there is none.",
    NULL};

/* -- what is said of one -- */

static char *state_of(struct stores_options *options, const struct holder *holder)
{
    if (holder->alive)
        return holder_describe(holder);
    const int is_there = patience_is_directory(holder->source, options->wait_ms);
    if (is_there == -ETIMEDOUT)
        options->wait_ms = WAIT_AGAIN_MS;
    return message("%s", is_there > 0 ? "unused" : is_there == 0 ? "gone" : "does not answer");
}

static struct json_object *make_row(struct stores_options *options, const char *store,
                                    const struct holder *holder)
{
    _cleanup_free_ char *state = state_of(options, holder);
    struct json_object *row = json_object_new_object();
    json_path_add(row, "store", store);
    json_path_add(row, "source", holder->source);
    json_path_add(row, "state", state);
    work_add_count(row, "bytes", index_store_bytes(store));
    return row;
}

static void print_row(const struct stores_options *options, struct json_object *row)
{
    if (options->json) {
        command_print_json(row);
        return;
    }
    printf("%llu\t%s\t", (unsigned long long)command_count(row, "bytes"),
           command_text(row, "state"));
    command_print_path(row, "source", false);
    putchar('\t');
    command_print_path(row, "store", false);
    putchar('\n');
}

/* Returns 1: it is one; 0: it is none; or an error, which was told of. */
static int show_store(struct stores_options *options, int directory_fd, const char *above,
                      const char *name)
{
    _cleanup_(holder_done) struct holder holder = {0};
    _cleanup_free_ char *store = message("%s/%s", above, name), *why = NULL, *error = NULL;
    _cleanup_close_ int fd = trust_open_directory_at(directory_fd, name, &why);
    if (fd == -EPERM) {
        complain("store %s is not opened: %s", store, why ? why : strerror(EPERM));
        return fd;
    }
    /* A mount without a store has a directory without a lock. */
    if (fd < 0 || faccessat(fd, "lock", F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    int r = holder_read(store, &holder);
    if (r < 0)
        r = index_read_source(store, &holder.source, &error);
    if (r < 0) {
        complain("%s", error ? error : strerror(-r));
        return r;
    }
    struct json_object *row = make_row(options, store, &holder);
    print_row(options, row);
    json_object_put(row);
    return 1;
}

static int is_named(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int show_all(struct stores_options *options, char **ret_error)
{
    struct dirent **entries;
    _cleanup_free_ char *above = NULL, *why = NULL;
    bool has_any = false, has_failed = false;
    int r = location_stores(&above, ret_error);
    if (r < 0)
        return r;
    _cleanup_close_ int directory_fd = trust_open_directory(above, &why);
    if (directory_fd == -ENOENT)
        return -ENODATA;
    if (directory_fd < 0)
        return refuse(ret_error, directory_fd, "%s: %s", above,
                      why ? why : strerror(-directory_fd));
    const int n = scandirat(directory_fd, ".", &entries, is_named, alphasort);
    if (n < 0)
        return refuse(ret_error, -errno, "%s: %s", above, strerror(errno));
    for (int i = 0; i < n; i++) {
        r = show_store(options, directory_fd, above, entries[i]->d_name);
        has_any |= r > 0;
        has_failed |= r < 0;
        free(entries[i]);
    }
    free(entries);
    return has_failed ? refuse(ret_error, -EIO, "not all stores could be read")
           : has_any  ? 0
                      : -ENODATA;
}

int cmd_stores(int argc, char **argv)
{
    struct stores_options options = {.wait_ms = WAIT_MS};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    return command_end(show_all(&options, &error), error);
}
