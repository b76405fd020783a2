/* kinfs links: what documents link to, what of it is not there, and who links to a file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/counted.h"
#include "base/escape.h"
#include "tools/commands/command.h"
#include "tools/commands/links/linked_tree.h"
#include "tools/documents/document_links.h"
#include "tools/documents/regular_file.h"
#include "tools/show/json_path.h"

struct links_options {
    char **paths;
    size_t n_paths;
    const char *in;
    bool broken, to, json;
};

enum { OPTION_BROKEN = 0x100, OPTION_TO, OPTION_IN };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct links_options *options = state->input;
    switch (key) {
    case OPTION_BROKEN: options->broken = true; return 0;
    case OPTION_TO: options->to = true; return 0;
    case OPTION_IN: options->in = argument; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case ARGP_KEY_ARGS:
        options->paths = state->argv + state->next;
        options->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!options->n_paths)
            argp_usage(state);
        if (options->to && !options->in)
            argp_error(state, "--to takes --in=DIRECTORY, too: whose documents are looked through");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option links_options[] = {
    {"broken", OPTION_BROKEN, NULL, 0, "only links to what is not there", 0},
    {"to", OPTION_TO, NULL, 0, "links of documents below --in that lead to FILE, there or not", 0},
    {"in", OPTION_IN, "DIRECTORY", 0,
     "the tree that links lead about in: what begins with a slash is below it, and what leads "
     "above "
     "it is outside; all of the file system otherwise",
     0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {0},
};
static const struct argp parser = {
    links_options, parse, "FILE...",
    "Print the links of documents, and of all documents below directories: there, missing or "
    "outside, a tab, document:line, a tab, the file or the URL that it leads to, and of one that "
    "is "
    "missing, a tab and the only file below --in that is called so, if there is one. Links are "
    "those of HTML, Markdown, wikis, Org, reStructuredText, manual pages, mail, C and LaTeX, and "
    "the files that a README or an index lists. Nothing outside is asked. Exit code 1 when there "
    "is "
    "none.",
    NULL};

struct linking {
    const struct links_options *options;
    struct linked_owners owners;
    struct linked_tree tree;
    struct link_tree view; /* the same, for link_place_find() */
    struct document_list documents;
    char **wanted; /* names that --to asks about, sorted */
    size_t n_wanted;
    /* of the document that is read */
    const char *path, *name;
    uint64_t n_rows, n_unread;
};

static void linking_done(struct linking *linking)
{
    for (size_t i = 0; i < linking->n_wanted; i++)
        free(linking->wanted[i]);
    free(linking->wanted);
    document_list_done(&linking->documents);
    linked_tree_done(&linking->tree);
    linked_owners_done(&linking->owners);
}

/* -- what is printed -- */

static const char *state_of(const struct link_place *place)
{
    return place->outside ? "outside" : place->is == LINK_IS_NOTHING ? "missing" : "there";
}

static void add_text(struct json_object *row, const char *name, const char *bytes, size_t n)
{
    _cleanup_free_ char *text = message("%.*s", (int)n, n ? bytes : "");
    json_path_add(row, name, text);
}

static void print_json(const struct linking *linking, const struct link *link,
                       const struct link_place *place, const char *path, const char *found)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    json_path_add(row, "document", linking->path);
    work_add_count(row, "line", link->line);
    json_object_object_add(row, "kind", json_object_new_string(link_kind_name(link->kind)));
    add_text(row, "target", link->target, link->target_bytes);
    add_text(row, "text", link->text, link->text_bytes);
    json_object_object_add(row, "state", json_object_new_string(state_of(place)));
    json_path_add(row, place->outside ? "url" : "path", path);
    if (found)
        json_path_add(row, "found", found);
    command_print_json(row);
}

static void print_escaped(const char *text)
{
    _cleanup_free_ char *escaped = NULL;
    if (escape_name(text, &escaped) == 0)
        fputs(escaped, stdout);
}

