#include "tools/commands/report/report_passages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "tools/commands/explained.h"
#include "tools/documents/regular_file.h"
#include "tools/documents/tree_place.h"

enum {
    LEAST_WORDS = 8,          /* of a passage, as kinfs explain has it */
    DOCUMENT_BYTES = 4 << 20, /* of a file, and of its text, which may be packed */
    PASSAGES_MOST = 8,
    PASSAGE_BYTES = 480,
    RUNS_MOST = 200,
};

static int open_document(int tree_fd, const char *path)
{
    struct stat st;
    if (!tree_place_is_path(path))
        return -EINVAL;
    _cleanup_close_ int place = mount_point_avoid(tree_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return place;
    int fd = fstat(place, &st) < 0                ? -errno
             : st.st_size > (off_t)DOCUMENT_BYTES ? -EFBIG
                                                  : regular_file_open_place(place);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_NOATIME); /* for who may */
    return fd;
}

static int read_document(const struct report_passages *passages, struct explained *explained,
                         unsigned side, const char *path)
{
    _cleanup_close_ int fd = open_document(passages->tree_fd, path);
    return fd < 0 ? fd : explained_read(explained, side, path, fd, passages->configuration, NULL);
}

static struct json_object *make_runs(const struct common_runs *runs)
{
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < runs->n_runs && i < RUNS_MOST; i++) {
        const size_t numbers[3] = {runs->runs[i].a, runs->runs[i].b, runs->runs[i].n};
        struct json_object *run = json_object_new_array();
        for (unsigned j = 0; j < 3; j++)
            json_object_array_add(run, json_object_new_uint64(numbers[j]));
        json_object_array_add(array, run);
    }
    return array;
}

int report_passages_read(const struct report_passages *passages, const char *a, const char *b,
                         struct json_object **ret_object)
{
    _cleanup_(explained_done) struct explained explained = {.most_bytes = DOCUMENT_BYTES,
                                                            .until_ms = passages->until_ms,
                                                            .limit = PASSAGES_MOST,
                                                            .text_most = PASSAGE_BYTES};
    int r = read_document(passages, &explained, 0, a);
    if (r == 0)
        r = read_document(passages, &explained, 1, b);
    if (r == 0)
        r = explained_find(&explained, LEAST_WORDS);
    if (r == 0 && !explained.runs.n_runs)
        r = -ENODATA;
    if (r < 0)
        return r;
    *ret_object = explained_json(&explained);
    json_object_object_add(*ret_object, "n_passages",
                           json_object_new_uint64(explained.runs.n_runs));
    json_object_object_add(*ret_object, "runs", make_runs(&explained.runs));
    return 0;
}
