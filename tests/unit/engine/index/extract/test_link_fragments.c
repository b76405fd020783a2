/* What a document says of others, as it is taken while the document is sketched: by hand, and of
 * documents that are made to take much. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/extract/link_fragments.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/indexed_tree.h"

struct taking {
    struct indexed_tree *f;
    struct sketching *sketching;
    struct stem_counts *stems;
    struct link_fragments *fragments;
    uint8_t *row; /* of the last document */
    size_t n_bytes;
};

static bool never(void *user)
{
    (void)user;
    return false;
}

static int setup(void **state)
{
    struct taking *t = calloc(1, sizeof(*t));
    void *tree;
    indexed_tree_setup(&tree);
    t->f = tree;
    const struct sketching_by by = index_sketching_by(t->f->index, true);
    assert_int_equal(sketching_new(&by, never, NULL, &t->sketching), 0);
    assert_int_equal(stem_counts_collect(t->f->index->hash, t->sketching, &t->stems), 0);
    assert_int_equal(
        link_fragments_collect(t->f->index->hash, t->sketching, t->stems, &t->fragments), 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct taking *t = *state;
    void *tree = t->f;
    sketching_free(t->sketching);
    stem_counts_free(t->stems);
    link_fragments_free(t->fragments);
    free(t->row);
    free(t);
    return indexed_tree_teardown(&tree);
}

/* Reads a document. Returns how many targets its row has, each of which decodes. */
static unsigned take(struct taking *t, const char *name, const void *bytes, size_t n_bytes)
{
    char reason[SKETCHING_REASON_BYTES];
    struct document_sketch sketch;
    struct fragments fragments;
    struct fragment fragment;
    unsigned n = 0;
    const char *path = scratch_path(t->f->root, "document");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
    assert_int_equal(sketching_run_whole(t->sketching, fd, &sketch, reason), 0);
    close(fd);
    free(t->row);
    t->row = NULL;
    assert_int_equal(link_fragments_finish(t->fragments, &sketch, name, &t->row, &t->n_bytes), 0);
    assert_true(t->n_bytes <= FRAGMENTS_ROW_MAX_BYTES);
    assert_int_equal(fragments_begin(&fragments, (struct kv_slice){t->row, t->n_bytes}), 0);
    while (fragments_next(&fragments, &fragment) == 1)
        n++;
    assert_true(fragments.at == fragments.end);
    return n;
}

static uint64_t word_of(struct taking *t, const char *stem, size_t n)
{
    uint8_t bytes[256] = {0}; /* behind a token may be read */
    const uint32_t end = (uint32_t)n;
    uint64_t fingerprint;
    memcpy(bytes, stem, n);
    shingle_hash_tokens(t->f->index->hash, &(struct token_block){bytes, &end, 1}, &fingerprint);
    return bags_word(fingerprint);
}

/* words: "fox 2 hen 1", in any order; NULL: nothing is said of it. */
static void assert_said(struct taking *t, enum link_kind kind, const char *target,
                        const char *words)
{
    struct fragments fragments;
    struct fragment fragment;
    unsigned n = 0;
    assert_int_equal(fragments_begin(&fragments, (struct kv_slice){t->row, t->n_bytes}), 0);
    int r;
    while ((r = fragments_next(&fragments, &fragment)) == 1)
        if (fragment.kind == kind && fragment.target_bytes == strlen(target) &&
            memcmp(fragment.target, target, fragment.target_bytes) == 0)
            break;
    assert_int_equal(r, words != NULL);
    for (const char *at = words; at && *at; n++) {
        const size_t length = strcspn(at, " ");
        const uint64_t word = word_of(t, at, length);
        char *end;
        const double count = (double)strtoul(at + length, &end, 10);
        bool found = false;
        for (uint32_t i = 0; i < fragment.n_words; i++)
            found |= fragment.words[i].word == word && fragment.words[i].weight == count;
        if (!found)
            fail_msg("%s: not %.*s %g", target, (int)length, at, count);
        at = end + (*end == ' ');
    }
    if (words)
        assert_int_equal(fragment.n_words, n);
}

static unsigned take_text(struct taking *t, const char *name, const char *text)
{
    return take(t, name, text, strlen(text));
}

static void test_link_fragments__are_the_words_around_links(void **state)
{
    struct taking *t = *state;
    assert_int_equal(
        take_text(t, "a.html",
                  "<!DOCTYPE html><title>The foxes</title>ponies the of and to in is it that "
                  "<a href=\"hen.html#egg\">hens</a> the of and to in is it lay ponies"),
        2);
    assert_said(t, LINK_URL, "", "fox 1");
    /* Eight tokens before and behind it: stop words are among them. */
    assert_said(t, LINK_URL, "hen.html", "hen 1 lai 1");
    /* Of formats that are known by the name the words are those of the link. */
    assert_int_equal(take_text(t, "a.md", "# foxes\n\nsee [the hens](hen.md) there\n"), 1);
    assert_said(t, LINK_URL, "hen.md", "hen 1");
    assert_int_equal(take_text(t, "a.txt", "foxes see [[hens]] there\n"), 0);
    assert_int_equal(take_text(t, NULL, "# foxes\n\nsee [the hens](hen.md) there\n"), 0);
    assert_int_equal(take_text(t, "a.org", "foxes [[file:hen.org][hens]]\n"), 1);
    assert_said(t, LINK_PATH, "hen.org", "hen 1");
}

#define SIX " bdkmqx dkmqxb kmqxbd mqxbdk qxbdkm xbdkmq dbkmqx kbdmqx mbdkqx "
static void test_link_fragments__say_each_thing_once(void **state)
{
    struct taking *t = *state;
    /* The same words around two links to one target, and around a link to another. */
    assert_int_equal(take_text(t, "a.html",
                               "<!DOCTYPE html>" SIX "<a href=b>foxes</a>" SIX SIX
                               "<a href=b>foxes</a>" SIX SIX "<a href=c>foxes</a>" SIX SIX
                               "<a href=b>hens</a>" SIX),
                     2);
    assert_said(t, LINK_URL, "b",
                "fox 1 hen 1 dkmqxb 4 kmqxbd 4 mqxbdk 4 qxbdkm 4 xbdkmq 4 dbkmqx 4 kbdmqx 4 mbdkqx "
                "2 bdkmqx 2");
    /* Of itself, of what is elsewhere, and of what no file can be nothing is said. */
    assert_int_equal(take_text(t, "a.html",
                               "<!DOCTYPE html><a href=\"\">foxes</a> <a href=\"#x\">foxes</a> "
                               "<a href=\"http://x/y\">foxes</a> <a href=\"//x/y\">foxes</a> "
                               "<a href=\"mailto:a@b\">foxes</a> <a>foxes</a>"),
                     0);
    /* What one document says the next one does not. */
    assert_int_equal(take_text(t, "a.html", "<!DOCTYPE html><a href=d>the</a> foxes"), 1);
    assert_said(t, LINK_URL, "d", "fox 1");
    assert_said(t, LINK_URL, "b", NULL);
}

static char *many(const char *head, const char *format, unsigned n, size_t *ret_n_bytes)
{
    const size_t room = strlen(head) + (size_t)n * (strlen(format) + 16) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    size_t at = (size_t)snprintf(text, room, "%s", head);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, format, i);
    *ret_n_bytes = at;
    return text;
}

