#include "tests/bench/topics/gold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"

/* A line, and what is made of it. */
struct line {
    char *text; /* the label, behind the name */
    const char *label;
    struct gold_pair pair;
};

struct lines {
    struct line *lines;
    size_t n, room;
};

struct name {
    const char *text;
    uint32_t document;
};

static void lines_done(struct lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        free(lines->lines[i].text);
    free(lines->lines);
}

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static int compare_labels(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return strcmp(x->label, y->label);
}

static int by_document(const void *a, const void *b)
{
    const struct gold_pair *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label);
}

static int by_label(const void *a, const void *b)
{
    const struct gold_pair *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static int read_lines(FILE *file, const struct name *names, uint32_t n, struct lines *lines)
{
    _cleanup_free_ char *text = NULL;
    size_t room = 0;
    ssize_t size;
    while ((size = getline(&text, &room, file)) > 0) {
        char *tab = strchr(text, '\t');
        if (!tab)
            return -EINVAL;
        *tab = '\0';
        text[size - (text[size - 1] == '\n')] = '\0';
        const struct name *name =
            bsearch(&(struct name){text, 0}, names, n, sizeof(*names), compare_names);
        if (!name)
            continue;
        if (!MAKE_ROOM(lines->lines, lines->room, lines->n + 1))
            return -ENOMEM;
        lines->lines[lines->n++] = (struct line){text, tab + 1, {name->document, 0}};
        text = NULL;
        room = 0;
    }
    return ferror(file) ? -EIO : 0;
}

/* The labels get numbers. */
static int number(struct gold *gold, struct lines *lines)
{
    gold->names = calloc(lines->n + 1, sizeof(*gold->names));
    gold->labels = calloc(lines->n + 1, sizeof(*gold->labels));
    gold->documents = calloc(lines->n + 1, sizeof(*gold->documents));
    if (!gold->names || !gold->labels || !gold->documents)
        return -ENOMEM;
    if (lines->n)
        qsort(lines->lines, lines->n, sizeof(*lines->lines), compare_labels);
    for (size_t i = 0; i < lines->n; i++) {
        struct line *line = &lines->lines[i];
        if (i == 0 || strcmp(line->label, line[-1].label) != 0) {
            gold->names[gold->n_labels] = strdup(line->label);
            if (!gold->names[gold->n_labels++])
                return -ENOMEM;
        }
        line->pair.label = gold->n_labels - 1;
        gold->labels[i] = gold->documents[i] = line->pair;
    }
    gold->n_pairs = (uint32_t)lines->n;
    return 0;
}

static int sort(struct gold *gold)
{
    gold->labels_of = calloc((size_t)gold->n_documents + 1, sizeof(uint32_t));
    gold->documents_of = calloc((size_t)gold->n_labels + 1, sizeof(uint32_t));
    if (!gold->labels_of || !gold->documents_of)
        return -ENOMEM;
    qsort(gold->labels, gold->n_pairs, sizeof(*gold->labels), by_document);
    qsort(gold->documents, gold->n_pairs, sizeof(*gold->documents), by_label);
    for (uint32_t i = 0; i < gold->n_pairs; i++) {
        gold->labels_of[gold->labels[i].document + 1]++;
        gold->documents_of[gold->documents[i].label + 1]++;
    }
    for (uint32_t i = 0; i < gold->n_documents; i++) {
        gold->n_labelled += gold->labels_of[i + 1] > 0;
        gold->labels_of[i + 1] += gold->labels_of[i];
    }
    for (uint32_t i = 0; i < gold->n_labels; i++)
        gold->documents_of[i + 1] += gold->documents_of[i];
    return 0;
}

int gold_read(const char *path, char *const *names, uint32_t n, struct gold *ret_gold)
{
    _cleanup_(lines_done) struct lines lines = {0};
    _cleanup_free_ struct name *sorted = calloc((size_t)n + 1, sizeof(*sorted));
    struct gold gold = {.n_documents = n};
    if (!sorted)
        return -ENOMEM;
    FILE *file = fopen(path, "re");
    if (!file)
        return -errno;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (struct name){names[i], i};
    qsort(sorted, n, sizeof(*sorted), compare_names);
    int r = read_lines(file, sorted, n, &lines);
    fclose(file);
    if (r == 0)
        r = number(&gold, &lines);
    if (r == 0)
        r = sort(&gold);
    if (r < 0) {
        gold_done(&gold);
        return r;
    }
    *ret_gold = gold;
    return 0;
}

void gold_done(struct gold *gold)
{
    for (uint32_t i = 0; i < gold->n_labels; i++)
        free(gold->names[i]);
    free(gold->names);
    free(gold->labels);
    free(gold->documents);
    free(gold->labels_of);
    free(gold->documents_of);
    *gold = (struct gold){0};
}

uint32_t gold_label(const struct gold *gold, uint32_t document)
{
    const uint32_t first = gold->labels_of[document];
    return first < gold->labels_of[document + 1] ? gold->labels[first].label : GOLD_NONE;
}

uint32_t gold_mark(const struct gold *gold, uint32_t document, uint8_t value, uint8_t *marks)
{
    uint32_t n = 0;
    for (uint32_t i = gold->labels_of[document]; i < gold->labels_of[document + 1]; i++) {
        const uint32_t label = gold->labels[i].label;
        for (uint32_t j = gold->documents_of[label]; j < gold->documents_of[label + 1]; j++) {
            const uint32_t other = gold->documents[j].document;
            n += other != document && marks[other] != value;
            if (other != document)
                marks[other] = value;
        }
    }
    return n;
}
