/* A link to a name: candidates are made in order, each made normal, and asked for.
 *
 * Example: in docs/a/b.html, "../c%20d.html#x" is docs/c d.html; in man/de/man1/ls.1, "dir(1)" is
 * man/de/man1/dir.1.gz if that is there, else man/man1/dir.1.gz if that is, else
 * man/de/man1/dir.1, where nothing is.
 *
 * Names are made normal by their letters alone: "a/../b" is b, also where a is a symbolic link, as
 * URLs have it. Cost: as many questions as candidates, LINK_PLACE_TRIALS at most. Left out: what
 * the command line or a configuration adds, as directories of headers; tables of ids.
 */
#include "engine/topic/links/link_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/bytes.h"
#include "engine/topic/links/link_text.h"

enum { ABOVE_MAX = 32 }; /* directories above a document */

struct search {
    const struct link_tree *tree;
    struct span directory; /* of the document */
    const char *document;
    struct link_place *place;
    unsigned n_trials;
    bool has_first, directories; /* a directory is found as well */
    int error;
};

/* -- names -- */

/* Adds the components of a path to a name. Returns 0, -EXDEV above the tree, -ENAMETOOLONG. */
static int add_path(const struct search *search, char name[LINK_NAME_MAX_BYTES + 1], size_t *n,
                    struct span path)
{
    while (path.n > 0) {
        const struct span part = {path.p, span_index(path, '/')};
        path = span_from(path, part.n + (part.n < path.n));
        if (part.n == 0 || span_is(part, "."))
            continue;
        if (span_is(part, "..")) {
            if (*n == 0 && !search->tree->is_root)
                return -EXDEV;
            while (*n > 0 && name[--*n] != '/')
                ;
            continue;
        }
        if (*n + part.n + 1 > LINK_NAME_MAX_BYTES)
            return -ENAMETOOLONG;
        if (*n > 0)
            name[(*n)++] = '/';
        memcpy(name + *n, part.p, part.n);
        *n += part.n;
    }
    return 0;
}

static int set_outside(struct search *search, const char *scheme, struct span name)
{
    struct link_place *place = search->place;
    const size_t n = strlen(scheme);
    place->outside = true;
    place->is = LINK_IS_NOTHING;
    memcpy(place->name, scheme, n);
    memcpy(place->name + n, name.p, name.n); /* a target is shorter than a name */
    place->name[n + name.n] = '\0';
    return 0;
}

/* Looks whether something is at directory/path, with an ending. True: the search is over. */
static bool try_name(struct search *search, struct span directory, struct span path,
                     const char *ending)
{
    char name[LINK_NAME_MAX_BYTES + 1];
    size_t n = 0;
    if (search->n_trials == LINK_PLACE_TRIALS)
        return false;
    search->n_trials++;
    int r = add_path(search, name, &n, directory);
    if (r == 0)
        r = add_path(search, name, &n, path);
    if (r == 0 && n + strlen(ending) > LINK_NAME_MAX_BYTES)
        r = -ENAMETOOLONG;
    if (r == -EXDEV && !search->has_first) {
        set_outside(search, "", path);
        search->has_first = true;
    }
    if (r < 0) {
        search->error = r == -ENAMETOOLONG ? r : search->error;
        return false;
    }
    strcpy(name + n, n > 0 ? ending : "");
    const enum link_is is = search->tree->is(search->tree->user, name);
    const bool found = is == LINK_IS_FILE || (is == LINK_IS_DIRECTORY && search->directories);
    if (found || !search->has_first) {
        search->place->outside = false;
        search->place->is = found ? is : LINK_IS_NOTHING;
        strcpy(search->place->name, name);
        search->has_first = true;
    }
    return found;
}

static int result_of(const struct search *search)
{
    return search->has_first ? 0 : search->error ? search->error : -ENOENT;
}

static struct span above(struct span directory)
{
    while (directory.n > 0 && directory.p[directory.n - 1] != '/')
        directory.n--;
    directory.n -= directory.n > 0;
    return directory;
}

static struct span last_of(struct span directory)
{
    size_t n = directory.n;
    while (n > 0 && directory.p[n - 1] != '/')
        n--;
    return span_from(directory, n);
}

/* A path from the root of the file system leads into a tree that begins there alone. */
static bool is_elsewhere(const struct search *search, struct span path)
{
    return (*path.p == '/' && !search->tree->is_root) || *path.p == '~';
}

static struct span directory_for(const struct search *search, struct span path)
{
    return *path.p == '/' ? (struct span){path.p, 0} : search->directory;
}

/* -- URLs -- */

