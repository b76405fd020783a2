/* What others say of documents, as the index finds it, by a model that knows what was written:
 * which words stand around which link, and where that leads in the tree as it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"
#include "engine/index/tables/fragments.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/fixtures/topics_fixture.h"
#include "tests/lib/scratch.h"

enum {
    N_DOCUMENTS = 60,
    N_LINKS = 4,
    N_TITLE = 2,
    WINDOW = 8,
    MOST_SAID = 2 * WINDOW + 2,
    N_WORDS = 500,
    BETWEEN = 24, /* words, so that no two windows have one in common */
};

struct said {
    char href[64];
    unsigned words[MOST_SAID];
    unsigned n;
};

static struct model {
    char path[64]; /* "": it is gone */
    unsigned title[N_TITLE], n_title;
    struct said said[N_LINKS];
    unsigned n_said;
} models[N_DOCUMENTS];

static uint64_t seed;

static unsigned draw(unsigned n)
{
    return (unsigned)(mix64_next(&seed) % n);
}

/* Of consonants, so that the stemmer leaves it as it is. */
static void word(unsigned number, char ret_text[8])
{
    static const char letters[] = "bdkmqxz";
    memset(ret_text, 0, 8);
    for (size_t i = 0; i < 6; i++, number /= 7)
        ret_text[i] = letters[number % 7];
}

static uint64_t fingerprint_of(struct indexed_tree *f, unsigned number)
{
    uint8_t bytes[128] = {0}; /* behind a token may be read */
    const uint32_t end = 6;
    uint64_t fingerprint;
    char text[8];
    word(number, text);
    memcpy(bytes, text, 6);
    shingle_hash_tokens(f->index->hash, &(struct token_block){bytes, &end, 1}, &fingerprint);
    return bags_word(fingerprint);
}

/* -- documents -- */

static char text[1 << 16];
static size_t n_text;

static void put(const char *bytes)
{
    const size_t n = strlen(bytes);
    assert_true(n_text + n < sizeof(text));
    memcpy(text + n_text, bytes, n + 1);
    n_text += n;
}

static void put_word(unsigned number)
{
    char bytes[8];
    word(number, bytes);
    put(bytes);
    put(" ");
}

static void put_words(const unsigned *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_word(words[i]);
}

static void put_others(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_word(draw(N_WORDS));
}

/* A link of HTML has the words around it, one of Markdown those by which it links. */
static void put_link(const struct said *said, bool is_html)
{
    put_others(BETWEEN);
    if (is_html) {
        put_words(said->words, WINDOW);
        put("<a href=\"");
        put(said->href);
        put("\">");
        put_words(said->words + WINDOW, said->n - 2 * WINDOW);
        put("</a> ");
        put_words(said->words + said->n - WINDOW, WINDOW);
    } else {
        put("[");
        put_words(said->words, said->n);
        put("](");
        put(said->href);
        put(")\n\n");
    }
}

static bool is_html(const struct model *model)
{
    return strstr(model->path, ".html") != NULL;
}

static void write_model(struct indexed_tree *f, struct model *model)
{
    n_text = 0;
    model->n_title = is_html(model) ? N_TITLE : 0;
    put(is_html(model) ? "<!DOCTYPE html><title>" : "# of\n\n");
    for (unsigned i = 0; i < model->n_title; i++)
        put_word(model->title[i] = draw(N_WORDS));
    put(is_html(model) ? "</title><p>" : "");
    for (unsigned i = 0; i < model->n_said; i++) {
        struct said *said = &model->said[i];
        said->n = is_html(model) ? MOST_SAID : 2;
        for (unsigned k = 0; k < said->n; k++)
            said->words[k] = draw(N_WORDS);
        /* Twice with the same words, as navigation has it: counts once. */
        for (unsigned n = 0; n < 1 + (i == 0); n++)
            put_link(said, is_html(model));
    }
    put_others(BETWEEN);
    scratch_write(scratch_path(f->tree, "%s", model->path), text);
}

/* To documents of the same directory or above, in some of the ways to write it; to what is not
 * there, above the tree, elsewhere, and to itself. */
