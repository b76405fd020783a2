/* The documents of a store and the lines of the corpora that others are compared against are
 * numbered before all others. As the first document of a cluster represents it, one of them does
 * wherever there is one.
 *
 * Each file is read to count the lines, which a batch wants to know before it begins, once more for
 * their texts, and a third time where lines are written. */
#include "tools/commands/cluster/cluster_corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/counted.h"
#include "base/files/trust.h"
#include "base/mounts/mount_point.h"
#include "base/ratio.h"
#include "engine/cluster/large/large_array.h"
#include "tools/commands/cluster/against_store.h"
#include "tools/commands/cluster/cluster_costs.h"
#include "tools/commands/cluster/cluster_errors.h"
#include "tools/documents/corpus_stream.h"
#include "tools/questions/patience.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

enum {
    WRITTEN_PART_BYTES = 1 << 20,
    LINE_BYTES = CORPUS_STREAM_LINE_BYTES + sizeof(uint16_t) + sizeof(uint32_t),
    NOT_NUMBERED = UINT32_MAX,
};

/* Lines that are written. */
struct output {
    const char *path;
    FILE *file;    /* NULL: not wanted */
    bool cut_line; /* the last line has no newline */
};

struct cleaning {
    struct cluster_options *options;
    struct against_store against;
    struct corpus corpus;
    struct corpus_stream stream;
    struct batch *batch;
    struct progress progress;
    uint32_t first; /* line that is no other corpus's */
    uint16_t *resemblances;
    uint32_t *numbers; /* of clusters, by their first line; 0: no other line is in it */
    uint32_t n_clusters;
    char **names; /* of files, as they stand in an id, without the last quotation mark */
    struct output kept, dropped;
};

static void cleaning_done(struct cleaning *cleaning)
{
    const size_t n = (size_t)cleaning->corpus.n_lines + 1;
    against_store_done(&cleaning->against);
    batch_free(cleaning->batch);
    corpus_stream_done(&cleaning->stream);
    large_array_free(cleaning->resemblances, n * sizeof(*cleaning->resemblances));
    large_array_free(cleaning->numbers, n * sizeof(*cleaning->numbers));
    for (size_t i = 0; cleaning->names && i < cleaning->corpus.n_files; i++)
        free(cleaning->names[i]);
    free(cleaning->names);
    fclose_p(&cleaning->kept.file);
    fclose_p(&cleaning->dropped.file);
    free(cleaning->corpus.files);
    corpus_done(&cleaning->corpus);
    free(cleaning->options->against);
}

/* -- files -- */

static int name_files(struct cleaning *cleaning)
{
    const struct cluster_options *options = cleaning->options;
    struct corpus *corpus = &cleaning->corpus;
    const size_t n = options->n_against + options->n_paths;
    corpus->files = calloc(n, sizeof(*corpus->files));
    cleaning->names = calloc(n, sizeof(*cleaning->names));
    if (!corpus->files || !cleaning->names)
        return -ENOMEM;
    corpus->n_files = n;
    for (size_t i = 0; i < n; i++) {
        const char *name =
            i < options->n_against ? options->against[i] : options->paths[i - options->n_against];
        struct json_object *text;
        _cleanup_json_ struct json_object *object = json_object_new_object();
        corpus->files[i].name = name;
        if (json_path_add(object, "id", name) < 0 ||
            !json_object_object_get_ex(object, "id", &text))
            return -ENOMEM;
        cleaning->names[i] =
            message("%s", json_object_to_json_string_ext(text, JSON_C_TO_STRING_NOSLASHESCAPE));
        cleaning->names[i][strlen(cleaning->names[i]) - 1] = '\0';
    }
    return 0;
}

/* A path is what this program has open, and only root makes a name for. */
static bool is_own(const char *path)
{
    return strncmp(path, "/proc/self/fd/", 14) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           (strncmp(path, "/dev/", 5) == 0 && !strchr(path + 5, '/'));
}

/* Nobody else's file is written by a link that others made, no FUSE mount of another user's is
 * asked, and no FIFO waited for. */
