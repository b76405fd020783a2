/* Writes a tree of documents as a large tree has them: one family of near-identical documents, many
 * with the same beginning, edited copies, the rest unrelated, all in words of one language.
 *
 *   bench_mix DIRECTORY N      DIRECTORY must not exist; 100 files in a directory of it
 *
 *   a tenth   of one family: 700 words, of which each has 14 of its own in the place of others
 *   a tenth   begin with the same 60 words
 *   a tenth   are copies of another document, with a twentieth of the words replaced
 *   the rest  have nothing in common but their words
 *
 * Words are drawn from 20,000 with the frequencies of Zipf's law (the k-th in 1 of k), lengths are
 * lognormal: 200 words in the middle, of a standard deviation of one in the exponent. That is what
 * a generator of uniform words and equal lengths leaves out: common shingles, and documents that
 * are mostly boilerplate. Each document depends on its number alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"

enum {
    VOCABULARY = 20000,
    WORD_BYTES = 12,
    WORDS_MAX = 20000,
    FAMILY_WORDS = 700,
    FAMILY_CHANGES = 14,
    HEAD_WORDS = 60,
    MEDIAN_WORDS = 200,
    DIRECTORY_FILES = 100,
};

enum kind { KIND_FAMILY, KIND_HEADED, KIND_COPY, N_KINDS_RARE, KIND_ALONE = N_KINDS_RARE };

static double cumulated[VOCABULARY]; /* share of the words up to this one */
static char words[VOCABULARY][WORD_BYTES];

static void end(const char *what)
{
    fprintf(stderr, "bench_mix: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void make_vocabulary(void)
{
    double sum = 0;
    for (unsigned i = 0; i < VOCABULARY; i++)
        cumulated[i] = sum += 1.0 / (i + 1);
    for (unsigned i = 0; i < VOCABULARY; i++) {
        uint64_t state = i;
        unsigned n = 2 + (unsigned)(mix64_next(&state) % (WORD_BYTES - 3));
        cumulated[i] /= sum;
        for (unsigned c = 0; c < n; c++)
            words[i][c] = (char)('a' + mix64_next(&state) % 26);
    }
}

/* From 0 up to 1, without it. */
static double uniform(uint64_t *state)
{
    return (double)(mix64_next(state) >> 11) * 0x1p-53;
}

static unsigned draw_word(uint64_t *state)
{
    const double at = uniform(state);
    unsigned low = 0, high = VOCABULARY - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (cumulated[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static unsigned draw_length(uint64_t *state)
{
    const double normal = sqrt(-2 * log(1 - uniform(state))) * cos(2 * M_PI * uniform(state));
    const double n = MEDIAN_WORDS * exp(normal);
    return n < 20 ? 20 : n > WORDS_MAX - HEAD_WORDS ? WORDS_MAX - HEAD_WORDS : (unsigned)n;
}

static enum kind kind_of(unsigned number)
{
    const unsigned kind = (unsigned)(mix64(number) % 10);
    return kind < N_KINDS_RARE ? kind : KIND_ALONE;
}

static unsigned add_words(uint64_t seed, unsigned n, unsigned *text)
{
    uint64_t state = mix64(seed);
    for (unsigned i = 0; i < n; i++)
        text[i] = draw_word(&state);
    return n;
}

static unsigned body(unsigned number, unsigned *text)
{
    uint64_t state = mix64(number | 1ULL << 40);
    return add_words(number | 2ULL << 40, draw_length(&state), text);
}

static unsigned compose(unsigned number, unsigned *text)
{
    const enum kind kind = kind_of(number);
    uint64_t state = mix64(number | 3ULL << 40);
    unsigned n;

    if (kind == KIND_HEADED) {
        n = add_words(4ULL << 40, HEAD_WORDS, text);
        return n + body(number, text + n);
    }
    if (kind == KIND_ALONE)
        return body(number, text);
    if (kind == KIND_FAMILY)
        n = add_words(5ULL << 40, FAMILY_WORDS, text);
    else
        n = body(number ? (unsigned)(mix64_next(&state) % number) : 0, text);
    const unsigned n_changes = kind == KIND_FAMILY ? FAMILY_CHANGES : n / 20;
    for (unsigned i = 0; i < n_changes; i++)
        text[mix64_next(&state) % n] = draw_word(&state);
    return n;
}

static void write_document(int top, unsigned number)
{
    static unsigned text[WORDS_MAX];
    static char bytes[WORDS_MAX * WORD_BYTES];
    const unsigned n = compose(number, text);
    char path[64], *p = bytes;

    for (unsigned i = 0; i < n; i++) {
        p = stpcpy(p, words[text[i]]);
        *p++ = i % 12 == 11 || i == n - 1 ? '\n' : ' ';
    }
    snprintf(path, sizeof(path), "%05u", number / DIRECTORY_FILES);
    if (number % DIRECTORY_FILES == 0 && mkdirat(top, path, 0777) < 0)
        end(path);
    snprintf(path, sizeof(path), "%05u/%07u.txt", number / DIRECTORY_FILES, number);
    int fd = openat(top, path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || write(fd, bytes, (size_t)(p - bytes)) != p - bytes || close(fd) < 0)
        end(path);
}

int main(int argc, char **argv)
{
    if (argc != 3 || atoi(argv[2]) < 1) {
        fprintf(stderr, "Usage: bench_mix DIRECTORY N\n");
        return 2;
    }
    int top = mkdir(argv[1], 0777) < 0 ? -1 : open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        end(argv[1]);
    make_vocabulary();
    for (unsigned i = 0; i < (unsigned)atoi(argv[2]); i++)
        write_document(top, i);
    return 0;
}
