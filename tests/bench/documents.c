#include "tests/bench/documents.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "engine/text/type.h"

bool document_load(const char *path, uint8_t **ret_bytes, size_t *ret_size_bytes)
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
    *ret_bytes = bytes;
    *ret_size_bytes = (size_t)n;
    return true;
}

const char *const bench_kind_names[BENCH_N_KINDS] = {"ASCII", "UTF-8", "HTML", "roff", "mail"};

enum bench_kind document_kind(const uint8_t *bytes, size_t size_bytes)
{
    switch (text_type_sniff(bytes, size_bytes)) {
    case TEXT_PLAIN: break;
    case TEXT_HTML: return BENCH_HTML;
    case TEXT_ROFF: return BENCH_ROFF;
    case TEXT_MAIL: return BENCH_MAIL;
    default: return BENCH_N_KINDS;
    }
    for (size_t i = 0; i < size_bytes; i++)
        if (bytes[i] >= 0x80)
            return BENCH_UTF8;
    return BENCH_ASCII;
}
