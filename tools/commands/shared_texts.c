/* Candidates come from an index, by a few fingerprints; here both texts are read, and all passages
 * of so many words are told to the word.
 *
 * Example, 4 words at least: the document asked about is "a b c d e f g", the template "b c d",
 * with as many words left out as that has, and another document "x c d e f g". Without the template
 * the passage is "c d e f g"; with it "e f g" is left, which is too short.
 *
 * Words that are left out get numbers that no other word has, so that nothing is alike across them.
 */
#include "tools/commands/shared_texts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mix.h"
#include "base/room.h"
#include "tools/documents/common_runs.h"
#include "tools/documents/regular_file.h"
#include "tools/show/message.h"

/* Of a document that nobody named: a PDF document of 4 MiB of text takes a fifth of that. */
enum { FOUND_MS = 10000 };

void shared_texts_done(struct shared_texts *shared)
{
    for (size_t i = 0; i < shared->n_paths; i++)
        free(shared->paths[i]);
    free(shared->paths);
    free(shared->texts);
    word_places_done(&shared->words);
    place_way_done(&shared->way);
}

static int read_words(const struct shared_texts *shared, int fd, const char *shown,
                      size_t most_bytes, int64_t until_ms, struct word_places *ret_words,
                      char **ret_error)
{
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    int r = text_source_open(shown, fd, shared->configuration, until_ms, &text, ret_error);
    if (r < 0)
        return r;
    r = word_places_read(&text, most_bytes, until_ms, ret_words);
    if (r == -E2BIG)
        return refuse(ret_error, r,
                      "%s: its text has more than %zu MiB, or it is unpacked to more than %zu MiB",
                      shown, most_bytes >> 20, WORD_PLACES_UNPACKED * (most_bytes >> 20));
    if (r == -ETIMEDOUT)
        return refuse(ret_error, r, TEXT_SOURCE_LATE, shown);
    return r < 0 ? refuse(ret_error, r, "%s: %s", shown, strerror(-r)) : 0;
}

static int refuse_wordless(const char *shown, char **ret_error)
{
    return refuse(ret_error, -ENODATA,
                  "%s: a table or no text, so there are no passages; kinfs similar tells what it "
                  "is like",
                  shown);
}

int shared_texts_read(struct shared_texts *shared, int fd, const char *shown, char **ret_error)
{
    int r = read_words(shared, fd, shown, WORD_PLACES_NAMED_BYTES, 0, &shared->words, ret_error);
    return r < 0 ? r : shared->words.has_words ? 0 : refuse_wordless(shown, ret_error);
}

void shared_texts_leave_out_words(struct shared_texts *shared, uint64_t first, uint64_t end)
{
    struct word_places *words = &shared->words;
    for (uint64_t i = first; i < end && i < words->n; i++)
        words->words[i] = mix64(words->words[i] ^ i << 1 ^ 1);
}

int shared_texts_leave_out(struct shared_texts *shared, int fd, const char *shown, char **ret_error)
{
    struct word_places other = {0};
    struct common_runs runs = {0};
    int r = read_words(shared, fd, shown, WORD_PLACES_NAMED_BYTES, 0, &other, ret_error);
    if (r < 0)
        return r;
    if (!other.has_words)
        r = refuse_wordless(shown, ret_error);
    if (r == 0)
        r = common_runs_find(shared->words.words, shared->words.n, other.words, other.n,
                             PASSAGE_LEFT_OUT_WORDS, &runs);
    if (r == 0)
        for (size_t i = 0; i < runs.n_runs; i++)
            shared_texts_leave_out_words(shared, runs.runs[i].a, runs.runs[i].a + runs.runs[i].n);
    else if (r != -ENODATA)
        refuse(ret_error, r, "%s: %s", shown, strerror(-r));
    common_runs_done(&runs);
    word_places_done(&other);
    return r;
}

static int take_runs(struct shared_texts *shared, const struct word_places *other,
                     const struct common_runs *runs)
{
    if (!MAKE_ROOM(shared->texts, shared->texts_room, shared->n_texts + runs->n_runs))
        return -ENOMEM;
    const struct word_place *a = shared->words.places, *b = other->places;
    for (size_t i = 0; i < runs->n_runs; i++) {
        const struct common_run *run = &runs->runs[i];
        shared->texts[shared->n_texts++] =
            (struct shared_text){.document = shared->n_paths - 1,
                                 .a = run->a,
                                 .n = run->n,
                                 .line_a = a[run->a].line,
                                 .last_line_a = a[run->a + run->n - 1].line,
                                 .line = b[run->b].line,
                                 .last_line = b[run->b + run->n - 1].line};
    }
    return 0;
}

static int add_path(struct shared_texts *shared, const char *path)
{
    if (!MAKE_ROOM(shared->paths, shared->paths_room, shared->n_paths + 1))
        return -ENOMEM;
    shared->paths[shared->n_paths++] = message("%s", path);
    return 0;
}

static int compare(struct shared_texts *shared, int fd, const char *shown, const char *path,
                   char **ret_error)
{
    struct word_places other = {0};
    struct common_runs runs = {0};
    int r = read_words(shared, fd, shown, WORD_PLACES_FOUND_BYTES, clock_now_ms() + FOUND_MS,
                       &other, ret_error);
    if (r < 0)
        return r;
    if (other.has_words) {
        r = common_runs_find(shared->words.words, shared->words.n, other.words, other.n,
                             shared->least, &runs);
        if (r == 0 && runs.n_runs)
            r = add_path(shared, path);
        if (r == 0 && runs.n_runs)
            r = take_runs(shared, &other, &runs);
        if (r < 0)
            refuse(ret_error, r, "%s: %s", shown, strerror(-r));
    }
    common_runs_done(&runs);
    word_places_done(&other);
    return r;
}

int shared_texts_compare(struct shared_texts *shared, const char *base, const char *path,
                         char **ret_error)
{
    _cleanup_free_ char *shown = message("%s/%s", base, path);
    _cleanup_close_ int place = place_open(&shared->way, shown, (uint32_t)strlen(base));
    _cleanup_close_ int fd = place < 0 ? place : regular_file_open_place(place);
    if (fd == -ENOENT || fd == -ESTALE || fd == -EINVAL) /* gone since it was asked about */
        return 0;
    if (fd < 0)
        return refuse(ret_error, fd, "%s: %s", shown, error_text(fd));
    return compare(shared, fd, shown, path, ret_error);
}

static int compare_texts(const void *a, const void *b, void *user)
{
    const struct shared_text *x = a, *y = b;
    const struct shared_texts *shared = user;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    if (x->document != y->document)
        return strcmp(shared->paths[x->document], shared->paths[y->document]);
    return (x->a > y->a) - (x->a < y->a);
}

void shared_texts_sort(struct shared_texts *shared, size_t most)
{
    if (shared->n_texts)
        qsort_r(shared->texts, shared->n_texts, sizeof(*shared->texts), compare_texts, shared);
    if (most && shared->n_texts > most)
        shared->n_texts = most;
}

char *shared_texts_text(const struct shared_texts *shared, const struct shared_text *text)
{
    const struct word_places *words = &shared->words;
    size_t begin = words->places[text->a].begin, end = words->places[text->a + text->n - 1].end;
    while (begin < end && (unsigned char)words->text[begin] <= ' ')
        begin++;
    while (end > begin && (unsigned char)words->text[end - 1] <= ' ')
        end--;
    return message("%.*s", (int)(end - begin), words->text + begin);
}
