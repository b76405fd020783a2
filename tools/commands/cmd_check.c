/* kinfs check: a store is looked at for what it should say, and mended with --repair.
 *
 * A daemon is asked, and checks a snapshot beside its work. Without one the store is opened as for
 * any question, which finishes what a crash interrupted; what cannot even be opened is looked into
 * as far as it can be read.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/escape.h"
#include "tools/show/json_path.h"
#include "tools/questions/predecessor.h"
#include "tools/commands/rebuild_store.h"

/* -- the work -- */

struct telling {
    row_fn row;
    void *user;
};

static int tell_finding(void *user, const struct index_finding *finding)
{
    const struct telling *telling = user;
    struct json_object *row = json_object_new_object(), *object = json_object_new_object();
    json_object_object_add(object, "table", json_object_new_string(finding->table));
    if (finding->path)
        json_path_add(object, "path", *finding->path ? finding->path : ".");
    json_path_add(object, "what", finding->what);
    json_object_object_add(row, "finding", object);
    return telling->row(telling->user, row);
}

static int tell_progress(void *user, const char *table, uint64_t n_rows)
{
    const struct telling *telling = user;
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "checking", json_object_new_string(table));
    work_add_count(row, "rows", n_rows);
    return telling->row(telling->user, row);
}

static struct json_object *make_named_counts(const struct index_check *counts)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < counts->n_named; i++) {
        const struct index_check_clustering *named = &counts->named[i];
        struct json_object *row = json_object_new_object();
        json_object_object_add(row, "name", json_object_new_string(named->clustering.name));
        work_add_count(row, "clusters", named->clusters);
        work_add_count(row, "members", named->members);
        json_object_array_add(list, row);
    }
    return list;
}

static int tell_counts(const struct telling *telling, const struct index_check *counts)
{
    struct json_object *row = json_object_new_object(), *object = json_object_new_object();
    work_add_count(object, "names", counts->names);
    work_add_count(object, "links", counts->links);
    work_add_count(object, "documents", counts->documents);
    work_add_count(object, "skipped", counts->skipped);
    work_add_count(object, "unread", counts->unread);
    work_add_count(object, "records", counts->records);
    work_add_count(object, "classes", counts->classes);
    work_add_count(object, "postings_r", counts->postings_r);
    work_add_count(object, "postings_c", counts->postings_c);
    work_add_count(object, "postings_p", counts->postings_p);
    work_add_count(object, "past", counts->past);
    work_add_count(object, "dead_postings", counts->dead);
    work_add_count(object, "clusters", counts->clusters);
    work_add_count(object, "members", counts->members);
    json_object_object_add(object, "clusterings", make_named_counts(counts));
    work_add_count(object, "intents", counts->intents);
    work_add_count(object, "wrong", counts->findings);
    json_object_object_add(row, "counts", object);
    return telling->row(telling->user, row);
}

int work_check(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error)
{
    struct telling telling = {row, user};
    struct index_check counts;
    const struct index_check_options options = {.deep = work_flag(request, "deep"),
                                                .found = tell_finding,
                                                .progress = tell_progress,
                                                .user = &telling};
    int r = index_check(context->index, &options, &counts);
    if (r == -ESTALE)
        return refuse(ret_error, r,
                      "%s: the store had to be opened anew meanwhile; check it once more",
                      context->store);
    if (r < 0) {
        struct index_status status;
        index_get_status(context->index, &status);
        return refuse(ret_error, r, "%s: %s", context->store,
                      *status.last_error ? status.last_error : strerror(-r));
    }
    return tell_counts(&telling, &counts);
}

/* -- the command -- */

