#include "tests/lib/histories/history.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "engine/index/index_state.h"
#include "tests/lib/histories/history_private.h"
#include "tests/lib/scratch.h"

enum {
    FAMILIES = 12,
    FAMILY_WORDS = 1500, /* documents are pieces of a family's text: neighbours overlap */
    MOST_WORDS = 900,
    CHAIN_STEPS = 10,
    CHAIN_STEP_WORDS = 50, /* of 200 */
    MOST_BYTES = 16 << 10,
    WIDTH = 8,  /* directories in each directory */
    LOOKS = 24, /* for a place that is taken */
};

struct history_shared {
    atomic_uint_fast64_t n_done;
};

struct life {
    struct history *history;
    struct backing *backing;
    struct index *index;
    uint64_t random;
    int tree; /* descriptor */
};

static unsigned roll(struct life *life, unsigned n)
{
    return (unsigned)(mix64(life->random += 0x9e3779b97f4a7c15u) % n);
}

static void die(const char *what)
{
    fprintf(stderr, "history: %s: %s\n", what, strerror(errno));
    _exit(3);
}

/* -- places -- */

struct place {
    char path[96], directory[24], name[32]; /* relative to the tree */
};

static struct place place_of(unsigned number)
{
    struct place place;
    snprintf(place.directory, sizeof(place.directory), "a%u/b%u", number % WIDTH,
             number / WIDTH % WIDTH);
    snprintf(place.name, sizeof(place.name), "%u", number / WIDTH / WIDTH);
    snprintf(place.path, sizeof(place.path), "%s/%s", place.directory, place.name);
    return place;
}

static struct place any_place(struct life *life)
{
    return place_of(roll(life, life->history->n_places));
}

/* One that is taken, if any is found soon. */
static bool taken_place(struct life *life, struct place *ret_place)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        *ret_place = any_place(life);
        if (faccessat(life->tree, ret_place->path, F_OK, 0) == 0)
            return true;
    }
    return false;
}

/* -- notices, as the mount gives them -- */

static bool key_of(struct life *life, const char *path, struct file_key *ret_key)
{
    return backing_key_at(life->backing, life->tree, path, ret_key) == 0;
}

static void note_name(struct life *life, const char *directory, const char *name)
{
    struct file_key key;
    if (key_of(life, directory, &key))
        index_note_entry(life->index, &key, name);
}

static void note_content(struct life *life, const char *path)
{
    struct file_key key;
    if (key_of(life, path, &key))
        index_note_content(life->index, &key);
}

/* A directory of the tree, made with those above it. */
static bool make_directory(struct life *life, const struct place *place)
{
    char top[8];
    snprintf(top, sizeof(top), "%.*s", (int)strcspn(place->directory, "/"), place->directory);
    const char *below = strchr(place->directory, '/') + 1;
    if (mkdirat(life->tree, top, 0755) == 0)
        note_name(life, ".", top);
    if (mkdirat(life->tree, place->directory, 0755) == 0)
        note_name(life, top, below);
    return faccessat(life->tree, place->directory, F_OK, 0) == 0;
}

/* -- contents -- */

struct text {
    char bytes[MOST_BYTES];
    size_t n;
};

static void add_word(struct text *text, uint64_t word, unsigned i)
{
    if (text->n + 16 > MOST_BYTES)
        return;
    for (unsigned k = 0, n = 4 + (unsigned)(word % 4); k < n; k++, word /= 26)
        text->bytes[text->n++] = (char)('a' + word % 26);
    text->bytes[text->n++] = i % 11 == 10 ? '\n' : ' ';
}

/* A piece of a family's text; a third of all under one of two headers. Half are of one family, each
 * some steps after another: a chain, whose cluster is loose. */
static void write_piece(struct life *life, struct text *text)
{
    unsigned kind = roll(life, 20), header = roll(life, 6);
    const bool chained = kind < 10;
    uint64_t family = life->history->seed << 8 | (chained ? FAMILIES : roll(life, FAMILIES));
    unsigned from = chained ? CHAIN_STEP_WORDS * roll(life, CHAIN_STEPS) : roll(life, FAMILY_WORDS);
    unsigned n = chained     ? 4 * CHAIN_STEP_WORDS
                 : kind < 18 ? 40 + roll(life, 120)
                             : 300 + roll(life, MOST_WORDS - 300);
    for (unsigned i = 0; header < 2 && i < 15; i++)
        add_word(text, mix64(header << 20 | i), i);
    for (unsigned i = 0; i < n; i++)
        add_word(text, mix64(family << 20 | (from + i)), i);
}

