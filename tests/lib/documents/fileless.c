#include "tests/lib/documents/fileless.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/committer.h"
#include "engine/sketch/documents/document_sketch.h"

enum { DIRECTORY_FILES = 100 };

struct fileless {
    struct backing *backing;
    struct index *index;
    struct document_sketcher *sketcher;
    uint32_t n_changes; /* makes times differ */
};

static void check(int r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "an index without files: %s: %s\n", what, strerror(-r));
    exit(1);
}

static void make_directory(char path[4096], const char *above, const char *name)
{
    snprintf(path, 4096, "%s%s%s", above, *name ? "/" : "", name);
    check(mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0, path);
}

struct fileless *fileless_open(const char *directory)
{
    struct fileless *fileless = calloc(1, sizeof(*fileless));
    char tree[4096], store[4096 + 8], *error = NULL;
    check(fileless ? 0 : -ENOMEM, "memory");
    make_directory(tree, directory, "");
    make_directory(tree, directory, "tree");
    snprintf(store, sizeof(store), "%s/store", directory);
    check(backing_open(tree, &fileless->backing), tree);
    struct index_options options = {
        .backing = fileless->backing, .source = tree, .store_path = store, .create = true};
    int r = index_open(&options, &fileless->index, &error);
    check(r, error ? error : store);
    check(
        document_sketcher_new(&fileless->index->policy, fileless->index->hash, &fileless->sketcher),
        "sketcher");
    return fileless;
}

void fileless_close(struct fileless *fileless)
{
    document_sketcher_free(fileless->sketcher);
    index_close(fileless->index, 0);
    backing_close(fileless->backing);
    free(fileless);
}

struct index *fileless_index(struct fileless *fileless)
{
    return fileless->index;
}

/* As ext4's: a file system, the type of the handle, inode and generation. */
static struct file_key key_of(uint32_t inode)
{
    const uint32_t handle[] = {inode, inode * 0x9e3779b9u};
    struct file_key key;
    file_key_of_handle(0x1122334455667788u, 1, handle, sizeof(handle), &key);
    return key;
}

struct file_key fileless_key(uint32_t number)
{
    return key_of(number + 1000);
}

struct file_key fileless_directory(uint32_t number)
{
    return key_of(UINT32_MAX - number / DIRECTORY_FILES);
}

static void put_directory(struct fileless *fileless, uint32_t number)
{
    struct tree_entry entry = {.key = fileless_directory(number), .type = ENTRY_DIRECTORY};
    char name[32];
    snprintf(name, sizeof(name), "%u", number / DIRECTORY_FILES);
    check(reconcile_put(fileless->index, backing_root_key(fileless->backing), name, &entry), name);
}

static void put_names(struct fileless *fileless, const struct fileless_text *texts,
                      const struct tree_entry *entries, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    check(batch ? 0 : -ENOMEM, "names");
    for (size_t i = 0; i < n; i++) {
        struct file_key directory = fileless_directory(texts[i].number);
        struct catalogue_meaning known;
        char name[32];
        if (reconcile_is_known(fileless->index, &directory) == 0)
            put_directory(fileless, texts[i].number);
        snprintf(name, sizeof(name), "%u.txt", texts[i].number);
        check(catalogue_get_all(fileless->index->kv, &(struct catalogue_name){&directory, name}, 1,
                                &known),
              name);
        check(reconcile_add(&directory, name, &entries[i], &known, batch), name);
    }
    check(kv_apply(fileless->index->kv, batch), "names");
}

void fileless_sketch(struct fileless *fileless, const struct fileless_text *text,
                     struct record *ret_record)
{
    struct document_sketch sketch;
    document_sketcher_begin(fileless->sketcher);
    document_sketcher_feed(fileless->sketcher, text->text, text->n_bytes);
    document_sketcher_finish(fileless->sketcher, &sketch);
    check(record_take_sketch(ret_record, &sketch), "sketch");
}

void fileless_put(struct fileless *fileless, const struct fileless_text *texts, size_t n)
{
    struct result results[FILELESS_AT_ONCE], *pointers[FILELESS_AT_ONCE];
    struct tree_entry entries[FILELESS_AT_ONCE];
    struct change change = {.kind = CHANGE_CONTENT};
    for (size_t i = 0; i < n; i++) {
        struct timespec time = {1700000000 + fileless->n_changes++, 0};
        entries[i] = (struct tree_entry){.key = fileless_key(texts[i].number),
                                         .type = ENTRY_FILE,
                                         .st = {.st_mode = S_IFREG | 0644,
                                                .st_size = (off_t)texts[i].n_bytes,
                                                .st_mtim = time,
                                                .st_ctim = time}};
        results[i] = (struct result){.change = &change,
                                     .outcome = OUTCOME_SKETCHED,
                                     .record = {.key = entries[i].key,
                                                .size_bytes = texts[i].n_bytes,
                                                .mtime = time,
                                                .ctime = time}};
        fileless_sketch(fileless, &texts[i], &results[i].record);
        pointers[i] = &results[i];
    }
    put_names(fileless, texts, entries, n);
    check(commit_results(fileless->index, pointers, n), "commit");
    if (postings_flush_due(fileless->index->postings))
        check(committer_flush(fileless->index), "flush");
    for (size_t i = 0; i < n; i++)
        record_done(&results[i].record);
}

void fileless_remove(struct fileless *fileless, const uint32_t *numbers, size_t n)
{
    static char names[RECONCILE_AT_ONCE][32];
    struct catalogue_entry entries[RECONCILE_AT_ONCE];
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%u.txt", numbers[i]);
        entries[i] = (struct catalogue_entry){fileless_directory(numbers[i]),
                                              fileless_key(numbers[i]), ENTRY_FILE, names[i]};
    }
    check(reconcile_remove_all(fileless->index, entries, n, NULL, 0), "remove");
    if (postings_flush_due(fileless->index->postings))
        check(committer_flush(fileless->index), "flush");
}

unsigned fileless_recluster(struct fileless *fileless)
{
    unsigned n = 0;
    int r;
    while ((r = living_clusters_recluster(fileless->index->clusters)) > 0)
        n++;
    check(r, "recluster");
    return n;
}

uint64_t fileless_cluster(struct fileless *fileless, uint32_t number)
{
    struct file_key key = fileless_key(number);
    struct file_row row;
    uint64_t id = 0, size;
    int r = catalogue_get_file(fileless->index->kv, &key, &row);
    if (r == -ENOENT)
        return 0;
    check(r, "row");
    check(living_clusters_of(fileless->index->clusters, row.sid, &id, &size), "cluster");
    return id;
}

uint32_t fileless_number(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (uint32_t)strtoul(slash ? slash + 1 : path, NULL, 10);
}
