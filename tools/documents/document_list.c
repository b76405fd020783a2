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
#include "base/file_key.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "base/trust.h"
#include "tools/documents/place.h"
#include "tools/show/message.h"
#include "tools/questions/patience.h"

enum { NONE = UINT32_MAX };

/* A name below a directory, which is kept once: the path is made when it is asked for. */
struct directory {
    uint64_t name;   /* in the text */
    uint32_t parent; /* NONE: the path begins with it */
    uint32_t depth, hash;
};

void document_list_done(struct document_list *list)
{
    free(list->text);
    free(list->directories);
    free(list->slots);
    free(list->documents);
    free(list->reals);
    *list = (struct document_list){0};
}

uint64_t document_list_memory(const struct document_list *list)
{
    return list->text_bytes + list->n_directories * sizeof(struct directory) +
           list->n_slots * sizeof(uint32_t) + list->n * sizeof(struct document) +
           (list->reals ? list->n * sizeof(struct document_path) : 0);
}

/* Room for one more; *array has room for n, or for more where n is no power of two. */
static int grow(void *array, uint64_t n, size_t size_bytes)
{
    if (n & (n - 1)) /* and 0 */
        return 0;
    void *grown = reallocarray(*(void **)array, n ? 2 * n : 1, size_bytes);
    if (!grown)
        return -ENOMEM;
    *(void **)array = grown;
    return 0;
}

static int put_text(struct document_list *list, const char *name, size_t n, uint64_t *ret_at)
{
    if (n >= list->text_room - list->text_bytes) {
        uint64_t room = 2 * list->text_room + n + 1;
        char *text = realloc(list->text, room);
        if (!text)
            return -ENOMEM;
        list->text = text;
        list->text_room = room;
    }
    *ret_at = list->text_bytes;
    *(char *)mempcpy(list->text + list->text_bytes, name, n) = '\0';
    list->text_bytes += n + 1;
    return 0;
}

static bool is_path_of(const struct document_list *list, uint32_t number, const char *path,
                       size_t n)
{
    for (;;) {
        const struct directory *directory = &list->directories[number];
        const char *name = list->text + directory->name;
        size_t n_name = strlen(name);
        if (n_name > n || memcmp(path + n - n_name, name, n_name) != 0)
            return false;
        n -= n_name;
        if (directory->parent == NONE)
            return n == 0;
        if (n == 0 || path[--n] != '/')
            return false;
        number = directory->parent;
    }
}

/* Others choose the names, and could choose those that fall on one slot. */
static uint32_t hash_path(const char *path, size_t n)
{
    return (uint32_t)XXH3_64bits_withSeed(path, n, file_key_secret);
}

static uint32_t look_up(const struct document_list *list, const char *path, size_t n)
{
    uint32_t hash = hash_path(path, n);
    for (uint64_t i = hash; list->n_slots; i++) {
        uint32_t number = list->slots[i & (list->n_slots - 1)];
        if (number == NONE)
            break;
        if (list->directories[number].hash == hash && is_path_of(list, number, path, n))
            return number;
    }
    return NONE;
}

static void take_slot(struct document_list *list, uint32_t number)
{
    uint64_t i = list->directories[number].hash;
    while (list->slots[i & (list->n_slots - 1)] != NONE)
        i++;
    list->slots[i & (list->n_slots - 1)] = number;
}