/* Nothing, blanks, a few words, bytes that are no text. */
static void write_little(struct life *life, struct text *text)
{
    unsigned kind = roll(life, 8);
    if (kind < 2) {
        text->n = kind * (1 + roll(life, 3));
        memset(text->bytes, ' ', text->n);
    } else if (kind < 6) {
        unsigned first = roll(life, 4);
        for (unsigned i = 0, n = 1 + roll(life, 7); i < n; i++)
            add_word(text, mix64(first + i), i);
    } else {
        text->n = 200;
        for (size_t i = 0; i < text->n; i++)
            text->bytes[i] = (char)(mix64(kind << 10 | i) & (i % 3 ? 0xff : 0));
    }
}

static bool read_text(struct life *life, const struct place *place, struct text *text)
{
    _cleanup_close_ int fd = openat(life->tree, place->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, text->bytes, MOST_BYTES);
    text->n = n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

/* Some letters are others, the beginning or the end is cut off. */
static void edit(struct life *life, struct text *text)
{
    unsigned n = 1 + roll(life, roll(life, 4) ? 4 : 40);
    for (unsigned i = 0; i < n && text->n > 0; i++) {
        size_t at = roll(life, (unsigned)text->n);
        if (text->bytes[at] > ' ')
            text->bytes[at] = (char)('a' + roll(life, 26));
    }
    size_t cut = text->n > 200 && roll(life, 4) == 0 ? roll(life, (unsigned)text->n / 3) : 0;
    if (cut && roll(life, 2))
        memmove(text->bytes, text->bytes + cut, text->n - cut);
    text->n -= cut;
}

/* The same words in other bytes. */
static void put_otherwise(struct life *life, struct text *text)
{
    bool upper = roll(life, 2);
    for (size_t i = 0; i < text->n; i++) {
        char c = text->bytes[i];
        if (upper && c >= 'a' && c <= 'z')
            text->bytes[i] = (char)(c - 'a' + 'A');
        else if (!upper && (c == ' ' || c == '\n'))
            text->bytes[i] = c == ' ' ? '\n' : ' ';
    }
}

/* -- operations -- */

static void put_text(struct life *life, const struct place *place, const struct text *text)
{
    if (!make_directory(life, place))
        return;
    bool exists = faccessat(life->tree, place->path, F_OK, 0) == 0, in_pieces = roll(life, 4) == 0;
    struct file_key key;
    int fd = openat(life->tree, place->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || !key_of(life, place->path, &key))
        die(place->path);
    if (!exists)
        note_name(life, place->directory, place->name);
    index_note_writing(life->index, 0, &key, 1);
    size_t first = in_pieces ? text->n / 2 : text->n;
    if (write(fd, text->bytes, first) != (ssize_t)first)
        die("write");
    if (in_pieces)
        index_note_content(life->index, &key);
    if (write(fd, text->bytes + first, text->n - first) != (ssize_t)(text->n - first))
        die("write");
    close(fd);
    index_note_writing(life->index, 0, &key, -1);
    index_note_content(life->index, &key);
}

/* As an editor does: another file takes the name. */
static void replace_text(struct life *life, const struct place *place, const struct text *text)
{
    struct place other = *place;
    struct file_key directory;
    strcat(other.name, ".new");
    strcat(other.path, ".new");
    put_text(life, &other, text);
    if (!key_of(life, place->directory, &directory) ||
        renameat(life->tree, other.path, life->tree, place->path) < 0)
        die("rename");
    index_note_rename(life->index, 0, &directory, other.name, &directory, place->name);
}

static void rewrite(struct life *life, const struct place *place, const struct text *text)
{
    if (roll(life, 3))
        put_text(life, place, text);
    else
        replace_text(life, place, text);
}

static void remove_place(struct life *life, const struct place *place)
{
    if (unlinkat(life->tree, place->path, 0) == 0)
        note_name(life, place->directory, place->name);
}

static void move_place(struct life *life, const struct place *from, const struct place *to)
{
    struct file_key a, b;
    unsigned flags = roll(life, 4) ? 0 : RENAME_EXCHANGE;
    if (!make_directory(life, to) || !key_of(life, from->directory, &a) ||
        !key_of(life, to->directory, &b) ||
        renameat2(life->tree, from->path, life->tree, to->path, flags) < 0)
        return;
    index_note_rename(life->index, 0, &a, from->name, &b, to->name);
}

static void link_place(struct life *life, const struct place *from, const struct place *to)
{
    if (make_directory(life, to) && linkat(life->tree, from->path, life->tree, to->path, 0) == 0)
        note_name(life, to->directory, to->name);
}

static struct life *removing; /* nftw(3) has no room for it */

static int remove_below(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    _cleanup_free_ char *directory = strndup(path, ftw->base > 0 ? (size_t)ftw->base - 1 : 0);
    struct file_key key;
    bool known = backing_key_at(removing->backing, AT_FDCWD, directory, &key) == 0;
    if ((type == FTW_DP ? rmdir(path) : unlink(path)) == 0 && known)
        index_note_entry(removing->index, &key, path + ftw->base);
    return 0;
}

static void remove_directory(struct life *life, const struct place *place)
{
    removing = life;
    nftw(scratch_path(life->history->root, "tree/%s", place->directory), remove_below, 16,
         FTW_DEPTH | FTW_PHYS);
}

/* Within the tree, or with another one. */
static void move_directory(struct life *life, const struct place *from, const struct place *to)
{
    char top[2][8];
    bool whole = roll(life, 3) == 0;
    for (unsigned i = 0; i < 2; i++)
        snprintf(top[i], sizeof(top[i]), "%.*s", (int)strcspn((i ? to : from)->directory, "/"),
                 (i ? to : from)->directory);
    const char *a = whole ? top[0] : from->directory, *b = whole ? top[1] : to->directory;
    struct file_key a_key, b_key;
    if (!make_directory(life, to) || !key_of(life, whole ? "." : top[0], &a_key) ||
        !key_of(life, whole ? "." : top[1], &b_key) ||
        (renameat2(life->tree, a, life->tree, b, RENAME_NOREPLACE) < 0 &&
         renameat2(life->tree, a, life->tree, b, RENAME_EXCHANGE) < 0))
        return;
    index_note_rename(life->index, 0, &a_key, whole ? a : a + strlen(top[0]) + 1, &b_key,
                      whole ? b : b + strlen(top[1]) + 1);
}

/* Out of the tree, or back into it. */
static void move_out(struct life *life, const struct place *place)
{
    const char *inside = scratch_path(life->history->root, "tree/%s", place->directory);
    char top[8];
    snprintf(top, sizeof(top), "%.*s", (int)strcspn(place->directory, "/"), place->directory);
    const char *outside =
        scratch_path(life->history->root, "outside/%s-%s", top, place->directory + strlen(top) + 1);
    bool done = roll(life, 2) ? rename(inside, outside) == 0 : rename(outside, inside) == 0;
    if (!done)
        done = renameat2(AT_FDCWD, inside, AT_FDCWD, outside, RENAME_EXCHANGE) == 0;
    if (done)
        note_name(life, top, place->directory + strlen(top) + 1);
}

static void close_index(struct life *life)
{
    index_close(life->index, roll(life, 2) ? 1000 : 0);
    life->index = NULL;
}

static void open_index(struct life *life)
{
    life->index = history_open_index(life->history, life->backing, "store");
    if (index_start(life->index) < 0)
        die("index_start");
}

/* On a document that is there. */
static void change(struct life *life, unsigned kind)
{
    static struct text text;
    struct place place, other = any_place(life);
    if (!taken_place(life, &place) || !read_text(life, &place, &text)) {
        text.n = 0;
        write_piece(life, &text);
        put_text(life, &other, &text);
        return;
    }
    if (kind < 20) { /* another text, a little one, a similar one */
        text.n = 0;
        write_piece(life, &text);
        rewrite(life, &place, &text);
    } else if (kind < 28) {
        text.n = 0;
        write_little(life, &text);
        rewrite(life, &place, &text);
    } else if (kind < 50) {
        edit(life, &text);
        rewrite(life, &place, &text);
    } else if (kind < 55) { /* the same */
        rewrite(life, &place, &text);
    } else if (kind < 58) {
        utimensat(life->tree, place.path, NULL, 0);
        note_content(life, place.path);
    } else if (kind < 66) { /* a copy, another version, the same words otherwise: elsewhere */
        put_text(life, &other, &text);
    } else if (kind < 76) {
        edit(life, &text);
        put_text(life, &other, &text);
    } else if (kind < 82) {
        put_otherwise(life, &text);
        put_text(life, &other, &text);
    } else if (kind < 92) {
        move_place(life, &place, &other);
    } else if (kind < 94) {
        link_place(life, &place, &other);
    } else {
        remove_place(life, &place);
    }
}

static void operate(struct life *life, uint64_t number)
{
    static struct text text;
    life->random = mix64(life->history->seed + number * 0x9e3779b97f4a7c15u);
    unsigned kind = roll(life, 1000);
    struct place place = any_place(life), other = any_place(life);
    text.n = 0;
    if (kind < 100) {
        write_piece(life, &text);
        rewrite(life, &place, &text);
    } else if (kind < 130) {
        write_little(life, &text);
        rewrite(life, &place, &text);
    } else if (kind < 300) { /* wherever there is something: so that not all places are taken */
        remove_place(life, &place);
    } else if (kind < 303) {
        remove_directory(life, &place);
    } else if (kind < 312) {
        move_directory(life, &place, &other);
    } else if (kind < 318) {
        move_out(life, &place);
    } else if (kind < 350) {
        if (index_settle(life->index, INDEX_LANE_FOREGROUND, -1) < 0)
            die("index_settle");
    } else if (kind < 352) {
        if (index_settle(life->index, INDEX_LANE_ALL, -1) < 0)
            die("index_settle");
    } else if (kind < 353) {
        index_rescan(life->index);
    } else if (kind < 355) {
        close_index(life);
        open_index(life);
    } else {
        change(life, roll(life, 100));
    }
}

/* -- processes -- */

static void log_line(void *user, enum index_log_level level, const char *message)
{
    (void)user;
    if (level == INDEX_LOG_ERROR)
        fprintf(stderr, "history: %s\n", message);
}

struct index *history_open_index(const struct history *history, struct backing *backing,
                                 const char *store)
{
    char *error = NULL;
    struct index *index = NULL;
    const struct index_options options = {
        .backing = backing,
        .source = scratch_path(history->root, "tree"),
        .store_path = scratch_path(history->root, "%s", store),
        .create = true,
        .log = log_line,
    };
    if (index_open(&options, &index, &error) < 0) {
        fprintf(stderr, "history: %s\n", error);
        _exit(3);
    }
    if (history->seed % 2) /* clusters of three documents are not clustered anew at once */
        index->clusters->graph->bounds.at_once = 2;
    return index;
}

struct backing *history_open_tree(const struct history *history)
{
    struct backing *backing = NULL;
    if (backing_open(scratch_path(history->root, "tree"), &backing) < 0)
        die("tree");
    return backing;
}

static void live(struct history *history, uint64_t until)
{
    struct life life = {.history = history, .backing = history_open_tree(history)};
    life.tree = backing_root_fd(life.backing);
    life.random = history->seed;
    open_index(&life);
    for (uint64_t n; (n = history_n_done(history)) < until;) {
        operate(&life, n);
        atomic_store(&history->shared->n_done, n + 1);
    }
    if (index_settle(life.index, INDEX_LANE_FOREGROUND, -1) < 0)
        die("index_settle");
    close_index(&life);
    backing_close(life.backing);
}

static bool ended_well(pid_t pid, bool killed)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) ? WEXITSTATUS(status) == 0
                             : killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Returns as fork(2) does; the child goes with its parent. */
