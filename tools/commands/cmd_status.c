/* kinfs status: an index, all that it holds and does. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "tools/commands/command.h"
#include "tools/extract/landlock.h"
#include "tools/extract/own_tree.h"
#include "tools/extract/own_user.h"
#include "tools/options/topics_choice.h"
#include "tools/show/json_path.h"

static const char *state_name(enum document_state state)
{
    switch (state) {
    case DOCUMENT_CURRENT: return "current";
    case DOCUMENT_PENDING: return "pending";
    case DOCUMENT_SKIPPED: return "skipped";
    }
    return "unknown";
}

static int add_document(const struct work_context *context, struct json_object *request,
                        struct json_object *row, char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    struct file_key key;
    struct document_info info;
    int r = work_document(context, request, "path", &path, &key, &info, ret_error);
    if (r < 0)
        return r;
    struct json_object *document = json_object_new_object();
    json_path_add(document, "path", path);
    json_object_object_add(document, "state", json_object_new_string(state_name(info.state)));
    if (info.state == DOCUMENT_SKIPPED)
        json_path_add(document, "reason", info.reason);
    json_object_object_add(document, "type", json_object_new_string(info.type));
    work_add_count(document, "tokens", info.n_tokens);
    work_add_count(document, "cluster", info.cluster_id);
    work_add_count(document, "cluster_size", info.cluster_size);
    json_object_object_add(row, "document", document);
    return 0;
}

/* One that is made anew as a whole; of broder1997 with what its cap left out. */
static void add_remade(struct json_object *row, const struct index_clustering_status *clustering)
{
    json_object_object_add(row, "made", json_object_new_boolean(clustering->made));
    if (clustering->error)
        json_object_object_add(row, "error", json_object_new_string(strerror(-clustering->error)));
    if (clustering->made && clustering->clustering.kind == INDEX_CLUSTERING_BRODER1997)
        work_add_loss(row, &clustering->loss);
}

static void add_clusterings(struct index *index, struct json_object *object)
{
    struct index_clustering_status clusterings[INDEX_CLUSTERINGS_MAX];
    struct json_object *list = json_object_new_array();
    const size_t n = index_get_clusterings(index, clusterings);
    for (size_t i = 0; i < n; i++) {
        const struct index_clustering_status *clustering = &clusterings[i];
        struct json_object *row = json_object_new_object();
        char text[INDEX_CLUSTERING_TEXT_BYTES];
        index_clustering_print(&clustering->clustering, text);
        json_object_object_add(row, "name", json_object_new_string(clustering->clustering.name));
        json_object_object_add(row, "rule", json_object_new_string(strchr(text, ':') + 1));
        json_object_object_add(row, "current", json_object_new_boolean(clustering->current));
        add_remade(row, clustering);
        work_add_count(row, "clusters", clustering->clusters);
        work_add_count(row, "clustered_documents", clustering->clustered_documents);
        json_object_array_add(list, row);
    }
    json_object_object_add(object, "clusterings", list);
}

static void add_topics(const struct index_status *status, struct json_object *object)
{
    if (status->topics == INDEX_TOPICS_OFF)
        return;
    struct json_object *topics = json_object_new_object();
    json_object_object_add(topics, "words",
                           json_object_new_string(topics_choice_word(status->topics)));
    work_add_count(topics, "documents", status->topics_documents);
    json_object_object_add(topics, "current", json_object_new_boolean(status->topics_current));
    json_object_object_add(object, "topics", topics);
}

/* The walls of tools/extract/sandbox.h that extractors do without here: an empty list, none. */
static void add_sandbox(struct json_object *object)
{
    struct json_object *missing = json_object_new_array();
    if (landlock_version() < 1)
        json_object_array_add(missing, json_object_new_string("Landlock"));
    if (!own_user_is_to_be_had())
        json_object_array_add(missing, json_object_new_string("a user for each run"));
    if (!own_tree_is_to_be_had())
        json_object_array_add(missing, json_object_new_string("a tree for each run"));
    json_object_object_add(object, "sandbox_without", missing);
}

static void add_unread(const struct index_status *status, struct json_object *object)
{
    struct json_object *unread = json_object_new_array();
    for (const char *const *name = status->unread; *name; name++)
        json_object_array_add(unread, json_object_new_string(*name));
    json_object_object_add(object, "unread", unread);
}

