/* kinfs mount: the daemon of a mount.
 *
 * The order of things: the tree is opened before anything is mounted over it, so that the daemon
 * never waits for its own mount; the fork comes before the first thread; the index is opened before
 * the mount (a damaged store must not leave a mount behind) and started after it (nothing is
 * indexed for a mount that failed). At the end the mount goes first, so that nobody hangs in it
 * while the index drains.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/escape.h"
#include "fs/fs.h"
#include "tools/mount/background.h"
#include "tools/commands/command.h"
#include "tools/questions/control.h"
#include "tools/show/json_path.h"
#include "tools/mount/mount_hold.h"
#include "tools/mount/service.h"
#include "tools/mount/signals.h"

_Static_assert((int)MOUNT_VIEW_SIMILAR == (int)FS_VIEW_SIMILAR &&
                   (int)MOUNT_VIEW_CLUSTERS == (int)FS_VIEW_CLUSTERS &&
                   (int)MOUNT_VIEW_UNIQUE == (int)FS_VIEW_UNIQUE &&
                   (int)MOUNT_VIEW_READING_LISTED == (int)FS_VIEW_READING_LISTED &&
                   (int)MOUNT_VIEW_CONTAINS == (int)FS_VIEW_CONTAINS &&
                   (int)MOUNT_VIEW_WITHIN == (int)FS_VIEW_WITHIN &&
                   (int)MOUNT_VIEW_PASSAGES == (int)FS_VIEW_PASSAGES &&
                   (int)MOUNT_VIEW_LOST == (int)FS_VIEW_LOST &&
                   (int)MOUNT_VIEW_RELATED == (int)FS_VIEW_RELATED &&
                   (int)MOUNT_VIEW_TOPICS == (int)FS_VIEW_TOPICS,
               "passed on as they are");
_Static_assert((int)MOUNT_WATCH_FANOTIFY == (int)FS_WATCH_FANOTIFY &&
                   (int)MOUNT_WATCH_INOTIFY == (int)FS_WATCH_INOTIFY &&
                   (int)MOUNT_WATCH_NONE == (int)FS_WATCH_NONE,
               "passed on as they are");

DEFINE_CLEANUP(struct control *, control_stop);
DEFINE_CLEANUP(struct fs *, fs_close);

static void end(void *fs)
{
    fs_exit(fs);
}

static void raise_limit(int resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(resource, &limit);
    }
}

/* Every open file of the mount is one of this process too; and how large a file may be is the
 * kernel's to ask of who writes, not of who started the daemon. */
static void raise_limits(void)
{
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    raise_limit(RLIMIT_NOFILE);
    if (setrlimit(RLIMIT_FSIZE, &unlimited) < 0)
        raise_limit(RLIMIT_FSIZE);
}

/* Ambient capabilities, with which a supervisor may have started the daemon, go on to all programs
 * it runs: extractors, whose input is anybody's. A kernel that knows of none has none to give. */