static pid_t begin_child(void)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

bool history_in_child(void (*run)(struct history *history, void *user), struct history *history,
                      void *user)
{
    pid_t pid = begin_child();
    if (pid < 0)
        return false;
    if (pid == 0) {
        run(history, user);
        fflush(NULL);
        _exit(0);
    }
    return ended_well(pid, false);
}

static void live_on(struct history *history, void *user)
{
    live(history, *(uint64_t *)user);
}

bool history_live(struct history *history, uint64_t until)
{
    return history_in_child(live_on, history, &until);
}

bool history_live_and_die(struct history *history, uint64_t until, bool at_end,
                          unsigned die_after_us)
{
    pid_t pid = begin_child();
    if (pid < 0)
        return false;
    if (pid == 0) {
        live(history, at_end ? until : UINT64_MAX);
        _exit(0);
    }
    int status;
    while (history_n_done(history) < until) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return false;
        usleep(200);
    }
    usleep(die_after_us);
    kill(pid, SIGKILL);
    return ended_well(pid, true);
}

/* -- from beginning to end -- */

void history_begin(struct history *history, uint64_t seed, unsigned n_places)
{
    *history = (struct history){.seed = seed, .n_places = n_places};
    scratch_make(history->root);
    if (mkdir(scratch_path(history->root, "tree"), 0755) < 0 ||
        mkdir(scratch_path(history->root, "outside"), 0755) < 0)
        die(history->root);
    history->shared = mmap(NULL, sizeof(*history->shared), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (history->shared == MAP_FAILED)
        die("mmap");
}

void history_end(struct history *history)
{
    munmap(history->shared, sizeof(*history->shared));
    scratch_remove(history->root);
}

uint64_t history_n_done(const struct history *history)
{
    return atomic_load(&history->shared->n_done);
}
