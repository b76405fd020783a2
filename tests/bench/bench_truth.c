/* What similar/ answers on a real tree against the exact answer, nothing sampled.
 *
 *   bench_truth SOURCE MOUNTPOINT [N_DOCUMENTS [SEED]]      default 300 documents, seed 1
 *
 * For N random documents that have shingles: every link of similar/<document>/ is compared with the
 * exact resemblance, and every document of the tree that resembles it by 0.6 or more must be
 * listed. Exits 1 when an answer is more than 4 standard errors off, or one is missing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "engine/sketch/documents/exact_set.h"

enum { W = 5 };
static const double MUST_BE_LISTED = 0.6, FAR = 4.0;

struct document {
    char *path; /* relative */
    struct exact_set *set;
    ino_t ino;
};

static struct document *documents;
static size_t n_documents, max_documents, prefix_bytes;

static int add_document(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || !S_ISREG(st->st_mode))
        return 0;
    if (n_documents == max_documents) {
        max_documents = max_documents ? max_documents * 2 : 1024;
        documents = reallocarray(documents, max_documents, sizeof(*documents));
    }
    struct document *document = &documents[n_documents];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || exact_set_read(fd, NULL, W, NULL, SIZE_MAX, &document->set) < 0)
        return -1;
    close(fd);
    document->path = strdup(path + prefix_bytes);
    document->ino = st->st_ino;
    n_documents++;
    return 0;
}

static struct document *by_ino(ino_t ino)
{
    for (size_t i = 0; i < n_documents; i++)
        if (documents[i].ino == ino)
            return &documents[i];
    return NULL;
}

static double number_of(const char *path, const char *name)
{
    char value[64];
    ssize_t n = getxattr(path, name, value, sizeof(value) - 1);
    if (n < 0)
        return NAN;
    value[n] = '\0';
    return atof(value);
}

/* The estimate and its error, asked for by name: the links show hundredths only. */
static void estimate_of(const char *mountpoint, const struct document *a, const struct document *b,
                        double *ret_value, double *ret_error)
{
    char path[8192], name[8192];
    snprintf(path, sizeof(path), "%s/%s", mountpoint, a->path);
    snprintf(name, sizeof(name), "user.kinfs.resemblance:%s", b->path);
    *ret_value = number_of(path, name);
    snprintf(name, sizeof(name), "user.kinfs.resemblance.error:%s", b->path);
    *ret_error = number_of(path, name);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench_truth SOURCE MOUNTPOINT [N_DOCUMENTS [SEED]]\n");
        return 2;
    }
    size_t wanted = argc > 3 ? (size_t)atol(argv[3]) : 300, n_asked = 0, n_links = 0, n_far = 0;
    size_t n_must = 0, n_missing = 0;
    double sum_squares = 0;
    srandom(argc > 4 ? (unsigned)atol(argv[4]) : 1);
    prefix_bytes = strlen(argv[1]) + 1;
    if (nftw(argv[1], add_document, 32, FTW_PHYS) != 0) {
        fprintf(stderr, "bench_truth: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    while (n_asked < wanted) {
        struct document *a = &documents[(size_t)random() % n_documents];
        char path[8192];
        if (exact_set_count(a->set) == 0)
            continue;
        n_asked++;
        snprintf(path, sizeof(path), "%s/similar/%s", argv[2], a->path);
        DIR *dir = opendir(path);
        if (!dir) {
            fprintf(stderr, "bench_truth: %s: %s\n", path, strerror(errno));
            return 2;
        }
        bool *listed = calloc(n_documents, sizeof(*listed));
        struct dirent *entry;
        while ((entry = readdir(dir))) {
            struct stat st;
            double exact, value, error;
            if (entry->d_name[0] == '.')
                continue;
            struct document *b =
                fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 ? by_ino(st.st_ino) : NULL;
            if (!b) {
                fprintf(stderr, "%s/%s leads nowhere\n", path, entry->d_name);
                return 2;
            }
            listed[b - documents] = true;
            if (exact_set_resemblance(a->set, b->set, &exact) < 0)
                continue;
            estimate_of(argv[2], a, b, &value, &error);
            n_links++;
            double off = fabs(value - exact);
            /* Four decimals are shown. */
            if (isnan(value) || off > FAR * (isnan(error) ? 0 : error) + 0.0001) {
                n_far++;
                printf("far: %s %s estimate %.4f +- %.4f exact %.4f\n", a->path, b->path, value,
                       error, exact);
            }
            if (error > 0)
                sum_squares += off * off / (error * error);
        }
        closedir(dir);
        size_t n_listed = 0;
        for (size_t i = 0; i < n_documents; i++)
            n_listed += listed[i];
        for (size_t i = 0; i < n_documents; i++) {
            double exact;
            if (documents[i].ino == a->ino ||
                exact_set_resemblance(a->set, documents[i].set, &exact) < 0 ||
                exact < MUST_BE_LISTED)
                continue;
            n_must++;
            if (!listed[i] && by_ino(documents[i].ino) == &documents[i]) {
                n_missing++;
                printf("missing: %s %s exact %.4f (%zu listed)\n", a->path, documents[i].path,
                       exact, n_listed);
            }
        }
        free(listed);
    }
    printf("%zu documents of %zu asked, seed %s\n", n_asked, n_documents, argc > 4 ? argv[4] : "1");
    printf("%zu answers, %zu more than %.0f standard errors off; root mean square %.2f errors\n",
           n_links, n_far, FAR, n_links ? sqrt(sum_squares / (double)n_links) : 0.0);
    printf("%zu pairs at %.1f or more, %zu missing\n", n_must, MUST_BE_LISTED, n_missing);
    return n_far || n_missing;
}