static void keep_capabilities(void)
{
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static int settle_mount(void *user, bool all, uint64_t *ticket, int wait_ms)
{
    return fs_settle(user, all, ticket, wait_ms);
}

static void add_mount_status(void *user, struct json_object *row)
{
    struct fs_status status;
    fs_get_status(user, &status);
    json_object_object_add(row, "protocol", json_object_new_string(status.protocol));
    json_object_object_add(row, "libfuse", json_object_new_string(status.libfuse));
    json_object_object_add(row, "passthrough", json_object_new_boolean(status.passthrough));
    json_object_object_add(row, "killpriv_v2", json_object_new_boolean(status.killpriv_v2));
    json_object_object_add(row, "posix_acl", json_object_new_boolean(status.posix_acl));
    /* No mount has it (docs/decisions/0018). */
    json_object_object_add(row, "io_uring", json_object_new_boolean(false));
    json_object_object_add(row, "io_uring_why",
                           json_object_new_string("libfuse cannot answer a ring's requests from "
                                                  "other threads"));
    json_object_object_add(row, "handles", json_object_new_boolean(status.handles));
    _cleanup_free_ char *limits = fs_describe_limits(user);
    if (limits)
        json_object_object_add(row, "limits", json_object_new_string(limits));
    json_object_object_add(row, "watch", json_object_new_string(status.watch));
    if (*status.watch_why)
        json_object_object_add(row, "watch_why", json_object_new_string(status.watch_why));
    work_add_count(row, "kept_seconds", (uint64_t)status.kept_s);
}

/* Once, to whoever mounts and to the log; in front both are standard error. */
static void tell_limits(const struct fs *fs, bool in_front)
{
    _cleanup_free_ char *limits = fs_describe_limits(fs);
    _cleanup_free_ char *text = limits ? message("mounted without root: %s", limits) : NULL;
    if (!text)
        return;
    if (!in_front)
        complain("%s", text);
    background_log(NULL, INDEX_LOG_INFO, text);
}

/* A question to a mount without an index is refused. */
static int work_refused(const struct work_context *context, struct json_object *request, row_fn row,
                        void *user, char **ret_error)
{
    (void)request;
    (void)row;
    (void)user;
    return work_refuse_sketches(context, ret_error);
}

static work_fn work_without_index(const char *command)
{
    work_fn work = work_of(command);
    return work && work != work_status ? work_refused : work;
}

struct beginning {
    const struct mount_plan *plan;
    struct mount_hold *hold;
    bool has_begun;
};

static void tell_begun(void *user)
{
    struct beginning *beginning = user;
    beginning->has_begun = true;
    _cleanup_free_ char *text =
        message("mounted %s on %s", beginning->plan->source, beginning->plan->mountpoint);
    background_log(NULL, INDEX_LOG_INFO, text);
    background_ready(NULL);
    service_tell("READY=1");
}

static void prepare_end(void *user)
{
    struct beginning *beginning = user;
    mount_hold_end_soon(beginning->hold);
}

static const char *why_no_thread(int error)
{
    return error == -EAGAIN ? "there is no thread left, or no memory for one; raise the limit "
                              "(ulimit -u, ulimit -v, TasksMax=)"
                            : strerror(-error);
}

static int serve(struct mount_plan *plan, const struct mount_options *options, bool in_front,
                 char **ret_error)
{
    struct backing *backing;
    _cleanup_(mount_hold_done) struct mount_hold hold = MOUNT_HOLD_NONE;
    _cleanup_(fs_close_p) struct fs *fs = NULL;
    _cleanup_(control_stop_p) struct control *control = NULL;

    _cleanup_free_ char *extra = access_times_for_kernel(&options->access_times, options->extra);

    keep_capabilities(); /* before there are other threads, which would keep theirs */
    int r = backing_open_at(plan->source_fd, &backing);
    close_p(&plan->source_fd);
    plan->source_fd = -1;
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", plan->source, strerror(-r));
    signals_block();
    r = mount_hold_take(plan, options, backing, &hold, ret_error);
    if (r < 0)
        return r;
    struct index *index = hold.index;
    const struct fs_options fs_options = {
        .backing = backing,
        .index = index,
        .source = plan->source,
        .store_path = plan->store,
        .mountpoint = plan->mountpoint,
        .mountpoint_fd = plan->mountpoint_fd,
        .views = options->views,
        .threshold = options->threshold,
        .unique = unique_rules_options(&hold.unique),
        .limit = options->limit,
        .list_xattr = options->list_xattr,
        .robots = options->robots,
        .allow_other = options->allow_other,
        .passthrough = options->passthrough,
        .settle_ms = options->settle_ms,
        .extra = extra,
        .debug = options->debug,
        .watch = (enum fs_watch)options->watch,
        .log = background_log,
    };
    r = fs_open(&fs_options, &fs, ret_error);
    close_p(&plan->mountpoint_fd);
    plan->mountpoint_fd = -1;
    if (r < 0)
        return *ret_error ? r : refuse(ret_error, r, "%s: %s", plan->mountpoint, why_no_thread(r));
    hold.used = true;
    if (index)
        mount_hold_remember_rules(&hold, plan->store);
    r = index ? index_start(index) : 0;
    if (r < 0)
        return refuse(ret_error, r, "%s: cannot start: %s", plan->store, why_no_thread(r));
    const struct work_context context = {
        .index = index,
        .backing = backing,
        .source = plan->source,
        .store = index ? plan->store : NULL,
        .mountpoint = plan->mountpoint,
        .unique = &fs_options.unique,
        .rules = &hold.documents,
        .started = index,
        .add_mount_status = add_mount_status,
        .settle_mount = settle_mount,
        .user = fs,
    };
    r = control_start(plan->store, &context, index ? work_of : work_without_index, &control);
    if (r < 0)
        return refuse(ret_error, r, "%s/control: %s", plan->store, why_no_thread(r));

    signals_serve(end, fs);
    tell_limits(fs, in_front);
    struct beginning beginning = {.plan = plan, .hold = &hold};
    r = fs_serve(fs, tell_begun, prepare_end, &beginning);
    signals_block();
    service_tell("STOPPING=1");
    return r < 0 ? refuse(ret_error, r, "%s: %s: %s", plan->mountpoint,
                          beginning.has_begun ? "the mount ended" : "nothing can be served",
                          why_no_thread(r))
                 : 0;
}

struct options {
    struct mount_options mount;
    const char *source, *mountpoint;
    bool in_front;
};

static void options_done(struct options *options)
{
    mount_options_done(&options->mount);
}

/* argp's own way takes two lines. */
#define end_usage(format, ...)                                                                     \
    (complain(format "; see kinfs mount --help", __VA_ARGS__), exit(argp_err_exit_status))

enum { OPTION_SLOPPY = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'f': options->in_front = true; return 0;
    case OPTION_SLOPPY: options->mount.sloppy = true; return 0;
    case 'o': {
        _cleanup_free_ char *error = NULL;
        if (mount_options_parse(&options->mount, argument, &error) < 0)
            end_usage("%s", error);
        return 0;
    }
    case ARGP_KEY_ARG:
        if (options->mountpoint)
            end_usage("%s: one argument too many", argument);
        *(options->source ? &options->mountpoint : &options->source) = argument;
        return 0;
    case ARGP_KEY_NO_ARGS: end_usage("%s", "which tree is to be mounted is not said");
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    {"foreground", 'f', NULL, 0, "stay in front, log to standard error", 0},
    {"sloppy", OPTION_SLOPPY, NULL, 0, "pass over options (of a later -o) that are not known", 0},
    {"options", 'o', "OPTION[,...]", 0, "see below; may be repeated", 0},
    {0},
};
static const struct argp parser = {
    argp_options,
    parse,
    "SOURCE [MOUNTPOINT]",
    "Mount the tree of documents SOURCE on MOUNTPOINT (or over itself), with the views similar/, "
    "clusters/, unique/ and others (views=V, below). Returns when the mount serves; the daemon "
    "goes on in the background, until kinfs umount ends it."
    "\v"
    "Options of -o:\n"
    "  threshold=R       least resemblance in similar/ (0.4)\n"
    "  limit=N           most links in a directory of a view, 0 for all (100)\n"
    "  views=V           which views are in the root: similar:contains:within:\n"
    "                    passages:related:topics:lost:clusters:unique (default),\n"
    "                    some of them, or none; .kinfs/ has all. With listed\n"
    "                    or hidden: whether listings have them (the tree mounted\n"
    "                    over itself: hidden; else: listed, but all except similar\n"
    "                    and clusters only as unique:listed); by name they are\n"
    "                    found always\n"
    "  near=R            least resemblance to what stays that is left out in\n"
    "                    unique/ (0.95)\n"
    "  representative=WHICH\n"
    "                    what stays: oldest, newest, shortest-path, largest or\n"
    "                    most-central (oldest)\n"
    "  stand_in=WHOSE    what stands in for others: owner (documents of the same\n"
    "                    owner alone) or anyone (owner)\n"
    "  prefer=PATTERN    stays before all others; may be repeated\n"
    "  reference=DIR[:DIR] what is in these directories of the tree always stays,\n"
    "                    and others are left out for it first; may be repeated\n"
    "  clusters=NAME:RULE[,...]\n"
    "                    more clusterings, clusters/NAME/; a RULE is components:R,\n"
    "                    components:R:containment:C (also joined when contained),\n"
    "                    center:R (all resemble their cluster's representative so),\n"
    "                    supershingle (nearly the same), exact:R, fast:R or\n"
    "                    broder1997; made anew after changes, as kinfs cluster\n"
    "                    does it\n"
    "  store=DIRECTORY   where the index is kept\n"
    "  policy=NAME       of a new store: default (w=5) or broder1997 (w=10)\n"
    "  tokens=KIND       of a new store: words, letters, or words+tags, of HTML and\n"
    "                    XML (words)\n"
    "  stopwords=LIST    of a new store: words that are left out, english, german,\n"
    "                    ... (none)\n"
    "  stemmer=NAME      of a new store: words are compared by their stems, by the\n"
    "                    rules of english, german, ... (none)\n"
    "  workers=N         threads that sketch, 0 for one a processor (0)\n"
    "  cache=SIZE        of the store in memory, as 64M (a 32nd of the memory there\n"
    "                    is, from 64M to 512M)\n"
    "  settle_ms=N       longest wait of a view for documents just written (2000)\n"
    "  passages[=N]      for passages/ and kinfs passages: all of N words in a row\n"
    "                    that two documents share are found, 8 to 256 (24)\n"
    "  topics=KIND       content: keep the words of documents, for related/ and\n"
    "                    kinfs related; anchor: those by which others link to\n"
    "                    them; both; or off (off)\n"
    "  keep_lost=TIME    how long kinfs lost, history and changes remember what\n"
    "                    documents were, as 90d or 1y; 0: not at all (365d)\n"
    "  exclude=PATTERN   no documents, as a line of a .kinfsignore; may be repeated\n"
    "  exclude_type=TYPE no documents: text, html, binary, pdf ...; may be repeated\n"
    "  type=TYPE         documents are of such types alone; may be repeated\n"
    "  min_size=BYTES, max_size=BYTES\n"
    "                    files that are shorter, or longer, are no documents\n"
    "  config=FILE       the configuration (" CONFIGURATION_FILE ")\n"
    "  log=FILE          messages go there, not to the system log\n"
    "  nosketch          pass through only: no index, no views, no attributes\n"
    "  watch=HOW         see changes beside the mount by fanotify or inotify, or\n"
    "                    none; auto takes the best that can be had here (auto)\n"
    "  list_xattr        computed attributes are listed by listxattr(2)\n"
    "  robots            what unique/ leaves out has the attribute\n"
    "                    user.xdg.robots.backup, for root and the owner\n"
    "  [no]allow_other   other users may use the mount (root: yes; else: no)\n"
    "  [no]passthrough   the kernel reads and writes without the daemon (yes)\n"
    "  debug             print every request (with -f)\n"
    "  ro, [no]suid, [no]dev, noexec, noatime ...\n"
    "                    as of mount(8); nosuid and nodev are the default, and\n"
    "                    with noexec hold where SOURCE is mounted so;\n"
    "                    noatime and its like where SOURCE is mounted so\n",
};

int cmd_mount(int argc, char **argv)
{
    _cleanup_(mount_plan_done) struct mount_plan plan = MOUNT_PLAN_NONE;
    _cleanup_free_ char *error = NULL;
    _cleanup_(options_done) struct options options = {0};
    int code = COMMAND_OK;
    mount_options_init(&options.mount);
    struct mount_options *mount = &options.mount;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_parse(&parser, argc, argv, &options);
    if (mount->sketch)
        command_configuration(mount->config, &configuration);
    mount->configuration = &configuration;

    int r = mount_plan_make(options.source, options.mountpoint, mount->store, mount->sketch,
                            mount->log, &plan, &error);
    if (r == 0)
        r = access_times_check(&mount->access_times, plan.source_fd, plan.source, &error);
    if (r == 0)
        r = mount_options_deny_as(mount, plan.source_fd, plan.source, &error);
    if (r < 0)
        return command_end(r, error);
    r = background_open_log(plan.log, options.in_front, &error);
    if (r < 0) {
        if (error)
            complain("log %s is not opened: %s", plan.log, error);
        else
            complain("%s: %s; name another file with -o log=", plan.log, strerror(-r));
        return COMMAND_FAILED;
    }
    raise_limits();
    if (!options.in_front) {
        r = background_start(&code);
        if (r < 0) {
            complain("no process for the daemon: %s; see what ulimit -u and ulimit -n allow",
                     strerror(-r));
            return COMMAND_FAILED;
        }
        if (r == 1)
            return code;
    }
    _cleanup_free_ char *remedy =
        message("the mount on %s is dead, mount it again with kinfs mount %s %s", plan.mountpoint,
                plan.source, plan.mountpoint);
    signals_tell_crashes(escape_make_plain(remedy));
    r = serve(&plan, mount, options.in_front, &error);
    if (r < 0) {
        background_log(NULL, INDEX_LOG_ERROR, error ? error : strerror(-r));
        background_ready(error ? error : strerror(-r));
    } else {
        _cleanup_free_ char *text =
            message("stopped: %s is no longer mounted on %s", plan.source, plan.mountpoint);
        background_log(NULL, INDEX_LOG_INFO, text);
    }
    return r < 0 ? COMMAND_FAILED : COMMAND_OK;
}