static int open_to_write(const char *path, char **ret_why)
{
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *above =
        !slash ? message(".") : message("%.*s", slash == path ? 1 : (int)(slash - path), path);
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    struct stat st;
    if (is_own(path)) {
        int own = open(path, flags);
        return own < 0 ? -errno : own;
    }
    _cleanup_close_ int directory = trust_open_anybodys(above, ret_why);
    if (directory < 0)
        return directory;
    const char *name = slash ? slash + 1 : path;
    const int here = flags | O_NOFOLLOW | O_NONBLOCK;
    _cleanup_close_ int fd = openat(directory, name, here | O_CREAT | O_EXCL, 0666);
    const bool is_new = fd >= 0;
    if (!is_new)
        fd = errno == EEXIST ? mount_point_avoid(directory, name, here) : -errno;
    if (fd == -EXDEV)
        return refuse(ret_why, fd, "%s: something is mounted on it; name another file", path);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    if (!is_new &&
        ((st.st_uid != 0 && st.st_uid != geteuid()) || (S_ISREG(st.st_mode) && st.st_nlink > 1)))
        return refuse(ret_why, -EPERM,
                      "%s: is there, and others may have it open or by another name; remove it, or "
                      "name another file",
                      path);
    (void)fcntl(fd, F_SETFL, 0);
    return TAKE_FD(fd);
}

/* Opened before the work, so that it is not for nothing; what is there goes when all else is done.
 */
static int open_output(const struct cleaning *cleaning, struct output *output, const char *path,
                       char **ret_error)
{
    const struct corpus *corpus = &cleaning->corpus;
    struct stat st, other;
    if (!path)
        return 0;
    output->path = path;
    _cleanup_free_ char *why = NULL;
    patience_look(path);
    _cleanup_close_ int fd = open_to_write(path, &why);
    int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
    if (r == -ELOOP && !why)
        return refuse(ret_error, r, "%s: is a link; name the file it leads to", path);
    if (r < 0)
        return why ? refuse(ret_error, r, "%s", why)
                   : refuse(ret_error, r, "%s: %s", path, strerror(-r));
    for (size_t i = 0; i < corpus->n_files; i++)
        if (corpus->files[i].found.st_dev == st.st_dev &&
            corpus->files[i].found.st_ino == st.st_ino)
            return refuse(ret_error, -EINVAL, "%s: is read; name another file", path);
    if (cleaning->kept.file && S_ISREG(st.st_mode) &&
        fstat(fileno(cleaning->kept.file), &other) == 0 && other.st_dev == st.st_dev &&
        other.st_ino == st.st_ino)
        return refuse(ret_error, -EINVAL, "%s: --kept and --dropped are two files", path);
    output->file = fdopen(fd, "w");
    if (!output->file)
        return -errno;
    TAKE_FD(fd);
    return 0;
}