static int hex_of(char c)
{
    return link_is_digit(c)                     ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* A slash that is written as %2F separates no directories, and no name has a NUL: these stay. */
static struct span decode(struct span path, char ret_bytes[LINK_TARGET_MAX_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++) {
        const int high = i + 2 < path.n && path.p[i] == '%' ? hex_of(path.p[i + 1]) : -1,
                  low = high >= 0 ? hex_of(path.p[i + 2]) : -1;
        const char c = (char)(high * 16 + low);
        const bool is_decoded = low >= 0 && c != '\0' && c != '/';
        ret_bytes[n++] = is_decoded ? c : path.p[i];
        i += is_decoded ? 2 : 0;
    }
    return (struct span){ret_bytes, n};
}

/* What is outside has another part of the digest. */
uint64_t link_name_fingerprint(bool outside, const char *name)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)name, strlen(name), digest);
    const uint64_t fingerprint = get_be64(digest + (outside ? 8 : 0));
    return fingerprint ? fingerprint : 1;
}

bool link_is_outside(const struct link *link)
{
    const struct span target = {link->target, link->target_bytes};
    return link->kind == LINK_MESSAGE ||
           (link->kind == LINK_URL && (span_has_scheme(target) || span_begins(target, "//")));
}

static int find_url(struct search *search, struct span target)
{
    static const char local[] = "file:///";
    char bytes[LINK_TARGET_MAX_BYTES];
    target.n = span_index(target, '#');
    if (search->tree->is_root && span_begins_as(target, local))
        target = span_from(target, sizeof(local) - 2);
    if (span_has_scheme(target) || span_begins(target, "//"))
        return set_outside(search, "", target);
    target.n = span_index(target, '?');
    if (target.n == 0) {
        const struct span itself = {search->document, strlen(search->document)};
        try_name(search, (struct span){itself.p, 0}, itself, "");
        return result_of(search);
    }
    const struct span path = decode(target, bytes), directory = directory_for(search, target);
    search->directories = true;
    if (!try_name(search, directory, path, "") || search->place->is == LINK_IS_FILE)
        return result_of(search);
    struct link_place *place = search->place;
    const size_t n = strlen(place->name);
    char found[LINK_NAME_MAX_BYTES + 1];
    strcpy(found, place->name);
    search->directories = false;
    const struct span in = {found, n};
    static const char *const indices[] = {"index.html", "index.htm"};
    for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
        if (try_name(search, in, (struct span){indices[i], strlen(indices[i])}, ""))
            return 0;
    return 0; /* the directory itself */
}

/* -- pages and documents -- */

/* The ending of the document's own name, with its dot; "" for none. */
static const char *own_ending(const struct search *search)
{
    const char *slash = strrchr(search->document, '/'),
               *name = slash ? slash + 1 : search->document, *dot = strrchr(name, '.');
    return dot && dot > name ? dot : "";
}

static bool try_page(struct search *search, struct span directory, struct span page)
{
    static const char *const endings[] = {".md",  ".wiki", ".mediawiki", ".org",
                                          ".txt", ".html", ".rst",       ""};
    if (try_name(search, directory, page, own_ending(search)))
        return true;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (try_name(search, directory, page, endings[i]))
            return true;
    return false;
}

/* A page with each kind of blank, and each case of its first letter. */
static int find_page(struct search *search, struct span target)
{
    char bytes[LINK_TARGET_MAX_BYTES];
    struct span directory = search->directory;
    target = span_trim((struct span){target.p, span_index(target, '#')});
    if (target.n > 0 && *target.p == ':')
        target = span_from(target, 1);
    if (memmem(target.p, target.n, "://", 3))
        return set_outside(search, "", target);
    if (target.n > 0 && *target.p == '/') { /* below the document, whose ending is left out */
        const size_t n = strlen(search->document) - strlen(own_ending(search));
        directory = (struct span){search->document, n};
        target = span_from(target, 1);
    }
    if (target.n == 0)
        return -ENOENT;
    const bool has_blanks = span_has(target, ' ') || span_has(target, '_');
    const char first = *target.p;
    for (unsigned letter = 0; letter < (link_is_letter(first) ? 2u : 1u); letter++)
        for (unsigned blank = 0; blank < (has_blanks ? 3u : 1u); blank++) {
            for (size_t i = 0; i < target.n; i++)
                bytes[i] = target.p[i] == ' ' || (target.p[i] == '_' && has_blanks) ? "_- "[blank]
                                                                                    : target.p[i];
            bytes[0] = (char)(letter ? first ^ 32 : first);
            if (try_page(search, directory, (struct span){bytes, target.n}))
                return 0;
        }
    return result_of(search);
}

static int find_document(struct search *search, struct span target)
{
    static const char *const endings[] = {".rst", ".rst.txt", ".md", ".txt", ""};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (try_name(search, directory_for(search, target), target, endings[i]))
            break;
    return result_of(search);
}

/* -- programs and LaTeX -- */

