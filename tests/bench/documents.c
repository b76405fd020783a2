#include "tests/bench/documents.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

bool document_load(const char *path, struct document *ret_document)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    uint8_t *bytes = malloc((size_t)st.st_size);
    ssize_t n = bytes ? read(fd, bytes, (size_t)st.st_size) : -1;
    if (n != st.st_size) {
        free(bytes);
        return false;
    }
    *ret_document = (struct document){bytes, (size_t)n};
    return true;
}

/* BENCH_N_KINDS: none of them. */
static size_t kind_of(const struct document *document)
{
    switch (text_type_sniff(document->bytes, document->size_bytes)) {
    case TEXT_PLAIN: break;
    case TEXT_HTML: return BENCH_HTML;
    case TEXT_ROFF: return BENCH_ROFF;
    case TEXT_MAIL: return BENCH_MAIL;
    default: return BENCH_N_KINDS;
    }
    for (size_t i = 0; i < document->size_bytes; i++)
        if (document->bytes[i] >= 0x80)
            return BENCH_UTF8;
    return BENCH_ASCII;
}

void kinds_load(struct kind kinds[BENCH_N_KINDS], char **paths, size_t n)
{
    static const struct kind empty[BENCH_N_KINDS] = {
        [BENCH_ASCII] = {"ASCII", TEXT_PLAIN}, [BENCH_UTF8] = {"UTF-8", TEXT_PLAIN},
        [BENCH_HTML] = {"HTML", TEXT_HTML},    [BENCH_ROFF] = {"roff", TEXT_ROFF},
        [BENCH_MAIL] = {"mail", TEXT_MAIL},
    };
    for (size_t i = 0; i < BENCH_N_KINDS; i++) {
        kinds[i] = empty[i];
        kinds[i].documents = calloc(n, sizeof(struct document));
        if (!kinds[i].documents)
            exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        struct document document;
        if (!document_load(paths[i], &document))
            continue;
        size_t number = kind_of(&document);
        if (number == BENCH_N_KINDS) {
            free(document.bytes);
            continue;
        }
        struct kind *kind = &kinds[number];
        kind->documents[kind->n++] = document;
        kind->size_bytes += document.size_bytes;
    }
}

void kinds_done(struct kind kinds[BENCH_N_KINDS])
{
    for (size_t i = 0; i < BENCH_N_KINDS; i++) {
        for (size_t k = 0; k < kinds[i].n; k++)
            free(kinds[i].documents[k].bytes);
        free(kinds[i].documents);
    }
}