static void print_row(struct linking *linking, const struct link *link,
                      const struct link_place *place)
{
    _cleanup_free_ char *name = NULL, *found = NULL,
                        *path = place->outside ? message("%s", place->name)
                                               : linked_tree_path(&linking->tree, place->name);
    linking->n_rows++;
    if (!place->outside && place->is == LINK_IS_NOTHING &&
        linked_tree_find_base(&linking->tree, place->name, &name) == 0)
        found = linked_tree_path(&linking->tree, name);
    if (linking->options->json) {
        print_json(linking, link, place, path, found);
        return;
    }
    printf("%s\t", state_of(place));
    print_escaped(linking->path);
    printf(":%llu\t", (unsigned long long)link->line);
    print_escaped(path);
    if (found) {
        putchar('\t');
        print_escaped(found);
    }
    putchar('\n');
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void take_link(void *user, const struct link *link)
{
    struct linking *linking = user;
    const struct links_options *options = linking->options;
    struct link_place place;
    const char *name = place.name;
    if (linking->tree.is_late || link_place_find(link, linking->name, &linking->view, &place) < 0 ||
        linking->tree.is_late)
        return;
    if (options->broken && (place.outside || place.is != LINK_IS_NOTHING))
        return;
    if (options->to && (place.outside || !bsearch(&name, linking->wanted, linking->n_wanted,
                                                  sizeof(*linking->wanted), compare_names)))
        return;
    print_row(linking, link, &place);
}

/* -- documents -- */

static int unread(struct linking *linking, const char *path, int error)
{
    if (error == -ENOMEM)
        return error;
    complain("%s: %s", path, error_text(error));
    linking->n_unread++;
    return 0;
}

static int read_document(struct linking *linking, const struct document_list *list, uint32_t i,
                         struct place_way *way)
{
    _cleanup_free_ char *path = document_list_path(list, i), *name = NULL;
    const struct link_sink sink = {take_link, linking};
    struct stat st;
    bool cut = false;
    if (!path)
        return -ENOMEM;
    _cleanup_close_ int fd = regular_file_open_found(list, i, way);
    if (fd < 0 || fstat(fd, &st) < 0)
        return unread(linking, path, fd < 0 ? fd : -errno);
    int r = linked_tree_name_of(&linking->tree, list, i, &name);
    if (r == -EXDEV) {
        complain("%s: is not below %s", path, linking->options->in);
        linking->n_unread++;
        return 0;
    }
    if (r < 0)
        return unread(linking, path, r);
    linking->path = path;
    linking->name = name;
    linked_tree_begin(&linking->tree, &st);
    if (linking->tree.is_over)
        return 0;
    r = document_links_read(fd, name, &sink, &cut);
    if (r == 0 && cut)
        remark("%s: too long, or damaged: only its beginning was read", path);
    if (r == 0)
        linked_tree_end(&linking->tree, path);
    return r < 0 ? unread(linking, path, r) : 0;
}

static int read_all(struct linking *linking, const struct document_list *list, char **ret_error)
{
    struct place_way way = {0};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < list->n; i++)
        r = read_document(linking, list, i, &way);
    place_way_done(&way);
    linking->n_unread += list->n_unread;
    if (r == 0 && linking->n_unread)
        return refuse(ret_error, -EIO, "%s could not be read",
                      counted(linking->n_unread, "document").text);
    return r < 0 ? r : linking->n_rows ? 0 : -ENODATA;
}

static int list_documents(struct linking *linking, char **ret_error)
{
    const struct links_options *options = linking->options;
    const struct document_rules rules = {0};
    size_t failed;
    linking->documents.most_bytes = LINKED_TREE_LIST_BYTES;
    int r = document_list_add(&linking->documents, options->paths, options->n_paths, NULL, &rules,
                              &failed);
    if (r == -E2BIG)
        return refuse(ret_error, r, "%s: too many documents; name a part of it",
                      failed < options->n_paths ? options->paths[failed] : "");
    return document_list_refuse(r, options->paths, options->n_paths, failed, ret_error);
}

static int list_wanted(struct linking *linking, char **ret_error)
{
    const struct links_options *options = linking->options;
    linking->wanted = calloc(options->n_paths, sizeof(*linking->wanted));
    if (!linking->wanted)
        return -ENOMEM;
    for (size_t i = 0; i < options->n_paths; i++) {
        const char *path = options->paths[i];
        int r = linked_tree_name_path(&linking->tree, path, &linking->wanted[i]);
        if (r == -EXDEV)
            return refuse(ret_error, r, "%s: is not below %s", path, options->in);
        if (r < 0)
            return refuse(ret_error, r, "%s: %s", path, error_text(r));
        linking->n_wanted++;
    }
    qsort(linking->wanted, linking->n_wanted, sizeof(*linking->wanted), compare_names);
    return 0;
}

static int links(const struct links_options *options, char **ret_error)
{
    _cleanup_(linking_done) struct linking linking = {
        .options = options,
        .owners = {.mutex = PTHREAD_MUTEX_INITIALIZER},
        .tree = {.owners = &linking.owners},
    };
    int r = linked_tree_open(&linking.tree, options->in, ret_error);
    if (r < 0)
        return r;
    linking.view = (struct link_tree){linked_tree_is, &linking.tree, !*linking.tree.top};
    r = options->to ? list_wanted(&linking, ret_error) : list_documents(&linking, ret_error);
    if (r == 0 && options->in)
        r = linked_tree_list(&linking.tree, ret_error);
    if (r < 0)
        return r;
    return read_all(&linking, options->to ? &linking.tree.documents : &linking.documents,
                    ret_error);
}

int cmd_links(int argc, char **argv)
{
    struct links_options options = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    const int r = links(&options, &error);
    return command_end(r, error);
}
