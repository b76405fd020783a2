#include "tools/documents/document_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "base/files/trust.h"
#include "engine/ignore/ignore_file.h"
#include "tools/documents/place.h"
#include "tools/show/message.h"
#include "tools/questions/patience.h"

void document_list_done(struct document_list *list)
{
    paths_done(&list->paths);
    free(list->documents);
    free(list->reals);
    *list = (struct document_list){0};
}

uint64_t document_list_memory(const struct document_list *list)
{
    return paths_memory(&list->paths) + list->n * sizeof(struct document) +
           (list->reals ? list->n * sizeof(struct path) : 0);
}

char *document_list_path(const struct document_list *list, uint32_t i)
{
    return paths_get(&list->paths, &list->documents[i].path);
}

char *document_list_real(const struct document_list *list, uint32_t i)
{
    return list->reals ? paths_get(&list->paths, &list->reals[i]) : NULL;
}

static int check_memory(const struct document_list *list)
{
    const uint64_t n_bytes = document_list_memory(list) + list->listing_bytes;
    return list->most_bytes && n_bytes > list->most_bytes ? -E2BIG : 0;
}

static int add(struct document_list *list, const char *path, struct document document)
{
    if (list->n == UINT32_MAX - 1)
        return -EOVERFLOW;
    if (!MAKE_ROOM(list->documents, list->documents_room, list->n + 1))
        return -ENOMEM;
    int r = paths_put(&list->paths, path, &document.path);
    if (r < 0)
        return r;
    list->documents[list->n++] = document;
    return check_memory(list);
}

/* A path that leads where it leads, so far. */
static struct document given(const char *path)
{
    return (struct document){.path.n_named = (uint32_t)strlen(path)};
}

/* A directory that is not walked: none where the path is NULL or nothing is there yet. */
struct left_out {
    bool is_there;
    dev_t dev;
    ino_t ino;
};

static struct left_out left_out_of(const char *path)
{
    struct stat st;
    _cleanup_close_ int fd = path ? trust_open_anywhere(path, NULL) : -1;
    if (fd < 0 || fstat(fd, &st) < 0)
        return (struct left_out){.is_there = false};
    return (struct left_out){true, st.st_dev, st.st_ino};
}

/* -- the walk -- */

struct walk {
    struct document_list *list;
    const struct left_out *left_out;
    const struct document_rules *rules;
    const struct ignore_rules *defaults;
    uint32_t n_named; /* bytes of the path that is walked */
    struct place_way way;
};

struct entries {
    struct document_list *list; /* counts their memory */
    char **names;
    size_t n, room;
    uint64_t n_bytes;
};

/* What malloc(3) adds to each, and that an array may have twice the room that it needs. */
enum { NAME_BYTES = 16 + 2 * sizeof(char *) };

static void entries_done(struct entries *entries)
{
    entries->list->listing_bytes -= entries->n_bytes;
    for (size_t i = 0; i < entries->n; i++)
        free(entries->names[i]);
    free(entries->names);
}

static int add_entry(struct entries *entries, const char *name)
{
    if (!MAKE_ROOM(entries->names, entries->room, entries->n + 1))
        return -ENOMEM;
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    const size_t n_bytes = strlen(copy) + 1 + NAME_BYTES;
    entries->names[entries->n++] = copy;
    entries->n_bytes += n_bytes;
    entries->list->listing_bytes += n_bytes;
    return check_memory(entries->list);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_entries(int fd, struct entries *entries)
{
    int list_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    _cleanup_closedir_ DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!dir)
        return -errno;
    errno = 0;
    for (struct dirent *entry; r == 0 && (entry = readdir(dir)); errno = 0)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = add_entry(entries, entry->d_name);
    if (r == 0 && errno)
        r = -errno;
    if (entries->n)
        qsort(entries->names, entries->n, sizeof(*entries->names), compare_names);
    return r;
}

static int leave_out(struct document_list *list, const char *path, const char *why)
{
    complain("%s: %s; left out", path, why);
    list->n_unread++;
    return 0;
}

static bool is_left_out(const struct left_out *left_out, const struct stat *st)
{
    return left_out->is_there && st->st_dev == left_out->dev && st->st_ino == left_out->ino;
}

/* The part of a path below what was named. */
static const char *below_named(const struct walk *walk, const char *path)
{
    const char *below = path + walk->n_named;
    return *below == '/' ? below + 1 : below;
}