static void add_rules(const struct document_rules *rules, struct json_object *object)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; rules && i < rules->n_said; i++) {
        struct json_object *row = json_object_new_object();
        const char *said = rules->said[i], *equals = strchr(said, '=');
        json_object_object_add(row, "name", json_object_new_string_len(said, (int)(equals - said)));
        json_path_add(row, "value", equals + 1);
        json_object_array_add(list, row);
    }
    json_object_object_add(object, "rules", list);
}

static void add_index(const struct work_context *context, struct json_object *object)
{
    struct index_status status;
    index_get_status(context->index, &status);
    json_path_add(object, "store", context->store);
    json_object_object_add(object, "running", json_object_new_boolean(context->started));
    json_object_object_add(object, "policy", json_object_new_string(status.policy));
    work_add_count(object, "policy_w", status.policy_w);
    json_object_object_add(object, "tokens", json_object_new_string(status.tokens));
    json_object_object_add(object, "stopwords", json_object_new_string(status.stopwords));
    json_object_object_add(object, "stemmer", json_object_new_string(status.stemmer));
    work_add_count(object, "documents", status.documents);
    work_add_count(object, "clusters", status.clusters);
    work_add_count(object, "clustered_documents", status.clustered_documents);
    work_add_count(object, "repairing", status.repairing);
    add_clusterings(context->index, object);
    add_topics(&status, object);
    add_rules(context->rules, object);
    work_add_count(object, "disk_bytes", status.store_bytes);
    work_add_count(object, "pending", status.pending_foreground);
    work_add_count(object, "pending_scan", status.pending_scan);
    work_add_count(object, "pending_slow", status.pending_slow);
    json_object_object_add(object, "scanning", json_object_new_boolean(status.scanning));
    work_add_count(object, "scan_done", status.scan_done);
    work_add_count(object, "scan_found", status.scan_found);
    work_add_count(object, "sketched_documents", status.sketched_documents);
    work_add_count(object, "sketched_bytes", status.sketched_bytes);
    work_add_count(object, "skipped", status.skipped);
    work_add_count(object, "failed", status.failed);
    json_path_add(object, "last_error", status.last_error);
    if (status.extracts) {
        work_add_count(object, "extractors_left", status.extractors_left);
        add_sandbox(object);
    }
    add_unread(&status, object);
}

int work_status(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    struct json_object *member;
    json_object_object_add(object, "version", json_object_new_string(KINFS_VERSION));
    work_add_count(object, "format", COMMAND_JSON_FORMAT);
    json_path_add(object, "source", context->source);
    if (context->mountpoint)
        json_path_add(object, "mountpoint", context->mountpoint);
    json_object_object_add(object, "sketching", json_object_new_boolean(context->index != NULL));
    if (context->index)
        add_index(context, object);
    if (context->add_mount_status)
        context->add_mount_status(context->user, object);
    if (json_object_object_get_ex(request, "path", &member)) {
        int r = context->index ? add_document(context, request, object, ret_error)
                               : work_refuse_sketches(context, ret_error);
        if (r < 0)
            return r;
    }
    return row(user, TAKE_PTR(object));
}

static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    NULL, NULL, "[PATH]",
    "Print what the index of the tree that PATH (or the working directory) is in holds, and what "
    "it does; with a document as PATH, also of that document. The tree need not be mounted.",
    children};