static void draw_href(const struct model *of, char href[64])
{
    char path[32];
    const struct model *to = &models[draw(N_DOCUMENTS)];
    static const char *const others[] = {"gone.html",  "../../../../../up.html",
                                         "sub",        "https://example.com/d01.html",
                                         "mailto:a@b", "..",
                                         "#here",      "%00.html"};
    const char *slash = strrchr(of->path, '/');
    const bool is_own = draw(10) == 0;
    memcpy(path, is_own ? (slash ? slash + 1 : of->path) : to->path, sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    if (draw(6) == 0)
        snprintf(href, 64, "%s", others[draw(8)]);
    else
        snprintf(href, 64, "%s%s%s%s", slash && !is_own ? "../" : "", draw(3) ? "" : "./", path,
                 draw(3) ? "" : "#part");
}

static void write_all(struct indexed_tree *f)
{
    assert_int_equal(mkdir(scratch_path(f->tree, "sub"), 0755), 0);
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        snprintf(models[i].path, sizeof(models[i].path), "%sd%02u.%s", i % 4 == 1 ? "sub/" : "", i,
                 i % 5 ? "html" : "md");
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        models[i].n_said = draw(N_LINKS + 1);
        for (unsigned k = 0; k < models[i].n_said; k++) {
            draw_href(&models[i], models[i].said[k].href);
            for (unsigned m = 0; m < k; m++) /* with the same place in it they are one target */
                if (strncmp(models[i].said[k].href, models[i].said[m].href,
                            strcspn(models[i].said[k].href, "#")) == 0)
                    snprintf(models[i].said[k].href, 64, "none%u", k);
        }
        write_model(f, &models[i]);
    }
}

/* -- the model -- */

/* The document that an address leads to from another, NULL: none. */
static const struct model *led_to(const struct model *from, const char *href)
{
    char path[160];
    const char *slash = strrchr(from->path, '/');
    int n = slash ? (int)(slash - from->path) + 1 : 0;
    if (strstr(href, ":") || *href == '#')
        return NULL;
    snprintf(path, sizeof(path), "%.*s", n, from->path);
    for (;;) {
        if (strncmp(href, "./", 2) == 0) {
            href += 2;
        } else if (strncmp(href, "../", 3) == 0) {
            if (!*path)
                return NULL;
            path[strlen(path) - 1] = '\0';
            char *above = strrchr(path, '/');
            *(above ? above + 1 : path) = '\0';
            href += 3;
        } else {
            break;
        }
    }
    snprintf(path + strlen(path), 64, "%.*s", (int)strcspn(href, "#"), href);
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        if (*models[i].path && strcmp(models[i].path, path) == 0 && &models[i] != from)
            return &models[i];
    return NULL;
}

/* What all say of a document, and its title. */
static struct bag expected_of(struct indexed_tree *f, const struct model *model)
{
    static uint64_t words[1 << 12];
    struct bag bag;
    size_t n = 0;
    for (unsigned k = 0; k < model->n_title; k++)
        words[n++] = fingerprint_of(f, model->title[k]);
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        for (unsigned k = 0; *models[i].path && k < models[i].n_said; k++)
            for (unsigned m = 0;
                 led_to(&models[i], models[i].said[k].href) == model && m < models[i].said[k].n;
                 m++)
                words[n++] = fingerprint_of(f, models[i].said[k].words[m]);
    assert_int_equal(bag_count(words, n, &bag), 0);
    return bag;
}

static void assert_bags_equal(const struct bag *a, const struct bag *b, const char *of)
{
    if (a->n_words != b->n_words)
        fail_msg("%s: %u words, not %u", of, a->n_words, b->n_words);
    for (uint32_t i = 0; i < a->n_words; i++)
        if (a->words[i].word != b->words[i].word || a->words[i].weight != b->words[i].weight)
            fail_msg("%s: another word %u", of, i);
}

static void assert_said_of(struct indexed_tree *f, const char *name, const struct bag *expected)
{
    _cleanup_(kv_buf_done) struct kv_buf row = {0};
    _cleanup_(bag_done) struct bag found = {0};
    assert_int_equal(topics_said_of(f->index->topics, name, NULL, NULL, &row), 0);
    assert_int_equal(bags_decode(kv_buf_slice(&row), &found), 0);
    assert_bags_equal(&found, expected, name);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

/* Returns how many words others say in all. */
static unsigned assert_said(struct indexed_tree *f)
{
    const uint32_t epoch = topics_epoch(f->index->topics).epoch;
    unsigned n = 0;
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        _cleanup_(record_done) struct record record = {0};
        _cleanup_(bag_done) struct bag expected = expected_of(f, &models[i]), found = {0};
        if (!*models[i].path)
            continue;
        const uint64_t sid = document_of(f, models[i].path, &record);
        assert_int_equal(topics_get(f->index->topics, epoch, sid, &found), 0);
        assert_bags_equal(&found, &expected, models[i].path);
        n += found.n_words - models[i].n_title;
    }
    return n;
}

