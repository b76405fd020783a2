#include "fs/views/view_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "fs/views/view.h"

/* -- the text -- */

static void describe(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP kinfs_%s %s\n# TYPE kinfs_%s %s\n", name, help, name, type);
}

static void gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
    describe(out, name, "gauge", help);
    fprintf(out, "kinfs_%s %" PRIu64 "\n", name, value);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    describe(out, name, "counter", help);
    fprintf(out, "kinfs_%s %" PRIu64 "\n", name, value);
}

/* The format takes any UTF-8 but these three as they are; what is none is escaped before, as where
 * paths are printed. */
static void label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            fprintf(out, "\\%c", *value);
        else if (*value == '\n')
            fputs("\\n", out);
        else
            fputc(*value, out);
    }
    fputc('"', out);
}

static void print_info(FILE *out, const struct index_status *status, const char *source)
{
    describe(out, "info", "gauge", "What is mounted, and how it is compared; always 1.");
    fputs("kinfs_info{", out);
    label(out, "version", status->version);
    fputc(',', out);
    label(out, "source", source);
    fputc(',', out);
    label(out, "policy", status->policy);
    fputs("} 1\n", out);
}

static void print_index(FILE *out, const struct index_status *status)
{
    gauge(out, "documents", "Documents with a sketch.", status->documents);
    gauge(out, "skipped_documents", "Documents that could not be read.", status->skipped);
    gauge(out, "clusters", "Clusters of the default clustering.", status->clusters);
    gauge(out, "clustered_documents", "Documents in these.", status->clustered_documents);
    gauge(out, "repairing", "Clusters and lists whose documents are to be clustered anew.",
          status->repairing);
    gauge(out, "disk_bytes", "Size of the store.", status->store_bytes);
    gauge(out, "pending_documents", "Documents written and not sketched yet.",
          status->pending_foreground);
    gauge(out, "pending_scan_documents", "Documents that the scan found and are not sketched yet.",
          status->pending_scan);
    gauge(out, "pending_slow_documents", "Of both: large ones, and those for extractors.",
          status->pending_slow);
    gauge(out, "scanning", "Whether a scan runs: 1 or 0.", status->scanning);
    gauge(out, "scan_done_documents", "Documents of the running or last scan that are done.",
          status->scan_done);
    gauge(out, "scan_found_documents", "Documents that it has found.", status->scan_found);
    gauge(out, "store_errno", "The error that the store takes no writes for, 0: it takes them.",
          (uint64_t) - (int64_t)status->store_error);
    gauge(out, "extractors_left", "Extractors that no signal ends.", status->extractors_left);
    counter(out, "sketched_documents_total", "Documents sketched since the start.",
            status->sketched_documents);
    counter(out, "sketched_bytes_total", "Bytes of these.", status->sketched_bytes);
    counter(out, "failed_writes_total", "Writes to the store that failed since the start.",
            status->failed);
}

enum clustering_number { CLUSTERING_CLUSTERS, CLUSTERING_DOCUMENTS, CLUSTERING_CURRENT };

static uint64_t number_of(const struct index_clustering_status *clustering,
                          enum clustering_number number)
{
    switch (number) {
    case CLUSTERING_CLUSTERS: return clustering->clusters;
    case CLUSTERING_DOCUMENTS: return clustering->clustered_documents;
    case CLUSTERING_CURRENT: break;
    }
    return clustering->current;
}

static void print_named(FILE *out, const char *name, const char *help,
                        enum clustering_number number,
                        const struct index_clustering_status *clusterings, size_t n)
{
    if (n == 0)
        return;
    describe(out, name, "gauge", help);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "kinfs_%s{", name);
        label(out, "clustering", clusterings[i].clustering.name);
        fprintf(out, "} %" PRIu64 "\n", number_of(&clusterings[i], number));
    }
}

char *metrics_text(const struct index_status *status,
                   const struct index_clustering_status *clusterings, size_t n_clusterings)
{
    char *text = NULL;
    size_t n_bytes;
    _cleanup_free_ char *source = NULL;
    if (escape_name(status->source, &source) < 0)
        return NULL;
    FILE *out = open_memstream(&text, &n_bytes);
    if (!out)
        return NULL;
    print_info(out, status, source);
    print_index(out, status);
    print_named(out, "named_clusters", "Clusters of a named clustering.", CLUSTERING_CLUSTERS,
                clusterings, n_clusterings);
    print_named(out, "named_clustered_documents", "Documents in these.", CLUSTERING_DOCUMENTS,
                clusterings, n_clusterings);
    print_named(out, "named_current", "Whether a named clustering has seen the last changes.",
                CLUSTERING_CURRENT, clusterings, n_clusterings);
    const bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

int view_metrics_make(const struct view_task *task, char **ret_text)
{
    struct index_clustering_status clusterings[INDEX_CLUSTERINGS_MAX];
    struct index_status status;
    index_get_status(task->fs->index, &status);
    const size_t n = index_get_clusterings(task->fs->index, clusterings);
    *ret_text = metrics_text(&status, clusterings, n);
    return *ret_text ? 0 : -ENOMEM;
}
