#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/show/exclude_pattern.h"

static int make(const char *format, const char *path, char **ret_text, size_t *ret_n_bytes)
{
    return exclude_pattern_make(exclude_format_of(format), path, ret_text, ret_n_bytes);
}

static void says(const char *format, const char *path, const char *pattern, char end)
{
    _cleanup_free_ char *text = NULL;
    size_t n_bytes = 0;
    assert_int_equal(make(format, path, &text, &n_bytes), 0);
    assert_int_equal(n_bytes, strlen(pattern) + 1);
    assert_int_equal(text[n_bytes - 1], end);
    assert_memory_equal(text, pattern, n_bytes - 1);
}

static void cannot_say(const char *format, const char *path)
{
    _cleanup_free_ char *text = NULL;
    size_t n_bytes = 0;
    assert_int_equal(make(format, path, &text, &n_bytes), -EILSEQ);
    assert_int_equal(n_bytes, 0);
}

static void test_exclude_pattern__plain_names_stand_for_themselves(void **state)
{
    (void)state;
    says("restic", "/srv/a b.txt", "/srv/a b.txt", '\n');
    says("borg", "/srv/a b.txt", "pf:srv/a b.txt", '\n');
    says("rsync", "a/b.txt", "/a/b.txt", '\0');
    says("tar", "a/b.txt", "./a/b.txt", '\n');
    says("bsdtar", "a/b.txt", "^./a/b.txt", '\n');
    says("rclone", "a/b.txt", "/a/b.txt", '\n');
    says("duplicity", "/srv/b.txt", "- /srv/b.txt", '\0');
    says("kopia", "a/b.txt", "/a/b.txt", '\n');
    says("plain0", "/srv/b.txt", "/srv/b.txt", '\0');
    assert_null(exclude_format_of("zip"));
    assert_null(exclude_format_of(""));
}

static void test_exclude_pattern__wildcards(void **state)
{
    (void)state;
    says("restic", "/a*[b]?\\$x", "/a\\*\\[b]\\?\\\\$$x", '\n');
    says("borg", "/a*[b]?\\$x", "pf:a*[b]?\\$x", '\n');
    says("rsync", "a\\b", "/a\\b", '\0');
    says("rsync", "a\\b*", "/a\\\\b\\*", '\0');
    says("tar", "a*[b]?\\", "./a\\*\\[b]\\?\\\\", '\n');
    says("bsdtar", "$a$", "^./$a\\$", '\n');
    says("rclone", "{a,b}]", "/\\{a,b\\}\\]", '\n');
    says("duplicity", "/a*[b]?\\", "- /a[*][[]b][?]\\", '\0');
    says("kopia", "!a#*", "/\\!a\\#\\*", '\n');
    says("plain0", "/a*\n", "/a*\n", '\0');
}

static void test_exclude_pattern__blanks_at_the_end(void **state)
{
    (void)state;
    says("restic", "/a  ", "/a [ ]", '\n');
    says("restic", "/a\r", "/a[\r]", '\n');
    says("restic", "/a\u00a0", "/a[\u00a0]", '\n');
    says("borg", "/a.\u00e9 ", "re:^a\\x2e\\u00e9\\x20\\Z", '\n');
    says("tar", "a\t", "./a[\t]", '\n');
    says("bsdtar", "a ", "^./a ", '\n');
    says("rclone", "a\u3000", "/a[\u3000]", '\n');
    says("duplicity", "/a ", "- /a[ ]", '\0');
    cannot_say("kopia", "a ");
}

static void test_exclude_pattern__ends_of_lines_and_bytes(void **state)
{
    (void)state;
    says("restic", "/a\nb", "/a[^\x01-\t\v-\U0010ffff]b", '\n');
    says("restic", "/a\xff", "/a\xff", '\n');
    says("borg", "/a\nb\xff\U0001f600", "re:^a\\x0ab\\udcff\\U0001f600\\Z", '\n');
    says("rsync", "a\nb\xff", "/a\nb\xff", '\0');
    says("rclone", "a\nb\x7f",
         "/a\u240a"
         "b\u2421",
         '\n');
    cannot_say("tar", "a\nb");
    cannot_say("bsdtar", "a\nb");
    cannot_say("bsdtar", "a\rb");
    cannot_say("rclone", "a\xff");
    cannot_say("rclone", "a\u240a");
    cannot_say("duplicity", "/a\rb");
    cannot_say("duplicity", "/a\xc3");
    cannot_say("kopia", "a\nb");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclude_pattern__plain_names_stand_for_themselves),
        cmocka_unit_test(test_exclude_pattern__wildcards),
        cmocka_unit_test(test_exclude_pattern__blanks_at_the_end),
        cmocka_unit_test(test_exclude_pattern__ends_of_lines_and_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
