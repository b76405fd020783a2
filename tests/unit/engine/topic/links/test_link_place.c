#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/topic/links/link_place.h"

/* A tree of names; those that end with a slash are directories. */
struct names {
    const char *const *names;
    unsigned n_asked;
};

static enum link_is is(void *user, const char *name)
{
    struct names *names = user;
    names->n_asked++;
    if (!*name)
        return LINK_IS_DIRECTORY;
    for (const char *const *one = names->names; *one; one++) {
        const size_t n = strlen(name);
        if (strncmp(*one, name, n) == 0 && !(*one)[n])
            return LINK_IS_FILE;
        if (strncmp(*one, name, n) == 0 && (*one)[n] == '/')
            return LINK_IS_DIRECTORY;
    }
    return LINK_IS_NOTHING;
}

static const char *const files[] = {"top.html",
                                    "docs/a.html",
                                    "docs/c d.html",
                                    "docs/sub/index.html",
                                    "docs/sub/x.html",
                                    "docs/empty/x",
                                    "docs/100%.html",
                                    "wiki/Some_page.md",
                                    "wiki/other-page.wiki",
                                    "wiki/Home.md",
                                    "wiki/Home/sub.md",
                                    "src/a.c",
                                    "src/a.h",
                                    "src/lib/b.c",
                                    "include/k/p.h",
                                    "man/man1/ls.1.gz",
                                    "man/man3/printf.3",
                                    "man/man3/Foo::Bar.3pm.gz",
                                    "man/de/man1/ls.1.gz",
                                    "man/de/man1/cp.1",
                                    "tex/main.tex",
                                    "tex/part/one.tex",
                                    "tex/pic.png",
                                    "sphinx/index.rst",
                                    "sphinx/g/h.rst",
                                    NULL};

/* What the link leads to: "=NAME" a file, "/NAME" a directory, "-NAME" nothing there, ">NAME"
 * outside. NULL: it is no link. */
static void expect_in(bool is_root, enum link_kind kind, const char *document, const char *target,
                      const char *expected)
{
    struct names names = {files, 0};
    const struct link_tree tree = {is, &names, is_root};
    const struct link link = {.kind = kind, .target = target, .target_bytes = strlen(target)};
    struct link_place place;
    int r = link_place_find(&link, document, &tree, &place);
    assert_true(names.n_asked <= LINK_PLACE_TRIALS);
    if (!expected) {
        assert_int_equal(r, -ENOENT);
        return;
    }
    assert_int_equal(r, 0);
    assert_string_equal(place.name, expected + 1);
    assert_int_equal(place.outside ? '>' : "-=/"[place.is], expected[0]);
}

static void expect(enum link_kind kind, const char *document, const char *target,
                   const char *expected)
{
    expect_in(false, kind, document, target, expected);
}

static void test_link_place__of_urls_is_as_a_browser_has_it(void **state)
{
    (void)state;
    expect(LINK_URL, "docs/a.html", "c%20d.html#part", "=docs/c d.html");
    expect(LINK_URL, "docs/a.html", "./sub/../a.html?x=1#y", "=docs/a.html");
    expect(LINK_URL, "docs/sub/x.html", "../../top.html", "=top.html");
    expect(LINK_URL, "docs/sub/x.html", "/docs/a.html", "=docs/a.html");
    expect(LINK_URL, "docs/a.html", "sub", "=docs/sub/index.html");
    expect(LINK_URL, "docs/a.html", "sub/", "=docs/sub/index.html");
    expect(LINK_URL, "docs/a.html", "empty", "/docs/empty");
    expect(LINK_URL, "docs/a.html", "..", "/");
    expect(LINK_URL, "docs/a.html", "#part", "=docs/a.html");
    expect(LINK_URL, "docs/a.html", "?x", "=docs/a.html");
    expect(LINK_URL, "docs/a.html", "none.html", "-docs/none.html");
    expect(LINK_URL, "docs/a.html", "sub%2Fx.html", "-docs/sub%2Fx.html");
    expect(LINK_URL, "docs/a.html", "100%.html", "=docs/100%.html");
    expect(LINK_URL, "docs/a.html", "a%00.html%4", "-docs/a%00.html%4");
    expect(LINK_URL, "docs/a.html", "a%2g%g2.html", "-docs/a%2g%g2.html");
    expect(LINK_URL, "docs/a.html", "https://h/x?y#z", ">https://h/x?y");
    expect(LINK_URL, "docs/a.html", "//h/x", ">//h/x");
    expect(LINK_URL, "docs/a.html", "mailto:a@b", ">mailto:a@b");
    expect(LINK_URL, "docs/a.html", "../../up", ">../../up");
    expect(LINK_URL, "docs/a.html", "file:///docs/a.html", ">file:///docs/a.html");
    expect_in(true, LINK_URL, "docs/a.html", "file:///top.html", "=top.html");
    expect_in(true, LINK_URL, "docs/a.html", "../../top.html", "=top.html");
}