/* Half of them at least are free. */
static int grow_slots(struct document_list *list)
{
    if (list->n_directories < list->n_slots / 2)
        return 0;
    uint64_t n = list->n_slots ? 2 * list->n_slots : 16;
    uint32_t *slots = reallocarray(list->slots, n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    list->slots = slots;
    list->n_slots = n;
    memset(slots, 0xff, n * sizeof(*slots)); /* NONE */
    for (uint32_t i = 0; i < list->n_directories; i++)
        take_slot(list, i);
    return 0;
}

/* The directory path[0..end), whose name begins at `begin`, below the parent. */
static int add_directory(struct document_list *list, const char *path, size_t begin, size_t end,
                         uint32_t *number)
{
    struct directory directory = {.parent = *number, .hash = hash_path(path, end)};
    if (*number != NONE)
        directory.depth = list->directories[*number].depth + 1;
    if (list->n_directories == NONE)
        return -EOVERFLOW;
    int r = grow_slots(list);
    if (r == 0)
        r = grow(&list->directories, list->n_directories, sizeof(directory));
    if (r == 0)
        r = put_text(list, path + begin, end - begin, &directory.name);
    if (r < 0)
        return r;
    *number = list->n_directories++;
    list->directories[*number] = directory;
    take_slot(list, *number);
    return 0;
}

/* From the deepest that is known on. */
static int find_directory(struct document_list *list, const char *path, size_t n,
                          uint32_t *ret_number)
{
    size_t begin = n + 1; /* of the first that is not known */
    int r = 0;
    while ((*ret_number = look_up(list, path, begin - 1)) == NONE) {
        const char *slash = memrchr(path, '/', begin - 1);
        begin = slash ? (size_t)(slash - path) + 1 : 0;
        if (!slash)
            break;
    }
    while (r == 0 && begin <= n) {
        const char *slash = memchr(path + begin, '/', n - begin);
        size_t end = slash ? (size_t)(slash - path) : n;
        r = add_directory(list, path, begin, end, ret_number);
        begin = end + 1;
    }
    return r;
}

/* A path that is too long to lead anywhere is kept as a name. */
static int put_path(struct document_list *list, const char *path, struct document_path *ret_path)
{
    size_t n = strlen(path);
    const char *slash = n < PATH_MAX ? strrchr(path, '/') : NULL;
    ret_path->directory = NONE;
    int r = slash ? find_directory(list, path, (size_t)(slash - path), &ret_path->directory) : 0;
    const char *name = slash ? slash + 1 : path;
    return r < 0 ? r : put_text(list, name, n - (size_t)(name - path), &ret_path->name);
}

static char *path_of(const struct document_list *list, const struct document_path *path)
{
    size_t n = strlen(list->text + path->name) + 1;
    for (uint32_t i = path->directory; i != NONE; i = list->directories[i].parent)
        n += strlen(list->text + list->directories[i].name) + 1;
    char *whole = malloc(n), *at = whole ? whole + n : NULL;
    const char *name = list->text + path->name;
    for (uint32_t i = path->directory; at; i = list->directories[i].parent) {
        size_t n_name = strlen(name) + 1;
        at -= n_name;
        memcpy(at, name, n_name);
        if (at + n_name < whole + n)
            at[n_name - 1] = '/';
        if (i == NONE)
            break;
        name = list->text + list->directories[i].name;
    }
    return whole;
}

char *document_list_path(const struct document_list *list, uint32_t i)
{
    return path_of(list, &list->documents[i].path);
}

char *document_list_real(const struct document_list *list, uint32_t i)
{
    return list->reals ? path_of(list, &list->reals[i]) : NULL;
}

static int add(struct document_list *list, const char *path, struct document document)
{
    if (list->n == UINT32_MAX - 1)
        return -EOVERFLOW;
    int r = grow(&list->documents, list->n, sizeof(document));
    if (r == 0)
        r = put_path(list, path, &document.path);
    if (r < 0)
        return r;
    list->documents[list->n++] = document;
    return list->most_bytes && document_list_memory(list) > list->most_bytes ? -E2BIG : 0;
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
    uint32_t n_named; /* bytes of the path that is walked */
    struct place_way way;
};

struct entries {
    char **names;
    size_t n, room;
};

static void entries_done(struct entries *entries)
{
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
    entries->names[entries->n++] = copy;
    return 0;
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

/* Adds a file, gives the entries of a directory. Nothing is open afterwards: directories may be
 * deeper than a process may have descriptors. */
static int look_at(struct walk *walk, const char *path, struct entries *entries)
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
    if (S_ISREG(st.st_mode))
        return add(
            walk->list, path,
            (struct document){.dev = st.st_dev, .ino = st.st_ino, .path.n_named = walk->n_named});
    if (!S_ISDIR(st.st_mode) || (!is_named && is_left_out(walk->left_out, &st)))
        return 0;
    int r = read_entries(fd, entries);
    return r < 0 && r != -ENOMEM ? leave_out(walk->list, path, strerror(-r)) : r;
}

static int visit(struct walk *walk, const char *path)
{
    _cleanup_(entries_done) struct entries entries = {0};
    const size_t n = strlen(path);
    int r = look_at(walk, path, &entries);
    for (size_t i = 0; r == 0 && i < entries.n; i++) {
        const bool ends = path[n - 1] == '/';
        _cleanup_free_ char *below = message("%s%s%s", path, ends ? "" : "/", entries.names[i]);
        /* Each directory keeps the paths above. */
        r = n + strlen(entries.names[i]) < PATH_MAX
                ? visit(walk, below)
                : leave_out(walk->list, below, "too deep, by the length of its path");
    }
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

int document_list_compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    unsigned left = rank((uint8_t)*a), right = rank((uint8_t)*b);
    return (left > right) - (left < right);
}

static uint32_t depth_of(const struct document_list *list, uint32_t directory)
{
    return directory == NONE ? 0 : list->directories[directory].depth + 1;
}

static uint32_t up(const struct document_list *list, uint32_t directory, const char **name)
{
    *name = list->text + list->directories[directory].name;
    return list->directories[directory].parent;
}

/* By what lies in the deepest directory that they have in common. */
int document_list_order(const struct document_list *list, uint32_t i, uint32_t j)
{
    const struct document_path *a = &list->documents[i].path, *b = &list->documents[j].path;
    uint32_t x = a->directory, y = b->directory;
    const char *left = list->text + a->name, *right = list->text + b->name;
    while (x != y) {
        uint32_t x_depth = depth_of(list, x), y_depth = depth_of(list, y);
        if (x_depth >= y_depth)
            x = up(list, x, &left);
        if (y_depth >= x_depth)
            y = up(list, y, &right);
    }
    int r = strcmp(left, right);
    if (r == 0) { /* the same path, or one is on the way to the other */
        x = depth_of(list, a->directory);
        y = depth_of(list, b->directory);
        r = x != y ? (x > y) - (x < y) : (i > j) - (i < j);
    }
    return (r > 0) - (r < 0);
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

/* What is found by another name as well is covered: the same path again, of which the first counts,
 * and what lies in a directory that is named. */
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

static int find_named(const char *path, uint64_t *trusted, struct named *named)
{
    struct stat st;
    _cleanup_close_ int fd = trust_open_anywhere(path, trusted);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    named->type = st.st_mode & S_IFMT;
    return proc_path_real(fd, &named->real);
}

int document_list_add(struct document_list *list, char *const *paths, size_t n, const char *without,
                      size_t *ret_failed)
{
    const struct left_out left_out = left_out_of(without);
    _cleanup_(names_done) struct names names = {.names = calloc(n + 1, sizeof(struct named))};
    uint64_t trusted = 0;
    int r = 0;
    if (!names.names)
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
        else if (!S_ISREG(name->type))
            return -EINVAL;
        struct walk walk = {list, &left_out, (uint32_t)strlen(path), {.trusted = trusted}};
        r = visit(&walk, path);
        place_way_done(&walk.way);
        if (r < 0)
            break;
    }
    return r;
}

int document_list_read(struct document_list *list, FILE *from)
{
    _cleanup_free_ char *path = NULL;
    size_t room = 0;
    int r = 0;
    errno = 0;
    while (r == 0 && getdelim(&path, &room, '\0', from) > 0)
        if (*path)
            r = add(list, path, given(path));
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
    uint64_t sum = 0, trusted = 0;
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
    size_t path_room = 0, real_room = 0;
    _cleanup_free_ char *path = NULL, *real = NULL;
    if (getdelim(&path, &path_room, '\0', from) < 0 || strcmp(path, kept_magic) != 0)
        return -EUCLEAN;
    add_to_sum(&sum, path);
    while (getdelim(&real, &real_room, '\0', from) > 0 &&
           getdelim(&path, &path_room, '\0', from) > 0) {
        struct document_path real_path = {0};
        int r = put_path(list, real, &real_path);
        if (r == 0)
            r = grow(&list->reals, list->n, sizeof(real_path));
        if (r < 0)
            return r;
        list->reals[list->n] = real_path;
        r = add(list, path, (struct document){0});
        if (r < 0)
            return r;
        add_to_sum(&sum, real);
        add_to_sum(&sum, path);
    }
    snprintf(expected, sizeof(expected), "%016llx", (unsigned long long)sum);
    return real && strcmp(real, expected) == 0 ? 0 : -EUCLEAN;
}

int document_list_load(struct document_list *list, const char *directory)
{
    _cleanup_fclose_ FILE *from = NULL;
    int r = open_kept(directory, O_RDONLY, &from);
    return r < 0 ? r : take_all(list, from);
}