static void print_bytes(const char *label, uint64_t bytes)
{
    const char *unit[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t i = 0;
    for (; value >= 1000 && i < 4; i++)
        value /= 1000;
    printf("%s%.*f %s", label, i ? 1 : 0, value, unit[i]);
}

static void print_path_line(struct json_object *row, const char *label, const char *name)
{
    printf("%-12s", label);
    command_print_path(row, name, false);
    putchar('\n');
}

static void print_document(struct json_object *document)
{
    print_path_line(document, "document", "path");
    printf("%-12s%s%s%s", "  state", command_text(document, "state"),
           *command_text(document, "reason") ? ": " : "", command_text(document, "reason"));
    if (*command_text(document, "type"))
        printf(", %s, %s", command_text(document, "type"),
               counted(command_count(document, "tokens"), "token").text);
    putchar('\n');
    if (command_count(document, "cluster"))
        printf("%-12s%llu, of %s\n", "  cluster",
               (unsigned long long)command_count(document, "cluster"),
               counted(command_count(document, "cluster_size"), "document").text);
    else
        printf("%-12snone\n", "  cluster");
}

static void print_kernel(struct json_object *row)
{
    struct json_object *member;
    if (json_object_object_get_ex(row, "limits", &member))
        printf("%-12s%s\n", "limits", command_plain(member));
    if (json_object_object_get_ex(row, "passthrough", &member))
        printf("%-12spassthrough %s, FUSE %s\n", "kernel",
               json_object_get_boolean(member) ? "on" : "off", command_text(row, "protocol"));
    if (json_object_object_get_ex(row, "io_uring", &member))
        printf("%-12s%s; %s\n", "io_uring", json_object_get_boolean(member) ? "on" : "off",
               command_text(row, "io_uring_why"));
    if (json_object_object_get_ex(row, "watch", &member))
        printf("%-12s%s%s%s\n", "watch", command_plain(member),
               *command_text(row, "watch_why") ? "; " : "", command_text(row, "watch_why"));
}

static void print_unfinished(struct json_object *clustering)
{
    struct json_object *made;
    json_object_object_get_ex(clustering, "made", &made);
    if (*command_text(clustering, "error"))
        printf("; %s: %s; make room where the store is, then kinfs settle",
               json_object_get_boolean(made) ? "stale" : "not made",
               command_text(clustering, "error"));
    else
        printf(json_object_get_boolean(made) ? "; stale" : "; being made");
}

static void print_clusterings(struct json_object *row)
{
    struct json_object *list;
    if (!json_object_object_get_ex(row, "clusterings", &list))
        return;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *clustering = json_object_array_get_idx(list, i);
        printf("  %-10s%llu, with %s (%s)", command_text(clustering, "name"),
               (unsigned long long)command_count(clustering, "clusters"),
               counted(command_count(clustering, "clustered_documents"), "document").text,
               command_text(clustering, "rule"));
        if (command_count(clustering, "shared_shingles_left_out"))
            printf("; %llu of %s left out",
                   (unsigned long long)command_count(clustering, "shared_shingles_left_out"),
                   counted(command_count(clustering, "shared_shingles"), "shared shingle").text);
        if (!work_flag(clustering, "current"))
            print_unfinished(clustering);
        putchar('\n');
    }
}

static const char *topics_words(struct json_object *topics)
{
    struct json_object *words;
    const char *kind =
        json_object_object_get_ex(topics, "words", &words) ? json_object_get_string(words) : "";
    return strcmp(kind, "anchor") == 0 ? "words others link by"
           : strcmp(kind, "both") == 0 ? "words, and those others link by,"
                                       : "words";
}

static void print_topics(struct json_object *row)
{
    struct json_object *topics;
    if (json_object_object_get_ex(row, "topics", &topics) &&
        json_object_is_type(topics, json_type_object))
        printf("%-12s%s of %s%s\n", "topics", topics_words(topics),
               counted(command_count(topics, "documents"), "document").text,
               work_flag(topics, "current") ? "" : "; still to be counted anew");
}

static void print_rules(struct json_object *row)
{
    struct json_object *rules;
    if (!json_object_object_get_ex(row, "rules", &rules))
        return;
    for (size_t i = 0; i < json_object_array_length(rules); i++) {
        struct json_object *rule = json_object_array_get_idx(rules, i);
        printf("%-12s%s=", i ? "" : "rules", command_text(rule, "name"));
        command_print_path(rule, "value", false);
        putchar('\n');
    }
}

static void print_sandbox(struct json_object *row)
{
    struct json_object *missing;
    if (!json_object_object_get_ex(row, "sandbox_without", &missing))
        return;
    const size_t n = json_object_array_length(missing);
    printf("%-12s%s", "sandbox", n ? "without" : "whole");
    for (size_t i = 0; i < n; i++)
        printf("%s%s", i ? ", " : " ", command_plain(json_object_array_get_idx(missing, i)));
    putchar('\n');
}