static void test_link_place__of_paths_is_relative_to_the_document(void **state)
{
    (void)state;
    expect(LINK_PATH, "docs/a.html", "c d.html", "=docs/c d.html");
    expect(LINK_PATH, "docs/a.html", "c%20d.html", "-docs/c%20d.html");
    expect(LINK_PATH, "docs/a.html", "sub/", "/docs/sub");
    expect(LINK_PATH, "docs/a.html", "/top.html", ">/top.html");
    expect(LINK_PATH, "docs/a.html", "~/x", ">~/x");
    expect_in(true, LINK_PATH, "docs/a.html", "/top.html", "=top.html");
    expect(LINK_SYMBOLIC, "docs/l", "../top.html", "=top.html");
    expect(LINK_SYMBOLIC, "docs/l", "../../x", ">../../x");
    expect(LINK_MESSAGE, "m", "a@x", ">mid:a@x");
    expect(LINK_LISTED, "docs/README", "a.html", "=docs/a.html");
    expect(LINK_LISTED, "docs/README", "sub", "/docs/sub");
    expect(LINK_LISTED, "docs/README", "none", NULL);
    expect(LINK_LISTED, "docs/a.html", "a.html", NULL);
}

static void test_link_place__of_pages_has_other_blanks_and_letters(void **state)
{
    (void)state;
    expect(LINK_PAGE, "wiki/Home.md", "some page", "=wiki/Some_page.md");
    expect(LINK_PAGE, "wiki/Home.md", "Other page#part", "=wiki/other-page.wiki");
    expect(LINK_PAGE, "wiki/Home.md", "Not there", "-wiki/Not_there.md");
    expect(LINK_PAGE, "wiki/Home.md", "/sub", "=wiki/Home/sub.md");
    expect(LINK_PAGE, "wiki/Home.md", ":Home", "=wiki/Home.md");
    expect(LINK_PAGE, "wiki/Home.md", "https://h/x", ">https://h/x");
    expect(LINK_PAGE, "wiki/Home.md", "#part", NULL);
    expect(LINK_DOCUMENT, "sphinx/index.rst", "g/h", "=sphinx/g/h.rst");
    expect(LINK_DOCUMENT, "sphinx/g/h.rst", "/sphinx/index", "=sphinx/index.rst");
    expect(LINK_DOCUMENT, "sphinx/index.rst", "i", "-sphinx/i.rst");
}