static void test_index_anchors__are_what_others_say_and_the_title(void **state)
{
    struct indexed_tree *f = *state;
    seed = 1;
    write_all(f);
    open_with(f, INDEX_TOPICS_ANCHOR);
    assert_true(assert_said(f) > 500);
    index_stop(f->index);
    assert_right(f, true);
}

static void move(struct indexed_tree *f, struct model *model, const char *to)
{
    assert_int_equal(
        rename(scratch_path(f->tree, "%s", model->path), scratch_path(f->tree, "%s", to)), 0);
    snprintf(model->path, sizeof(model->path), "%s", to);
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static struct model *who_says_something(const char *in)
{
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        for (unsigned k = 0; strncmp(models[i].path, in, strlen(in)) == 0 && k < models[i].n_said;
             k++)
            if (led_to(&models[i], models[i].said[k].href))
                return &models[i];
    return NULL;
}

static void test_index_anchors__follow_names_by_which_links_lead(void **state)
{
    struct indexed_tree *f = *state;
    seed = 2;
    write_all(f);
    open_with(f, INDEX_TOPICS_ANCHOR);
    struct index_status before, after;
    const unsigned n_said = assert_said(f);

    /* Who says something is moved, and says it of others, or of nobody. */
    struct model *source = who_says_something("sub/");
    assert_non_null(source);
    move(f, source, "moved.html");
    assert_true(assert_said(f) != n_said);
    move(f, source, "sub/moved.html");
    assert_said(f);

    /* Of whom something is said is moved away, and back; another takes the place. */
    struct model *target = NULL;
    char path[64];
    for (unsigned i = 0; i < N_DOCUMENTS && !target; i++)
        for (unsigned k = 0; k < models[i].n_said && !target; k++)
            target = (struct model *)led_to(&models[i], models[i].said[k].href);
    assert_non_null(target);
    snprintf(path, sizeof(path), "%s", target->path);
    _cleanup_(bag_done) struct bag said = expected_of(f, target);
    assert_said_of(f, path, &said);
    const unsigned n_title = target->n_title;
    target->n_title = 0;
    bag_done(&said);
    said = expected_of(f, target);
    target->n_title = n_title;
    move(f, target, "away.html");
    assert_said(f);
    assert_true(said.n_words > 0);
    assert_said_of(f, path, &said); /* by name, where nothing is */
    assert_said_of(f, "nowhere.html", &(struct bag){0});
    struct kv_buf row;
    assert_int_equal(topics_said_of(f->index->topics, path, always, NULL, &row), -EINTR);
    struct model *other = target == &models[0] ? &models[2] : &models[0];
    move(f, other, path);
    assert_said(f);

    /* All of a directory, of which none is read again. */
    index_get_status(f->index, &before);
    assert_int_equal(rename(scratch_path(f->tree, "sub"), scratch_path(f->tree, "bus")), 0);
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        if (strncmp(models[i].path, "sub/", 4) == 0)
            memcpy(models[i].path, "bus", 3);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_said(f);
    index_get_status(f->index, &after);
    assert_int_equal(after.sketched_documents, before.sketched_documents);
    index_stop(f->index);
    assert_right(f, true);
}

static void test_index_anchors__follow_what_is_written_and_removed(void **state)
{
    struct indexed_tree *f = *state;
    seed = 3;
    write_all(f);
    open_with(f, INDEX_TOPICS_ANCHOR);
    assert_said(f);
    struct model *source = who_says_something("");
    assert_non_null(source);
    source->n_said = 0;
    write_model(f, source);
    note_gone(f, source->path);
    indexed_tree_settle(f);
    assert_said(f);
    source = who_says_something("");
    assert_non_null(source);
    assert_int_equal(unlink(scratch_path(f->tree, "%s", source->path)), 0);
    *source->path = '\0';
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_said(f);
    index_stop(f->index);
    assert_right(f, true);
}

/* -- related -- */

static struct bag bags[N_DOCUMENTS];

static unsigned df_of(uint64_t fingerprint)
{
    unsigned df = 0;
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        for (uint32_t k = 0; k < bags[i].n_words; k++)
            df += bags[i].words[k].word == fingerprint;
    return df;
}

static void weigh_by_hand(void)
{
    static unsigned dfs[N_DOCUMENTS][4 * BAGS_MOST_WORDS];
    unsigned n = 0;
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        n += bags[i].n_words > 0;
        for (uint32_t k = 0; k < bags[i].n_words; k++)
            dfs[i][k] = df_of(bags[i].words[k].word);
    }
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        uint32_t n_kept = 0;
        for (uint32_t k = 0; k < bags[i].n_words; k++) {
            const double idf = log((double)n / dfs[i][k]);
            if (dfs[i][k] < 2 || dfs[i][k] > 64 || !(idf > 0))
                continue;
            bags[i].words[n_kept] = bags[i].words[k];
            bags[i].words[n_kept++].weight *= idf;
        }
        bags[i].n_words = n_kept;
        if (n_kept)
            assert_int_equal(bag_normalise(&bags[i], BAG_WHOLE), 0);
    }
}