struct check_options {
    struct command_options common;
    bool deep, repair;
    const char *config;
    unsigned n_workers;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct check_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'd': options->deep = true; return 0;
    case 'r': options->repair = true; return 0;
    case 'c': options->config = argument; return 0;
    case 'w':
        options->n_workers = (unsigned)command_parse_count(state, "--workers", argument, 0, 256);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option check_options[] = {
    {"deep", 'd', NULL, 0, "find all clusters anew, too, and compare", 0},
    {"repair", 'r', NULL, 0, "mend what is wrong; the tree must not be mounted", 0},
    {"config", 'c', "FILE", 0,
     "for documents read again, and which files are documents (" CONFIGURATION_FILE
     ", and of documents what the store was last followed by)",
     0},
    {"workers", 'w', "N", 0, "threads that sketch, 0 (the default) for one a processor", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    check_options, parse, "[PATH]",
    "Check that what is stored about the tree that PATH (or the working directory) is in is whole "
    "and agrees with itself, and print what was counted. A mount serves on meanwhile. With "
    "--repair "
    "what is wrong is mended: what derives from the rest alone where only that is wrong, otherwise "
    "everything as kinfs rebuild does it, but documents whose sketches are sound are not read "
    "again. Exit code 0: nothing is wrong (any more); 1: something "
    "is; 3: it could not be checked, or mended.",
    children};

struct checking {
    const struct check_options *options;
    struct json_object *findings; /* with --json */
    struct json_object *counts;
    uint64_t n_told;
    bool drawn;
};

static void wipe_progress(struct checking *checking)
{
    if (checking->drawn)
        fputs("\r\033[K", stderr);
    checking->drawn = false;
}

static void print_finding(struct json_object *finding)
{
    _cleanup_free_ char *what = NULL;
    struct json_object *member;
    if (json_object_object_get_ex(finding, "path", &member)) {
        command_print_path(finding, "path", false);
        fputs(": ", stdout);
    }
    (void)json_path_get(finding, "what", &what);
    printf("%s: %s\n", command_text(finding, "table"), what ? escape_make_plain(what) : "");
}

static int take_row(void *user, struct json_object *row)
{
    struct checking *checking = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *member;
    if (!taken)
        return -ENOMEM;
    if (json_object_object_get_ex(taken, "checking", &member)) {
        if (isatty(STDERR_FILENO)) {
            fprintf(stderr, "\rchecking %s, %s\033[K", command_plain(member),
                    counted(command_count(taken, "rows"), "row").text);
            checking->drawn = true;
        }
    } else if (json_object_object_get_ex(taken, "finding", &member)) {
        if (!json_object_is_type(member, json_type_object))
            return -EPROTO;
        wipe_progress(checking);
        checking->n_told++;
        if (checking->options->common.json)
            json_object_array_add(checking->findings, json_object_get(member));
        else
            print_finding(member);
    } else if (json_object_object_get_ex(taken, "counts", &member)) {
        if (!json_object_is_type(member, json_type_object) ||
            !command_is_list(member, "clusterings", json_type_object))
            return -EPROTO;
        json_object_put(checking->counts);
        checking->counts = json_object_get(member);
    }
    return 0;
}

static void print_count(const struct checking *checking, const char *label, const char *name)
{
    printf("%-12s%llu\n", label, (unsigned long long)command_count(checking->counts, name));
}

static void print_named_counts(struct json_object *counts)
{
    struct json_object *list;
    if (!json_object_object_get_ex(counts, "clusterings", &list)) /* an older daemon's */
        return;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *named = json_object_array_get_idx(list, i);
        printf("  %-10s%llu, with %s\n", command_text(named, "name"),
               (unsigned long long)command_count(named, "clusters"),
               counted(command_count(named, "members"), "document").text);
    }
}

static void print_counts(const struct checking *checking)
{
    struct json_object *counts = checking->counts;
    uint64_t wrong = command_count(counts, "wrong");
    print_count(checking, "names", "names");
    printf("%-12s%llu", "documents", (unsigned long long)command_count(counts, "documents"));
    if (command_count(counts, "skipped"))
        printf(" (%llu more could not be read)",
               (unsigned long long)command_count(counts, "skipped"));
    putchar('\n');
    print_count(checking, "records", "records");
    print_count(checking, "classes", "classes");
    printf("%-12s%llu for resemblance, %llu for containment", "postings",
           (unsigned long long)command_count(counts, "postings_r"),
           (unsigned long long)command_count(counts, "postings_c"));
    if (command_count(counts, "postings_p"))
        printf(", %llu of passages", (unsigned long long)command_count(counts, "postings_p"));
    if (command_count(counts, "dead_postings"))
        printf(" (%llu of documents that are gone)",
               (unsigned long long)command_count(counts, "dead_postings"));
    printf("\n%-12s%llu, with %s\n", "clusters",
           (unsigned long long)command_count(counts, "clusters"),
           counted(command_count(counts, "members"), "document").text);
    print_named_counts(counts);
    if (command_count(counts, "past"))
        print_count(checking, "past", "past");
    if (wrong > checking->n_told)
        printf("%-12s%llu, of which %llu are above\n", "wrong", (unsigned long long)wrong,
               (unsigned long long)checking->n_told);
    else
        printf("%-12s%llu\n", "wrong", (unsigned long long)wrong);
}

static void print_remedy(const struct checking *checking, const struct location *at)
{
    _cleanup_free_ char *store = NULL, *source = NULL;
    if (command_count(checking->counts, "wrong") && !checking->options->repair &&
        escape_name(at->store, &store) == 0 && escape_name(at->source, &source) == 0)
        printf("unmount the tree if it is mounted, then run kinfs check --repair --store=%s %s; "
               "the documents are not touched\n",
               store, source);
}

static void print_end(struct checking *checking, const struct location *at)
{
    wipe_progress(checking);
    if (checking->options->common.json) {
        json_object_object_add(checking->counts, "findings", json_object_get(checking->findings));
        command_print_json(checking->counts);
    } else {
        print_counts(checking);
        print_remedy(checking, at);
    }
}

DEFINE_CLEANUP(struct backing *, backing_close);

/* For a store that could not be opened. Returns 0, or why even that did not go. */
static int check_damaged(struct checking *checking, const struct location *at, const char *why,
                         char **ret_error)
{
    _cleanup_(backing_close_p) struct backing *backing = NULL;
    struct telling telling = {take_row, checking};
    struct index_check counts;
    int r = ask_open_tree(at, &backing, ret_error);
    if (r < 0)
        return r;
    const struct index_options index_options = {
        .backing = backing, .source = at->source, .store_path = at->store};
    const struct index_check_options options = {.deep = checking->options->deep,
                                                .found = tell_finding,
                                                .progress = tell_progress,
                                                .user = &telling};
    r = index_check_damaged(&index_options, why, &options, &counts, ret_error);
    return r < 0 ? r : tell_counts(&telling, &counts);
}

static int check(struct checking *checking, const struct location *at, char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    const struct ask question = {.location = at, .command = "check"};
    _cleanup_free_ char *why = NULL;
    json_object_object_add(request, "deep", json_object_new_boolean(checking->options->deep));
    int r = ask(&question, request, take_row, checking, &why);
    if (r == -EUCLEAN || r == -EIO || r == -ENOENT) { /* the last: a store without its database */
        int damaged = check_damaged(checking, at, why ? why : strerror(-r), ret_error);
        if (damaged != -EBUSY)
            return damaged;
        free(TAKE_PTR(*ret_error)); /* it was a daemon that said so, and has it still */
    }
    if (r >= 0 && !checking->counts)
        r = refuse(&why, -EPROTO, "store %s: the answer has no counts", at->store);
    if (r < 0)
        *ret_error = TAKE_PTR(why);
    return r;
}

static void checking_done(struct checking *checking)
{
    json_object_put(checking->findings);
    json_object_put(checking->counts);
}

static bool is_wrong(const struct checking *checking)
{
    return command_count(checking->counts, "wrong") > 0;
}

static void print_repair(const struct checking *checking, const struct rebuild *rebuild)
{
    if (checking->options->common.json) {
        _cleanup_json_ struct json_object *row = json_object_new_object();
        json_object_object_add(row, "repaired", json_object_new_boolean(true));
        work_add_count(row, "documents", rebuild->documents);
        work_add_count(row, "read_again", rebuild->sketched);
        work_add_count(row, "clusters", rebuild->clusters);
        command_print_json(row);
        return;
    }
    printf("mended: %s in %s, %llu of them read again\n",
           counted(rebuild->documents, "document").text, counted(rebuild->clusters, "cluster").text,
           (unsigned long long)rebuild->sketched);
}

struct repairing {
    struct checking *checking;
    const struct location *at;
    struct rebuild rebuild;
    char *error;
};

static int tell_wrong(void *user, const struct index_finding *finding)
{
    const struct repairing *repairing = user;
    return tell_finding(&(struct telling){take_row, repairing->checking}, finding);
}

/* The findings are told before they are mended. */
static int tell_checked(void *user, const struct index_check *counts)
{
    const struct repairing *repairing = user;
    int r = tell_counts(&(struct telling){take_row, repairing->checking}, counts);
    if (r < 0)
        return r;
    print_end(repairing->checking, repairing->at);
    fflush(stdout);
    return 0;
}

static int repair_once(void *user)
{
    struct repairing *repairing = user;
    free(TAKE_PTR(repairing->error));
    return rebuild_store(&repairing->rebuild, &repairing->error);
}

/* Checks, and mends what is wrong. A tree that is mounted is checked alone: where nothing is wrong
 * there is nothing to mend. Returns an error, or what a check is said to have come to. */
static int repair(struct checking *checking, const struct configuration *configuration,
                  const struct location *at, char **ret_error)
{
    struct repairing repairing = {.checking = checking, .at = at};
    const struct index_repair_options options = {.deep = checking->options->deep,
                                                 .found = tell_wrong,
                                                 .checked = tell_checked,
                                                 .user = &repairing};
    repairing.rebuild =
        (struct rebuild){.at = at,
                         .configuration = configuration,
                         .rules = checking->options->config ? &configuration->documents : NULL,
                         .n_workers = checking->options->n_workers,
                         .repair = &options};
    int r = predecessor_outlive(at->store, repair_once, &repairing);
    _cleanup_free_ char *error = repairing.error;
    if (r == -EBUSY) {
        int checked = check(checking, at, ret_error);
        if (checked < 0) { /* nor can it be mended, for want of the store */
            free(TAKE_PTR(*ret_error));
            *ret_error = TAKE_PTR(error);
            return r;
        }
        print_end(checking, at);
        if (!is_wrong(checking))
            return 0;
    }
    if (r > INDEX_MENDING_NONE)
        print_repair(checking, &repairing.rebuild);
    if (r < 0)
        *ret_error = TAKE_PTR(error);
    return r < 0 ? r : 0;
}

int cmd_check(int argc, char **argv)
{
    struct check_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_parse(&parser, argc, argv, &options);
    if (options.repair)
        command_configuration(options.config, &configuration);
    _cleanup_(checking_done) struct checking checking = {.options = &options,
                                                         .findings = json_object_new_array()};
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r >= 0 && options.repair) {
        r = repair(&checking, &configuration, &location, &error);
        return command_end(r, error);
    }
    if (r >= 0)
        r = check(&checking, &location, &error);
    if (r < 0) {
        wipe_progress(&checking);
        return command_end(r, error);
    }
    print_end(&checking, &location);
    int code = command_end(0, NULL);
    return code == COMMAND_OK && is_wrong(&checking) ? COMMAND_NO_ANSWER : code;
}