static void test_link_place__of_includes_is_the_nearest_above(void **state)
{
    (void)state;
    expect(LINK_INCLUDE, "src/a.c", "a.h", "=src/a.h");
    expect(LINK_INCLUDE, "src/lib/b.c", "a.h", "=src/a.h");
    expect(LINK_INCLUDE, "src/lib/b.c", "k/p.h", "=include/k/p.h");
    expect(LINK_INCLUDE, "src/lib/b.c", "none.h", "-src/lib/none.h");
    expect(LINK_INCLUDE, "src/lib/b.c", "lib", "-src/lib/lib");
    expect(LINK_SYSTEM, "src/lib/b.c", "k/p.h", "=include/k/p.h");
    expect(LINK_SYSTEM, "src/lib/b.c", "stdio.h", ">stdio.h");
    expect(LINK_TEX, "tex/main.tex", "part/one", "=tex/part/one.tex");
    expect(LINK_TEX, "tex/part/one.tex", "pic", "=tex/pic.png");
    expect(LINK_TEX, "tex/main.tex", "part", "-tex/part.tex");
}

static void test_link_place__of_manual_pages_is_beside_their_section(void **state)
{
    (void)state;
    expect(LINK_MANUAL, "man/man3/printf.3", "ls(1)", "=man/man1/ls.1.gz");
    expect(LINK_MANUAL, "man/man1/ls.1.gz", "printf(3)", "=man/man3/printf.3");
    expect(LINK_MANUAL, "man/man1/ls.1.gz", "Foo::Bar(3)", "=man/man3/Foo::Bar.3pm.gz");
    expect(LINK_MANUAL, "man/man1/ls.1.gz", "Foo::Bar(3pm)", "=man/man3/Foo::Bar.3pm.gz");
    expect(LINK_MANUAL, "man/de/man1/cp.1", "ls(1)", "=man/de/man1/ls.1.gz");
    expect(LINK_MANUAL, "man/de/man1/cp.1", "printf(3)", "=man/man3/printf.3");
    expect(LINK_MANUAL, "man/de/man1/cp.1", "none(3)", "-man/de/man3/none.3");
    expect(LINK_MANUAL, "man/x.1", "printf(3)", "=man/man3/printf.3");
    expect(LINK_MANUAL, "man/x.1", "none(3)", ">none(3)");
    expect(LINK_MANUAL, "man/x.1", "none()", NULL);
    expect(LINK_SOURCE, "man/man1/dir.1", "man1/ls.1", "=man/man1/ls.1.gz");
    expect(LINK_SOURCE, "man/de/man1/dir.1", "cp.1", "=man/de/man1/cp.1");
}

static void test_link_place__names_are_not_longer_than_a_path(void **state)
{
    (void)state;
    static char document[LINK_NAME_MAX_BYTES + 1], target[LINK_TARGET_MAX_BYTES + 2];
    struct names names = {files, 0};
    const struct link_tree tree = {is, &names, false};
    struct link_place place;
    memset(target, 'x', LINK_TARGET_MAX_BYTES);
    for (enum link_kind kind = 0; kind < LINK_N_KINDS; kind++) {
        const struct link link = {
            .kind = kind, .target = target, .target_bytes = LINK_TARGET_MAX_BYTES};
        memset(document, 'd', sizeof(document) - 1);
        document[100] = document[sizeof(document) - 10] = '/';
        names.n_asked = 0;
        int r = link_place_find(&link, document, &tree, &place);
        assert_true(r == -ENAMETOOLONG || r == -ENOENT || r == 0);
        assert_true(names.n_asked <= LINK_PLACE_TRIALS);
        memset(document, '/', sizeof(document) - 1); /* many directories above */
        for (size_t i = 0; i < sizeof(document) - 1; i += 2)
            document[i] = 'd';
        names.n_asked = 0;
        r = link_place_find(&link, document, &tree, &place);
        assert_true(names.n_asked <= LINK_PLACE_TRIALS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_place__of_urls_is_as_a_browser_has_it),
        cmocka_unit_test(test_link_place__of_paths_is_relative_to_the_document),
        cmocka_unit_test(test_link_place__of_pages_has_other_blanks_and_letters),
        cmocka_unit_test(test_link_place__of_includes_is_the_nearest_above),
        cmocka_unit_test(test_link_place__of_manual_pages_is_beside_their_section),
        cmocka_unit_test(test_link_place__names_are_not_longer_than_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