/* The document's own words, as they are stored. */
static struct bag content_of(struct indexed_tree *f, const struct model *model)
{
    _cleanup_(record_done) struct record record = {0};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct bag bag;
    uint8_t key[8];
    const uint64_t sid = document_of(f, model->path, &record);
    assert_int_equal(kv_get(f->index->kv, TABLE_BAGS, bags_key(key, sid), &value), 0);
    assert_int_equal(bags_decode(kv_buf_slice(&value), &bag), 0);
    return bag;
}

static void make_bags(struct indexed_tree *f, bool both)
{
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        _cleanup_(bag_done) struct bag said = expected_of(f, &models[i]), content = {0};
        bag_done(&bags[i]);
        if (both)
            content = content_of(f, &models[i]);
        assert_int_equal(bag_merge(&said, &content, &bags[i]), 0);
    }
    weigh_by_hand();
}

static unsigned assert_related(struct indexed_tree *f, bool both)
{
    unsigned n_found = 0;
    make_bags(f, both);
    for (unsigned i = 0; i < N_DOCUMENTS; i++) {
        struct file_key key = indexed_tree_key(f, models[i].path);
        const struct index_query query = {
            .relation = INDEX_RELATED, .threshold = 0.02, .wait_ms = 10000};
        struct kin_list list = {0};
        assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
        assert_string_equal(list.incomplete, "");
        for (unsigned k = 0; k < N_DOCUMENTS; k++) {
            const struct kin *kin = NULL;
            double sim = 0;
            for (size_t m = 0; m < list.n_kin; m++)
                if (strcmp(list.kin[m].path, models[k].path) == 0)
                    kin = &list.kin[m];
            if (i == k || bag_resemblance(&bags[i], &bags[k], &sim) < 0 || sim < 0.02) {
                assert_null(kin);
                continue;
            }
            assert_non_null(kin);
            assert_true(kin->resemblance == sim);
            n_found++;
        }
        kin_list_done(&list);
    }
    return n_found;
}

static enum index_right may_read_all(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)path, (void)key;
    return INDEX_ALLOWED;
}

static unsigned count_rows(struct indexed_tree *f, unsigned table)
{
    _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, table);
    return (unsigned)rows.n_entries;
}

/* What is said of a name where nothing is finds what resembles that. */
static void test_index_anchors__of_a_name_find_what_is_related_to_it(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {.relation = INDEX_RELATED, .threshold = 0.02};
    struct kin_list list = {0};
    seed = 7;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_int_equal(index_related_to_name(f->index, "gone.html", &query, &list), -EOPNOTSUPP);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_BOTH);
    assert_int_equal(index_related_to_name(f->index, "gone.html", &query, &list), 0);
    assert_true(list.n_kin > 0);
    kin_list_done(&list);
    assert_int_equal(index_related_to_name(f->index, "nowhere.html", &query, &list), -ENODATA);
    struct index_query others = query;
    others.may_read = may_read_all;
    assert_int_equal(index_related_to_name(f->index, "gone.html", &others, &list), -EACCES);
}