static bool is_document(const struct walk *walk, const char *path, const struct stat *st,
                        const struct ignore_level *above)
{
    const struct document_rules *rules = walk->rules;
    if (S_ISREG(st->st_mode) &&
        ignore_leaves_out_size((uint64_t)st->st_size, rules->least_bytes, rules->most_bytes))
        return false;
    return !ignore_leaves_out(rules->exclude, above, walk->defaults, below_named(walk, path),
                              S_ISDIR(st->st_mode));
}

/* The file is looked up only where the directory was seen to have it: a look-up in a directory that
 * somebody keeps locked waits beyond any signal, as listing it does not. */
static void read_ignore_file(const struct walk *walk, const char *path, int fd,
                             const struct entries *entries, struct ignore_rules **ret_rules)
{
    const char *name = IGNORE_FILE;
    if (!entries->n ||
        !bsearch(&name, entries->names, entries->n, sizeof(*entries->names), compare_names))
        return;
    unsigned depth = 0;
    for (const char *slash = below_named(walk, path); (slash = strchr(slash, '/')); slash++)
        depth++;
    if (depth >= IGNORE_DEPTH_MAX)
        return;
    int r = ignore_file_read(fd, ret_rules);
    if (r == -EPERM)
        complain("%s/" IGNORE_FILE ": " IGNORE_FILE_REFUSED, path);
    else if (r == -E2BIG)
        complain("%s/" IGNORE_FILE ": its first %d lines and %d bytes count", path,
                 IGNORE_LINES_MAX, IGNORE_BYTES_MAX);
    else if (r < 0)
        complain("%s/" IGNORE_FILE ": %s", path, strerror(-r));
}

/* Adds a file, gives the entries of a directory and its ignore file. Nothing is open afterwards:
 * directories may be deeper than a process may have descriptors. */
static int look_at(struct walk *walk, const char *path, const struct ignore_level *above,
                   struct entries *entries, struct ignore_rules **ret_rules)
{
    struct stat st;
    const bool is_named = !path[walk->n_named];
    _cleanup_close_ int fd = place_open(&walk->way, path, walk->n_named);
    if (fd == -EXDEV)
        return leave_out(walk->list, path, "another user's mount, which can show anything");
    if (fd < 0)
        return leave_out(walk->list, path, strerror(-fd));
    if (fstat(fd, &st) < 0)
        return leave_out(walk->list, path, strerror(errno));
    if (!is_named && !is_document(walk, path, &st, above))
        return 0;
    if (S_ISREG(st.st_mode))
        return add(
            walk->list, path,
            (struct document){.dev = st.st_dev, .ino = st.st_ino, .path.n_named = walk->n_named});
    if (!S_ISDIR(st.st_mode) || (!is_named && is_left_out(walk->left_out, &st)))
        return 0;
    int r = read_entries(fd, entries);
    if (r == 0)
        read_ignore_file(walk, path, fd, entries, ret_rules);
    return r < 0 && r != -ENOMEM && r != -E2BIG ? leave_out(walk->list, path, strerror(-r)) : r;
}

static int visit(struct walk *walk, const char *path, const struct ignore_level *above)
{
    _cleanup_(entries_done) struct entries entries = {.list = walk->list};
    const size_t n = strlen(path), n_below = strlen(below_named(walk, path));
    struct ignore_level own = {.above = above, .from = n_below + (n_below > 0)};
    int r = look_at(walk, path, above, &entries, &own.rules);
    for (size_t i = 0; r == 0 && i < entries.n; i++) {
        const bool ends = path[n - 1] == '/';
        _cleanup_free_ char *below = message("%s%s%s", path, ends ? "" : "/", entries.names[i]);
        /* Each directory keeps the paths above. */
        r = n + strlen(entries.names[i]) < PATH_MAX
                ? visit(walk, below, own.rules ? &own : above)
                : leave_out(walk->list, below, "too deep, by the length of its path");
    }
    ignore_rules_free(own.rules);
    return r;
}

/* -- paths that overlap -- */

struct named {
    char *real;
    size_t n_bytes, number;
    mode_t type; /* S_IFMT part of st_mode */
    bool covered;
};

struct names {
    struct named *names;
    size_t n;
};

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->names[i].real);
    free(names->names);
}

static unsigned rank(uint8_t byte)
{
    return byte == '\0' ? 0 : byte == '/' ? 1 : byte + 1u;
}

