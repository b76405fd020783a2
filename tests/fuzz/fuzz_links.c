/* Any bytes, as a document of each format whose links are read: every link is within its bounds,
 * lines do not go back, and where a link leads is a name in the tree, or outside.
 *
 * Input: one byte, the format by a name; then the document.
 */
#include <stdint.h>
#include <string.h>

#include "engine/topic/links/link_place.h"
#include "engine/topic/links/links.h"
#include "tests/fuzz/fuzz.h"

static const char *const names[] = {"d/a.md",  "d/a.html", "d/a.wiki",   "d/a.org", "d/a.rst",
                                    "d/a.tex", "d/a.c",    "man/man1/a", "README",  "a"};

struct seen {
    const char *name;
    uint64_t line, n_asked;
};

static enum link_is is(void *user, const char *name)
{
    struct seen *seen = user;
    seen->n_asked++;
    const size_t n = strlen(name);
    FUZZ_CHECK(n <= LINK_NAME_MAX_BYTES && name[0] != '/' && !strstr(name, "//") &&
               strncmp(name, "../", 3) != 0 && !strstr(name, "/../"));
    return n % 7 == 0 ? LINK_IS_DIRECTORY : n % 3 == 0 ? LINK_IS_FILE : LINK_IS_NOTHING;
}

static void see(void *user, const struct link *link)
{
    struct seen *seen = user;
    const struct link_tree tree = {is, seen, link->line & 1};
    struct link_place place;
    FUZZ_CHECK(link->target_bytes > 0 && link->target_bytes <= LINK_TARGET_MAX_BYTES);
    FUZZ_CHECK(!memchr(link->target, '\0', link->target_bytes));
    FUZZ_CHECK(link->text_bytes <= LINK_TEXT_MAX_BYTES);
    FUZZ_CHECK(link->line >= seen->line || link->kind == LINK_LISTED);
    seen->line = link->line;
    seen->n_asked = 0;
    if (link_place_find(link, seen->name, &tree, &place) == 0)
        FUZZ_CHECK(strlen(place.name) <= LINK_NAME_MAX_BYTES);
    FUZZ_CHECK(seen->n_asked <= LINK_PLACE_TRIALS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool cut;
    if (size == 0)
        return 0;
    struct seen seen = {names[data[0] % (sizeof(names) / sizeof(names[0]))], 0, 0};
    const struct link_sink sink = {see, &seen};
    FUZZ_CHECK(links_read(data + 1, size - 1, seen.name, &sink, &cut) == 0);
    return 0;
}