static void test_index_anchors__make_documents_related_by_the_words_that_are_wanted(void **state)
{
    struct indexed_tree *f = *state;
    static const struct {
        enum index_topics topics;
        bool has_bags, has_fragments;
    } steps[] = {{INDEX_TOPICS_OFF, false, false},   {INDEX_TOPICS_ANCHOR, false, true},
                 {INDEX_TOPICS_BOTH, true, true},    {INDEX_TOPICS_CONTENT, true, false},
                 {INDEX_TOPICS_BOTH, true, true},    {INDEX_TOPICS_AS_STORED, true, true},
                 {INDEX_TOPICS_ANCHOR, false, true}, {INDEX_TOPICS_AS_STORED, false, true},
                 {INDEX_TOPICS_OFF, false, false}};
    seed = 4;
    write_all(f);
    usleep(50000); /* nothing of what is read is racy */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        open_with(f, steps[i].topics);
        if (steps[i].has_fragments)
            assert_true(assert_related(f, steps[i].has_bags) > 20);
        index_stop(f->index);
        assert_right(f, true);
        assert_int_equal(count_rows(f, TABLE_BAGS), steps[i].has_bags ? N_DOCUMENTS : 0);
        assert_int_equal(count_rows(f, TABLE_FRAGMENTS), steps[i].has_fragments ? N_DOCUMENTS : 0);
        assert_int_equal(count_rows(f, TABLE_ANCHORS) > 0, steps[i].has_fragments);
        assert_int_equal(count_rows(f, TABLE_WORD_LISTS) > 0,
                         steps[i].has_fragments || steps[i].has_bags);
        indexed_tree_stop(f);
    }
}

/* A making that was killed leaves rows of the next epoch, and one that was completed and not swept
 * rows of the one before. */
static void test_index_anchors__of_other_epochs_are_swept(void **state)
{
    struct indexed_tree *f = *state;
    seed = 5;
    write_all(f);
    open_with(f, INDEX_TOPICS_ANCHOR);
    const uint32_t epoch = topics_epoch(f->index->topics).epoch;
    _cleanup_(record_done) struct record record = {0};
    const uint64_t sid = document_of(f, models[0].path, &record);
    index_stop(f->index);
    const unsigned n_rows = count_rows(f, TABLE_ANCHORS);
    uint64_t words[] = {fingerprint_of(f, 1) | 1}, scratch[1];
    uint8_t key[ANCHORS_KEY_BYTES], row[BAGS_ROW_MAX_BYTES];
    const struct kv_slice value = {row, bags_encode(words, 1, scratch, row)};
    for (uint32_t k = epoch - 1; k <= epoch + 2; k++)
        if (k != epoch)
            for (uint64_t n = 0; n < 3; n++)
                write_row(f, TABLE_ANCHORS, anchors_key(key, k, sid + n), &value);
    assert_right(f, true);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_said(f);
    index_stop(f->index);
    assert_int_equal(count_rows(f, TABLE_ANCHORS), n_rows);
}

static void test_index_anchors__that_are_damaged_are_told_and_mended(void **state)
{
    static const unsigned tables[] = {TABLE_FRAGMENTS, TABLE_ANCHORS};
    struct indexed_tree *f = *state;
    char *error = NULL;
    seed = 6;
    write_all(f);
    usleep(50000); /* nothing of what is read is racy */
    open_with(f, INDEX_TOPICS_ANCHOR);
    for (size_t i = 0; i < 2; i++) {
        index_stop(f->index);
        {
            _cleanup_(kv_page_done) struct kv_page rows = read_rows(f, tables[i]);
            size_t at = rows.n_entries / 2;
            while (rows.entries[at].value.size_bytes < 2) /* it says nothing */
                at++;
            const struct kv_slice cut = {rows.entries[at].value.data,
                                         rows.entries[at].value.size_bytes - 1};
            write_row(f, tables[i], rows.entries[at].key, &cut);
            assert_found(f, "a row that is cut");
        }
        index_close(f->index, 0);
        const struct index_options options = indexed_tree_options(f);
        if (index_repair(&options, &(struct index_repair_options){0}, &error) !=
            INDEX_MENDING_DERIVED)
            fail_msg("%s", error ? error : "it is mended otherwise");
        backing_close(f->backing);
        open_with(f, INDEX_TOPICS_AS_STORED);
        assert_said(f);
        index_stop(f->index);
        assert_right(f, true);
        indexed_tree_stop(f);
        open_with(f, INDEX_TOPICS_AS_STORED);
    }
    index_stop(f->index);
    uint8_t key[8];
    const uint8_t empty[] = {1};
    const struct kv_slice value = {empty, 1};
    write_row(f, TABLE_FRAGMENTS, bags_key(key, 1 << 20), &value);
    assert_found(f, "what is said by no document");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_index_anchors__are_what_others_say_and_the_title,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index_anchors__follow_names_by_which_links_lead, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index_anchors__follow_what_is_written_and_removed,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_index_anchors__make_documents_related_by_the_words_that_are_wanted, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index_anchors__of_a_name_find_what_is_related_to_it,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index_anchors__of_other_epochs_are_swept, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_index_anchors__that_are_damaged_are_told_and_mended,
                                        setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