int document_list_refuse(int r, char *const *paths, size_t n, size_t failed, char **ret_error)
{
    const char *path = r < 0 && failed < n ? paths[failed] : "";
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no such file; correct the name", path);
    if (r == -EINVAL)
        return refuse(ret_error, r, "%s: neither a file nor a directory", path);
    return r < 0 ? refuse(ret_error, r, "%s: %s", path, error_text(r)) : 0;
}

int document_list_compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    unsigned left = rank((uint8_t)*a), right = rank((uint8_t)*b);
    return (left > right) - (left < right);
}

int document_list_order(const struct document_list *list, uint32_t i, uint32_t j)
{
    const int r = paths_compare(&list->paths, &list->documents[i].path, &list->documents[j].path);
    return r ? r : (i > j) - (i < j);
}

static int compare_real(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int r = document_list_compare(x->real, y->real);
    return r ? r : (x->number > y->number) - (x->number < y->number);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* A name that is found by another as well is covered: the same path again, of which the first
 * counts, and what lies in a directory that is named. */
static void find_covered(struct names *names)
{
    const struct named *last = NULL;
    qsort(names->names, names->n, sizeof(*names->names), compare_real);
    for (size_t i = 0; i < names->n; i++) {
        struct named *name = &names->names[i];
        bool in_last = last && strncmp(name->real, last->real, last->n_bytes) == 0;
        char next = in_last ? name->real[last->n_bytes] : 'x';
        bool root = in_last && last->real[last->n_bytes - 1] == '/';
        name->covered = in_last && (!next || (S_ISDIR(last->type) && (root || next == '/')));
        if (!name->covered)
            last = name;
    }
    qsort(names->names, names->n, sizeof(*names->names), compare_numbers);
}

static int find_named(const char *path, struct trusted_mount *trusted, struct named *named)
{
    struct stat st;
    _cleanup_close_ int fd = trust_open_anywhere(path, trusted);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return -EINVAL;
    named->type = st.st_mode & S_IFMT;
    return proc_path_real(fd, &named->real);
}

int document_list_add(struct document_list *list, char *const *paths, size_t n, const char *without,
                      const struct document_rules *rules, size_t *ret_failed)
{
    const struct left_out left_out = left_out_of(without);
    _cleanup_(names_done) struct names names = {.names = calloc(n + 1, sizeof(struct named))};
    _cleanup_(trusted_mount_done) struct trusted_mount trusted = {0};
    _cleanup_(ignore_rules_free_p) struct ignore_rules *defaults = ignore_defaults();
    int r = 0;
    if (!names.names || !defaults)
        return -ENOMEM;
    for (*ret_failed = 0; *ret_failed < n; ++*ret_failed) {
        struct named *name = &names.names[*ret_failed];
        patience_look(paths[*ret_failed]);
        r = find_named(paths[*ret_failed], &trusted, name);
        if (r < 0)
            return r;
        names.n++;
        name->n_bytes = strlen(name->real);
        name->number = *ret_failed;
    }
    find_covered(&names);
    for (*ret_failed = 0; *ret_failed < n; ++*ret_failed) {
        const struct named *name = &names.names[*ret_failed];
        const char *path = paths[*ret_failed];
        if (name->covered)
            continue;
        if (S_ISDIR(name->type))
            patience_look_below(name->real);
        struct walk walk = {list, &left_out, rules, defaults, (uint32_t)strlen(path)};
        r = visit(&walk, path, NULL);
        place_way_done(&walk.way);
        if (r < 0)
            break;
    }
    return r;
}

/* A path may be longer than what the kernel takes at once. */
enum { STRING_ROOM = 1 << 20 };

/* Reads a string that ends with a NUL, or with the stream. Returns 1, 0 at the end, or
 * -ENAMETOOLONG where there is no room for it. */
static int read_string(FILE *from, char string[STRING_ROOM])
{
    size_t n = 0;
    int c;
    while ((c = getc_unlocked(from)) != EOF && c) {
        if (n == STRING_ROOM - 1)
            return -ENAMETOOLONG;
        string[n++] = (char)c;
    }
    string[n] = '\0';
    return c != EOF || n;
}

int document_list_read(struct document_list *list, FILE *from)
{
    _cleanup_free_ char *path = malloc(STRING_ROOM);
    int r = path ? 0 : -ENOMEM;
    errno = 0;
    while (r == 0 && (r = read_string(from, path)) > 0)
        r = *path ? add(list, path, given(path)) : 0;
    if (r == 0 && ferror(from))
        r = errno ? -errno : -EIO;
    return r;
}

int document_list_append(struct document_list *list, const char *directory, const char *path)
{
    _cleanup_free_ char *whole = message("%s/%s", directory, path);
    return add(list, whole, given(directory));
}

/* -- what is kept -- */

/* Strings that end with a NUL each: this one, then two for each document, the path by which it is
 * opened (empty: there is none) and the one that was listed; and a checksum of all these. */
static const char kept_magic[] = "kinfs documents 2";

static int open_kept(const char *directory, int flags, FILE **ret_file)
{
    _cleanup_close_ int directory_fd = trust_open_directory(directory, NULL);
    return directory_fd < 0 ? directory_fd
                            : trust_open_stream(directory_fd, "documents", flags, ret_file);
}

static void add_to_sum(uint64_t *sum, const char *text)
{
    *sum = XXH3_64bits_withSeed(text, strlen(text) + 1, *sum);
}

static void put(FILE *to, uint64_t *sum, const char *text)
{
    add_to_sum(sum, text);
    fwrite(text, 1, strlen(text) + 1, to);
}

static int put_all(const struct document_list *list, FILE *to)
{
    uint64_t sum = 0;
    _cleanup_(trusted_mount_done) struct trusted_mount trusted = {0};
    _cleanup_free_ char *top = NULL;    /* what the named part of a path leads to */
    _cleanup_free_ char *top_of = NULL; /* that part */
    put(to, &sum, kept_magic);
    for (uint32_t i = 0; i < list->n; i++) {
        _cleanup_free_ char *path = document_list_path(list, i);
        _cleanup_free_ char *known = document_list_real(list, i);
        uint32_t n_named = list->documents[i].path.n_named;
        if (!path || (list->reals && !known))
            return -ENOMEM;
        if (!known &&
            (!top_of || strlen(top_of) != n_named || strncmp(top_of, path, n_named) != 0)) {
            free(top_of);
            free(top);
            top = NULL;
            top_of = strndup(path, n_named);
            if (!top_of)
                return -ENOMEM;
            _cleanup_close_ int fd = trust_open_anywhere(top_of, &trusted);
            if (fd >= 0)
                (void)proc_path_real(fd, &top);
        }
        _cleanup_free_ char *real = known || !top ? NULL : message("%s/%s", top, path + n_named);
        put(to, &sum, known ? known : real ? real : "");
        put(to, &sum, path);
    }
    fprintf(to, "%016llx", (unsigned long long)sum);
    return ferror(to) ? -EIO : 0;
}

int document_list_save(const struct document_list *list, const char *directory)
{
    FILE *to;
    int r = open_kept(directory, O_WRONLY | O_CREAT | O_TRUNC, &to);
    if (r < 0)
        return r;
    r = put_all(list, to);
    return fclose(to) < 0 ? -errno : r;
}

static int take_all(struct document_list *list, FILE *from)
{
    char expected[17];
    uint64_t sum = 0;
    _cleanup_free_ char *path = malloc(STRING_ROOM), *real = malloc(STRING_ROOM);
    if (!path || !real)
        return -ENOMEM;
    if (read_string(from, path) <= 0 || strcmp(path, kept_magic) != 0)
        return -EUCLEAN;
    add_to_sum(&sum, path);
    int any;
    while ((any = read_string(from, real)) > 0 && read_string(from, path) > 0) {
        if (!MAKE_ROOM(list->reals, list->reals_room, list->n + 1))
            return -ENOMEM;
        int r = paths_put(&list->paths, real, &list->reals[list->n]);
        if (r < 0)
            return r;
        r = add(list, path, (struct document){0});
        if (r < 0)
            return r;
        add_to_sum(&sum, real);
        add_to_sum(&sum, path);
    }
    snprintf(expected, sizeof(expected), "%016llx", (unsigned long long)sum);
    return any > 0 && strcmp(real, expected) == 0 ? 0 : -EUCLEAN;
}

int document_list_load(struct document_list *list, const char *directory)
{
    _cleanup_fclose_ FILE *from = NULL;
    int r = open_kept(directory, O_RDONLY, &from);
    return r < 0 ? r : take_all(list, from);
}