static void print_left(struct json_object *row)
{
    const unsigned long long n = command_count(row, "extractors_left");
    if (n)
        printf("%-12s%s that cannot be ended%s; umount -f the FUSE or NFS mounts they wait for\n",
               "left", counted(n, "extractor").text,
               n >= INDEX_EXTRACTORS_LEFT_MAX ? ", so none is run" : "");
}

static void print_unread(struct json_object *row)
{
    struct json_object *unread;
    if (!json_object_object_get_ex(row, "unread", &unread) || !json_object_array_length(unread))
        return;
    printf("%-12s", "unread");
    for (size_t i = 0; i < json_object_array_length(unread); i++)
        printf("%s%s", i ? ", " : "", command_plain(json_object_array_get_idx(unread, i)));
    fputs(": compared as bytes; there is no", stdout);
    for (size_t i = 0; i < json_object_array_length(unread); i++)
        printf("%skinfs-extract-%s", i ? ", " : " ",
               command_plain(json_object_array_get_idx(unread, i)));
    putchar('\n');
}

static void print_status(struct json_object *row)
{
    struct json_object *member;
    print_path_line(row, "tree", "source");
    if (json_object_object_get_ex(row, "mountpoint", &member))
        print_path_line(row, "mounted on", "mountpoint");
    else
        printf("%-12s%s\n", "mounted on",
               work_flag(row, "running") ? "nothing (being indexed)" : "nothing");
    if (!work_flag(row, "sketching")) {
        printf("%-12soff (-o nosketch)\n", "sketching");
        print_kernel(row);
        return;
    }
    printf("%-12s", "store");
    command_print_path(row, "store", false);
    print_bytes(" (", command_count(row, "disk_bytes"));
    puts(")");
    printf("%-12s%s\n", "policy", command_text(row, "policy"));
    printf("%-12s%llu", "documents", (unsigned long long)command_count(row, "documents"));
    if (command_count(row, "skipped"))
        printf(" (%llu more could not be read)", (unsigned long long)command_count(row, "skipped"));
    printf("\n%-12s%llu, with %s", "clusters", (unsigned long long)command_count(row, "clusters"),
           counted(command_count(row, "clustered_documents"), "document").text);
    if (command_count(row, "repairing"))
        printf("; %llu being repaired", (unsigned long long)command_count(row, "repairing"));
    putchar('\n');
    print_clusterings(row);
    print_topics(row);
    print_rules(row);
    if (work_flag(row, "running")) {
        printf("%-12s%llu written, %llu of the scan", "pending",
               (unsigned long long)command_count(row, "pending"),
               (unsigned long long)command_count(row, "pending_scan"));
        if (command_count(row, "pending_slow"))
            printf("; %llu of them large or for extractors",
                   (unsigned long long)command_count(row, "pending_slow"));
        putchar('\n');
        printf("%-12s%s, %llu of %s\n", "scan", work_flag(row, "scanning") ? "running" : "done",
               (unsigned long long)command_count(row, "scan_done"),
               counted(command_count(row, "scan_found"), "document").text);
        printf("%-12s%s, ", "sketched",
               counted(command_count(row, "sketched_documents"), "document").text);
        print_bytes("", command_count(row, "sketched_bytes"));
        puts(" since the start");
    }
    print_sandbox(row);
    print_left(row);
    print_unread(row);
    print_kernel(row);
    if (command_count(row, "failed"))
        printf("%-12s%s to the store\n", "failed",
               counted(command_count(row, "failed"), "write").text);
    if (*command_text(row, "last_error"))
        printf("%-12s%s\n", "last error", command_text(row, "last_error"));
    if (json_object_object_get_ex(row, "document", &member))
        print_document(member);
}

static int print_row(void *user, struct json_object *row)
{
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (!command_is_list(taken, "clusterings", json_type_object) ||
        !command_is_list(taken, "rules", json_type_object) ||
        !command_is_list(taken, "sandbox_without", json_type_string) ||
        !command_is_list(taken, "unread", json_type_string))
        return -EPROTO;
    if (*(bool *)user)
        command_print_json(taken);
    else
        print_status(taken);
    return 0;
}

int cmd_status(int argc, char **argv)
{
    struct command_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.path, options.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    if (location.is_file)
        command_add_path(request, "path", options.path, location.path);
    const struct ask question = {.location = &location, .command = "status"};
    r = ask(&question, request, print_row, &options.json, &error);
    return command_end(r, error);
}