static void test_link_fragments__of_very_many_links_are_bounded(void **state)
{
    struct taking *t = *state;
    static const struct {
        const char *name, *head, *format;
        unsigned n, n_targets;
    } cases[] = {
        {"a.html", "<!DOCTYPE html>", "<a href=%u>foxes hens</a> ", 1000000,
         FRAGMENTS_MOST_TARGETS},
        {"a.html", "<!DOCTYPE html>foxes", "<a href=%u></a>", 1000000, FRAGMENTS_MOST_TARGETS},
        {"a.html", "<!DOCTYPE html>foxes", "<a href=x></a> fox%u ", 300000, 1},
        {"a.md", "# foxes\n\n", "[foxes](%u)\n", 12000, FRAGMENTS_MOST_TARGETS},
        /* behind the first tokens nothing counts */
        {"a.html", "<!DOCTYPE html>", "a %u ", STEM_COUNTS_TOKENS, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n_bytes;
        char *text = many(cases[i].head, cases[i].format, cases[i].n, &n_bytes);
        if (cases[i].n_targets == 0) {
            memcpy(text + n_bytes - 30, "<a href=late>foxes</a>        ", 30);
        }
        assert_int_equal(take(t, cases[i].name, text, n_bytes), cases[i].n_targets);
        free(text);
    }
}

static void test_link_fragments__of_hostile_targets_are_bounded(void **state)
{
    struct taking *t = *state;
    enum { ROOM = 4 << 20 };
    char *text = malloc(ROOM), target[LINK_TARGET_MAX_BYTES + 2];
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "<!DOCTYPE html>");
    memset(target, 'x', sizeof(target));
    target[LINK_TARGET_MAX_BYTES + 1] = '\0';
    at += (size_t)sprintf(text + at, "<a href=\"%s\">foxes</a> ", target); /* one too long */
    for (unsigned i = 0; i < 400; i++) {
        target[LINK_TARGET_MAX_BYTES] = '\0';
        memcpy(target, "../../../", 9);
        target[20] = (char)('a' + i % 20);
        target[21] = (char)('a' + i / 20);
        at += (size_t)sprintf(text + at, "<a href=\"%s\">foxes</a> ", target);
    }
    const unsigned n = take(t, "a.html", text, at);
    assert_true(n > 20 && n < 40); /* as many as go into a row */
    free(text);
    assert_int_equal(
        take_text(t, "a.html",
                  "<!DOCTYPE html><a href=\"c&#0;d\">foxes</a> <a href=\"%00\">foxes</a> "
                  "<a href=e>foxes</a>"),
        3);
    assert_said(t, LINK_URL, "e", "fox 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_link_fragments__are_the_words_around_links, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_link_fragments__say_each_thing_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_link_fragments__of_very_many_links_are_bounded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_link_fragments__of_hostile_targets_are_bounded, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