static int empty_output(const struct output *output, char **ret_error)
{
    struct stat st;
    if (!output->file || fstat(fileno(output->file), &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    return ftruncate(fileno(output->file), 0) == 0
               ? 0
               : refuse(ret_error, -errno, "%s: %s", output->path, strerror(errno));
}

/* A line behind one that has no newline begins a line of its own. */
static void write_line(struct output *output, const struct file_line *line)
{
    if (!output->file)
        return;
    if (line->begins && output->cut_line)
        putc('\n', output->file);
    fwrite(line->bytes, 1, line->n_bytes, output->file);
    output->cut_line = line->ends && line->bytes[line->n_bytes - 1] != '\n';
}

static int end_output(struct output *output, char **ret_error)
{
    if (!output->file)
        return 0;
    bool failed = ferror(output->file);
    if (fclose(TAKE_PTR(output->file)) != 0 || failed)
        return refuse(ret_error, -EIO, "%s: cannot write%s%s", output->path, failed ? "" : ": ",
                      failed ? "" : strerror(errno));
    return 0;
}

static int write_lines(struct cleaning *cleaning, char **ret_error)
{
    const uint32_t *clusters = batch_clusters(cleaning->batch);
    struct file_line line;
    uint32_t number;
    if (!cleaning->kept.file && !cleaning->dropped.file)
        return 0;
    int r = empty_output(&cleaning->kept, ret_error);
    if (r == 0)
        r = empty_output(&cleaning->dropped, ret_error);
    if (r < 0)
        return r;
    _cleanup_(corpus_walk_free_p) struct corpus_walk *walk =
        corpus_walk_new(&cleaning->corpus, WRITTEN_PART_BYTES, 0);
    if (!walk)
        return -ENOMEM;
    while ((r = corpus_walk_next(walk, &line, &number, ret_error)) > 0)
        if (number >= cleaning->first)
            write_line(clusters[number] == number ? &cleaning->kept : &cleaning->dropped, &line);
    if (r == 0)
        r = end_output(&cleaning->kept, ret_error);
    return r < 0 ? r : end_output(&cleaning->dropped, ret_error);
}

/* -- printing -- */

static void print_id(const struct cleaning *cleaning, const char *member, uint32_t number)
{
    const struct corpus_line line = corpus_stream_line(&cleaning->stream, number);
    printf(",\"%s\":", member);
    if (number < cleaning->against.list.n) {
        against_store_print_id(&cleaning->against, number);
        return;
    }
    if (line.id_bytes > 0) {
        json_text_print(stdout, line.id, line.id_bytes);
        return;
    }
    const struct corpus_file *file = corpus_file_of(&cleaning->corpus, number);
    const char *name = cleaning->names[file - cleaning->corpus.files];
    json_text_print(stdout, name, strlen(name));
    printf(":%u\"", number - file->first + 1);
}

static void print_line(struct cleaning *cleaning, uint32_t number)
{
    const struct corpus_line line = corpus_stream_line(&cleaning->stream, number);
    const uint32_t first = batch_clusters(cleaning->batch)[number];
    uint32_t *cluster = &cleaning->numbers[first];
    if (line.blank)
        return;
    if (*cluster == NOT_NUMBERED)
        *cluster = ++cleaning->n_clusters;
    if (*cluster)
        printf("{\"cluster\":%u", *cluster);
    else
        printf("{\"cluster\":null");
    print_id(cleaning, "id", number);
    print_id(cleaning, "representative", first);
    printf(",\"resemblance\":%s,\"keep\":%s",
           ratio_text((double)cleaning->resemblances[number] / 10000).text,
           first == number ? "true" : "false");
    if (first < cleaning->first)
        print_id(cleaning, "match", first);
    if (line.fault)
        printf(",\"error\":\"%s\"", json_text_fault_name(line.fault));
    puts("}");
}

static void print_lines(struct cleaning *cleaning)
{
    const uint32_t *clusters = batch_clusters(cleaning->batch), n = cleaning->corpus.n_lines;
    for (uint32_t i = 0; i < n; i++)
        if (clusters[i] != i)
            cleaning->numbers[clusters[i]] = NOT_NUMBERED;
    for (uint32_t i = cleaning->first; i < n; i++)
        print_line(cleaning, i);
}

static void tell_faults(const struct cleaning *cleaning)
{
    const struct corpus_stream *stream = &cleaning->stream;
    const uint32_t n = stream->n_faults;
    for (uint32_t i = 0; i < n && i < CORPUS_FAULTS_TOLD; i++) {
        const struct corpus_fault *fault = &stream->faults[i];
        const struct corpus_file *file = corpus_file_of(&cleaning->corpus, fault->number);
        complain("%s:%u: %s", file->name, fault->number - file->first + 1,
                 json_text_fault_name(fault->fault));
    }
    if (n > 0 && !stream->strict)
        complain("%s without a text that can be read, compared with nothing and kept",
                 counted(n, "line").text);
}

/* -- the batch -- */

static int share_memory(struct cleaning *cleaning, char **ret_error)
{
    struct batch_options *batch = &cleaning->options->batch;
    const uint32_t n = cleaning->corpus.n_lines;
    const uint64_t kept = (uint64_t)LINE_BYTES * n + document_list_memory(&cleaning->against.list);
    const uint64_t least = kept + batch_least_memory(n);
    if (batch->memory_bytes < least)
        return refuse(ret_error, -E2BIG, "--memory=%lluM is the least for %s",
                      (unsigned long long)((least + (1 << 20) - 1) >> 20),
                      counted(n, cleaning->against.is_there ? "document" : "line").text);
    batch->memory_bytes -= kept;
    batch->n_documents = n;
    cleaning->resemblances = large_array_new(((size_t)n + 1) * sizeof(*cleaning->resemblances));
    cleaning->numbers = large_array_new(((size_t)n + 1) * sizeof(*cleaning->numbers));
    batch->resemblances = cleaning->resemblances;
    return cleaning->resemblances && cleaning->numbers ? 0 : -ENOMEM;
}

static int read_corpus(struct cleaning *cleaning, char **ret_error)
{
    struct cluster_options *options = cleaning->options;
    struct corpus *corpus = &cleaning->corpus;
    corpus->is_zstd = options->zst;
    corpus->scratch = options->scratch;
    int r = against_store_open(options, &cleaning->against, ret_error);
    if (r == 0)
        r = name_files(cleaning);
    corpus->n_lines = cleaning->against.list.n;
    if (r == 0)
        r = corpus_count(corpus, ret_error);
    if (r == 0)
        r = open_output(cleaning, &cleaning->kept, options->kept, ret_error);
    if (r == 0)
        r = open_output(cleaning, &cleaning->dropped, options->dropped, ret_error);
    if (r == 0)
        r = share_memory(cleaning, ret_error);
    cleaning->first = r == 0 ? corpus->files[options->n_against].first : 0;
    return r;
}

static int sketch_corpus(struct cleaning *cleaning, char **ret_error)
{
    struct cluster_options *options = cleaning->options;
    struct policy policy = cleaning->against.policy;
    int r = cleaning->against.is_there ? 0 : cluster_options_policy(options, &policy);
    if (r == 0)
        r = batch_new(&policy, &options->batch, &cleaning->batch);
    if (r == 0)
        r = against_store_add(&cleaning->against, cleaning->batch);
    if (r < 0)
        return r;
    struct corpus_stream *stream = &cleaning->stream;
    stream->text_field = options->text_field ? options->text_field : "text";
    stream->id_field = options->id_field;
    stream->policy = &policy;
    stream->batch = cleaning->batch;
    stream->progress = &cleaning->progress;
    stream->strict = options->strict;
    r = corpus_stream_run(stream, ret_error);
    progress_done(&cleaning->progress);
    tell_faults(cleaning);
    if (r == -EBADMSG && !*ret_error)
        return refuse(ret_error, r, "--strict: a line is no document");
    return r;
}

int cluster_corpus(struct cluster_options *options, char **ret_error)
{
    _cleanup_(cleaning_done) struct cleaning cleaning = {.options = options};
    cleaning.stream.corpus = &cleaning.corpus;
    int r = cluster_options_use(options, &cleaning.progress, ret_error);
    if (r == 0)
        r = read_corpus(&cleaning, ret_error);
    if (r == 0)
        r = sketch_corpus(&cleaning, ret_error);
    if (r == 0)
        r = batch_run(cleaning.batch);
    progress_done(&cleaning.progress);
    if (r < 0)
        return *ret_error ? r : cluster_explain(&options->batch, r, ret_error);
    print_lines(&cleaning);
    r = write_lines(&cleaning, ret_error);
    if (r < 0)
        return r;
    const struct batch_totals *totals = batch_totals(cleaning.batch);
    const struct batch_cost sketch = {.wall_s = cleaning.stream.wall_s,
                                      .cpu_s = cleaning.stream.cpu_s,
                                      .read_bytes = cleaning.stream.n_bytes,
                                      .written_bytes = totals->sketch_written_bytes};
    if (options->costs)
        cluster_costs_print(&sketch, totals, options->json);
    return cleaning.n_clusters ? 0 : -ENODATA;
}
