#include "tools/commands/cluster/topics_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "engine/cluster/large/kept_directory.h"
#include "engine/topic/near/signatures.h"

static const char mark[] = "kinfs-topics", head_name[] = "topics.head";
static const uint64_t magic = UINT64_C(0x6b696e6673746f31); /* "kinfsto1" */

void topics_keep_done(struct topics_keep *keep)
{
    scratch_file_done(&keep->targets);
    scratch_file_done(&keep->places);
    if (keep->directory > 0)
        close(keep->directory);
}

static uint64_t n_targets(const struct topics_keep *keep)
{
    return keep->head.n_nodes - keep->head.n_documents;
}

/* -- writing -- */

static void add_to_sum(uint64_t *sum, const void *bytes, size_t size_bytes)
{
    *sum = XXH3_64bits_withSeed(bytes, size_bytes, *sum);
}

int topics_keep_write(struct topics_keep *keep,
                      char *(*name)(void *user, uint32_t node, const char **ret_member), void *user)
{
    _cleanup_fclose_ FILE *targets = NULL, *places = NULL;
    struct topics_keep_head *head = &keep->head;
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    int r = trust_open_stream(keep->directory, "targets", flags, &targets);
    if (r == 0)
        r = trust_open_stream(keep->directory, "places", flags, &places);
    if (r < 0)
        return r;
    for (uint64_t i = 0; i < n_targets(keep); i++) {
        const char *member;
        _cleanup_free_ char *text = name(user, (uint32_t)(head->n_documents + i), &member);
        if (!text)
            return -ENOMEM;
        const size_t size_bytes = strlen(text) + 1;
        add_to_sum(&head->targets_checksum, text, size_bytes);
        if (fwrite(&head->targets_bytes, sizeof(uint64_t), 1, places) != 1 ||
            fwrite(text, size_bytes, 1, targets) != 1)
            return -errno;
        head->targets_bytes += size_bytes;
    }
    if (fflush(targets) != 0 || fflush(places) != 0)
        return -errno;
    head->magic = magic;
    return kept_head_write(keep->directory, head_name, head, sizeof(*head));
}

/* -- reading -- */

int topics_keep_target(struct topics_keep *keep, uint32_t i, char **ret_name)
{
    uint64_t place[2] = {0, keep->head.targets_bytes};
    const uint64_t at = i * sizeof(uint64_t);
    const size_t n = i + 1 < n_targets(keep) ? 2 : 1; /* the last ends with the file */
    int r = scratch_file_read(&keep->places, at, place, n * sizeof(uint64_t));
    if (r == 0 && (place[0] >= place[1] || place[1] > keep->head.targets_bytes))
        r = -EUCLEAN;
    _cleanup_free_ char *name = r == 0 ? malloc(place[1] - place[0]) : NULL;
    if (r == 0)
        r = name ? scratch_file_read(&keep->targets, place[0], name, place[1] - place[0]) : -ENOMEM;
    if (r == 0 && name[place[1] - place[0] - 1] != '\0')
        r = -EUCLEAN;
    if (r == 0)
        *ret_name = TAKE_PTR(name);
    return r;
}

/* Before anything is printed. */
static int check_targets(struct topics_keep *keep)
{
    uint64_t sum = 0;
    int r = 0;
    for (uint64_t i = 0; r == 0 && i < n_targets(keep); i++) {
        _cleanup_free_ char *name = NULL;
        r = topics_keep_target(keep, (uint32_t)i, &name);
        if (r == 0)
            add_to_sum(&sum, name, strlen(name) + 1);
    }
    return r < 0 ? r : sum == keep->head.targets_checksum ? 0 : -EUCLEAN;
}

static int open_kept(struct topics_keep *keep, struct scratch_file *ret_signatures)
{
    const struct topics_keep_head *head = &keep->head;
    int r = kept_head_read(keep->directory, head_name, magic, &keep->head, sizeof(*head));
    if (r == 0 && (head->n_documents > head->n_nodes || head->n_nodes > SIGNATURES_MOST))
        r = -EUCLEAN;
    if (r == 0)
        r = kept_directory_file(keep->directory, "signatures", false, ret_signatures);
    if (r == 0)
        r = kept_directory_file(keep->directory, "targets", false, &keep->targets);
    if (r == 0)
        r = kept_directory_file(keep->directory, "places", false, &keep->places);
    if (r == 0 && (ret_signatures->size_bytes != head->n_nodes * sizeof(struct bag_sketch) ||
                   keep->targets.size_bytes != head->targets_bytes ||
                   keep->places.size_bytes != n_targets(keep) * sizeof(uint64_t)))
        r = -EUCLEAN;
    return r < 0 ? r : check_targets(keep);
}

static int take_directory(const char *path, bool fresh, struct topics_keep *keep)
{
    const int directory = kept_directory_open(path, mark, fresh);
    keep->directory = directory < 0 ? 0 : directory;
    return directory < 0 ? directory : 0;
}

int topics_keep_open(const char *path, struct topics_keep *ret_keep,
                     struct scratch_file *ret_signatures)
{
    const int r = take_directory(path, false, ret_keep);
    return r < 0 ? r : open_kept(ret_keep, ret_signatures);
}

int topics_keep_take(const char *path, struct topics_keep *ret_keep)
{
    return take_directory(path, true, ret_keep);
}

int topics_keep_begin(struct topics_keep *keep, struct scratch_file *ret_signatures)
{
    const int r = kept_head_remove(keep->directory, head_name);
    return r < 0 ? r : kept_directory_file(keep->directory, "signatures", true, ret_signatures);
}
