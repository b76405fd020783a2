/* The text of HTML pages by our tokenizer and by libxml2's parser, compared token by token.
 *
 *   html_libxml2 FILE...
 *
 * libxml2 makes a tree, of which what is text is taken by the same rules
 * (engine/text/html/html_text.c). Prints a line for each page that differs, at the first place
 * where it does, and last how many pages and tokens were compared and how many are of one side
 * only. tests/README.md says what differs, and why. Not a test: which pages there are depends on
 * the machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libxml/HTMLparser.h>

#include "tests/unit/engine/text/canonical.h"

static bool is_one_of(const xmlChar *name, const char *names)
{
    char wanted[32];
    snprintf(wanted, sizeof(wanted), " %s ", (const char *)name);
    return strstr(names, wanted);
}

static void write_text(FILE *out, const xmlNode *node);

static void write_element(FILE *out, xmlNode *node)
{
    static const char inlines[] =
        " a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr s samp "
        "small span strike strong sub sup time tt u var wbr ";
    static const char hidden[] = " script style iframe noembed noframes ";
    bool separates = !is_one_of(node->name, inlines);
    if (separates)
        fputc(' ', out);
    if (is_one_of(node->name, " img area input ")) {
        xmlChar *alt = xmlGetProp(node, (const xmlChar *)"alt");
        fprintf(out, "%s ", alt ? (const char *)alt : "");
        xmlFree(alt);
    }
    if (!is_one_of(node->name, hidden))
        write_text(out, node->children);
    if (separates)
        fputc(' ', out);
}

static void write_text(FILE *out, const xmlNode *node)
{
    for (; node; node = node->next) {
        if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
            fputs((const char *)node->content, out);
        else if (node->type == XML_ELEMENT_NODE)
            write_element(out, (xmlNode *)(uintptr_t)node);
        else if (node->type == XML_ENTITY_REF_NODE)
            fprintf(out, "&%s;", (const char *)node->name);
    }
}

static struct canonical by_libxml2(const char *bytes, size_t size)
{
    char *text = NULL;
    size_t text_bytes = 0;
    htmlDocPtr document = htmlReadMemory(bytes, (int)size, NULL, NULL,
                                         HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                             HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    FILE *out = open_memstream(&text, &text_bytes);
    if (!out)
        abort();
    if (document)
        write_text(out, document->children);
    fclose(out);
    struct canonical result = canonical_as(TEXT_PLAIN, text, text_bytes, 1 << 20);
    free(text);
    xmlFreeDoc(document);
    return result;
}

/* The length of the token at p, without its space. */
static size_t token(const char *p)
{
    return strcspn(p, " ");
}

static bool same(const char *a, const char *b)
{
    size_t n = token(a);
    return n == token(b) && memcmp(a, b, n) == 0;
}

static const char *next(const char *p)
{
    return p + token(p) + 1;
}

struct counts {
    size_t n_pages, n_differ, n_tokens, n_ours, n_theirs;
};

/* Passes over what differs: the shortest way, within a window, to a place where three tokens agree
 * again. */
static void pass_difference(const char **a, const char **b, struct counts *counts)
{
    enum { WINDOW = 400 };
    const char *starts[2][WINDOW + 3];
    size_t n[2] = {0, 0};
    for (int side = 0; side < 2; side++)
        for (const char *p = side ? *b : *a; *p && n[side] < WINDOW + 3; p = next(p))
            starts[side][n[side]++] = p;
    for (size_t sum = 1; sum < 2 * (size_t)WINDOW; sum++) {
        for (size_t i = 0; i <= sum; i++) {
            size_t j = sum - i;
            bool agree = i <= n[0] && j <= n[1];
            for (size_t k = 0; k < 3 && agree; k++) {
                bool a_ends = i + k >= n[0], b_ends = j + k >= n[1];
                if (a_ends && b_ends)
                    break;
                agree = !a_ends && !b_ends && same(starts[0][i + k], starts[1][j + k]);
            }
            if (!agree)
                continue;
            counts->n_ours += i;
            counts->n_theirs += j;
            *a = i < n[0] ? starts[0][i] : *a + strlen(*a);
            *b = j < n[1] ? starts[1][j] : *b + strlen(*b);
            return;
        }
    }
    for (; **a; *a = next(*a))
        counts->n_ours++;
    for (; **b; *b = next(*b))
        counts->n_theirs++;
}

static void compare(const char *path, const char *a, const char *b, struct counts *counts)
{
    bool said = false;
    counts->n_pages++;
    while (*a || *b) {
        if (*a && *b && same(a, b)) {
            counts->n_tokens++;
            a = next(a);
            b = next(b);
            continue;
        }
        if (!said)
            printf("%s\n  ours:    %.60s\n  libxml2: %.60s\n", path, a, b);
        counts->n_differ += !said;
        said = true;
        pass_difference(&a, &b, counts);
    }
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    for (int i = 1; i < argc; i++) {
        _cleanup_close_ int fd = open(argv[i], O_RDONLY | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        _cleanup_free_ char *bytes = malloc((size_t)st.st_size + 1);
        if (!bytes || read(fd, bytes, (size_t)st.st_size) != st.st_size)
            continue;
        struct canonical ours = canonical_of(bytes, (size_t)st.st_size, 1 << 20);
        if (ours.form.type == TEXT_HTML && ours.form.codec == TEXT_CODEC_NONE) {
            struct canonical theirs = by_libxml2(bytes, (size_t)st.st_size);
            compare(argv[i], ours.text, theirs.text, &counts);
            canonical_done(&theirs);
        }
        canonical_done(&ours);
    }
    printf("%zu pages, %zu of them differ; %zu tokens alike, %zu only ours, %zu only libxml2's\n",
           counts.n_pages, counts.n_differ, counts.n_tokens, counts.n_ours, counts.n_theirs);
    xmlCleanupParser();
    return 0;
}