static int find_include(struct search *search, struct span target, bool is_system)
{
    char below[LINK_TARGET_MAX_BYTES + sizeof("include/")];
    struct span directory = search->directory;
    if (is_elsewhere(search, target))
        return set_outside(search, "", target);
    memcpy(below, "include/", 8);
    memcpy(below + 8, target.p, target.n);
    for (unsigned i = 0; i < ABOVE_MAX; i++, directory = above(directory)) {
        if (try_name(search, directory, target, "") ||
            try_name(search, directory, (struct span){below, 8 + target.n}, ""))
            return 0;
        if (directory.n == 0)
            break;
    }
    return is_system ? set_outside(search, "", target) : result_of(search);
}

static int find_tex(struct search *search, struct span target)
{
    static const char *const endings[] = {".tex", "",     ".pdf", ".png",
                                          ".jpg", ".eps", ".svg", ".bib"};
    struct span directory = directory_for(search, target);
    if (is_elsewhere(search, target))
        return set_outside(search, "", target);
    for (unsigned i = 0; i < ABOVE_MAX; i++, directory = above(directory)) {
        for (size_t j = 0; j < sizeof(endings) / sizeof(endings[0]); j++)
            if (try_name(search, directory, target, endings[j]))
                return 0;
        if (directory.n == 0)
            break;
    }
    return result_of(search);
}

/* -- manual pages -- */

static bool try_packed(struct search *search, struct span directory, struct span path)
{
    static const char *const endings[] = {"", ".gz", ".xz", ".zst", ".bz2"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (try_name(search, directory, path, endings[i]))
            return true;
    return false;
}

/* "name(3)" as directory/man3/name.3, or as directory/name.3; then with letters behind. */
static bool try_page_in(struct search *search, struct span directory, struct span target,
                        bool has_sections)
{
    static const char *const more[] = {"", "pm", "perl", "ssl", "posix", "type", "ncurses", "x"};
    const size_t open = span_index(target, '(');
    const struct span section = {target.p + open + 1, target.n - open - 2};
    char path[2 * LINK_TARGET_MAX_BYTES];
    for (size_t i = 0; i < (section.n == 1 ? sizeof(more) / sizeof(more[0]) : 1); i++) {
        const int n = snprintf(path, sizeof(path), "%s%.*s%s%.*s.%.*s%s", has_sections ? "man" : "",
                               has_sections, section.p, has_sections ? "/" : "", (int)open,
                               target.p, (int)section.n, section.p, more[i]);
        if (try_packed(search, directory, (struct span){path, (size_t)n}))
            return true;
    }
    return false;
}

static int find_manual(struct search *search, struct span target)
{
    const struct span directory = search->directory, beside = above(directory);
    if (target.n < 4 || target.p[target.n - 1] != ')' || span_index(target, '(') + 2 >= target.n)
        return -ENOENT;
    const struct span last = last_of(directory);
    const bool in_section = last.n > 3 && span_begins(last, "man");
    if (in_section) {
        if (!try_page_in(search, beside, target, true) && beside.n > 0)
            try_page_in(search, above(beside), target, true);
        return result_of(search);
    }
    /* A page among sources is of what is installed, too. */
    return try_page_in(search, directory, target, false) ||
                   try_page_in(search, directory, target, true)
               ? 0
               : set_outside(search, "", target);
}

static int find_source(struct search *search, struct span target)
{
    if (is_elsewhere(search, target))
        return set_outside(search, "", target);
    if (!try_packed(search, above(search->directory), target))
        try_packed(search, search->directory, target);
    return result_of(search);
}

/* -- paths -- */

static int find_path(struct search *search, struct span target)
{
    if (is_elsewhere(search, target))
        return set_outside(search, "", target);
    search->directories = true;
    try_name(search, directory_for(search, target), target, "");
    return result_of(search);
}

static int find_listed(struct search *search, struct span target)
{
    search->directories = true;
    if (*target.p == '~' || !try_name(search, search->directory, target, "") ||
        strcmp(search->place->name, search->document) == 0)
        return -ENOENT;
    return 0;
}

int link_place_find(const struct link *link, const char *document, const struct link_tree *tree,
                    struct link_place *ret_place)
{
    const struct span target = {link->target, link->target_bytes};
    struct search search = {.tree = tree,
                            .directory = above((struct span){document, strlen(document)}),
                            .document = document,
                            .place = ret_place};
    if (target.n == 0 || target.n > LINK_TARGET_MAX_BYTES)
        return -ENOENT;
    switch (link->kind) {
    case LINK_URL: return find_url(&search, target);
    case LINK_PAGE: return find_page(&search, target);
    case LINK_DOCUMENT: return find_document(&search, target);
    case LINK_INCLUDE: return find_include(&search, target, false);
    case LINK_SYSTEM: return find_include(&search, target, true);
    case LINK_TEX: return find_tex(&search, target);
    case LINK_MANUAL: return find_manual(&search, target);
    case LINK_SOURCE: return find_source(&search, target);
    case LINK_MESSAGE: return set_outside(&search, "mid:", target);
    case LINK_LISTED: return find_listed(&search, target);
    default: return find_path(&search, target);
    }
}
