#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/options/mount_options.h"

static void test_mount_options__every_option_is_taken(void **state)
{
    (void)state;
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(
        mount_options_parse(&options,
                            "threshold=0.75,limit=7,views=clusters,store=/x\\,y,ro,"
                            "policy=broder1997,log=/l,config=/c,workers=3,settle_ms=10,,cache=96M,"
                            "list_xattr,nopassthrough,noallow_other,debug,"
                            "tokens=words+tags,stopwords=english,stemmer=german",
                            NULL),
        0);
    assert_int_equal(mount_options_parse(&options, "noatime", NULL), 0);
    assert_true(options.threshold == 0.75);
    assert_int_equal(options.limit, 7);
    assert_int_equal(options.views, MOUNT_VIEW_CLUSTERS);
    assert_string_equal(options.store, "/x,y");
    assert_string_equal(options.policy, "broder1997");
    assert_string_equal(options.log, "/l");
    assert_string_equal(options.config, "/c");
    assert_string_equal(options.tokens, "words+tags");
    assert_string_equal(options.stopwords, "english");
    assert_string_equal(options.stemmer, "german");
    assert_int_equal(options.n_workers, 3);
    assert_int_equal(options.settle_ms, 10);
    assert_int_equal(options.cache_bytes, 96 << 20);
    assert_true(options.list_xattr && options.debug);
    assert_false(options.passthrough || options.allow_other);
    assert_string_equal(options.extra, "ro");
    assert_int_equal(options.access_times.rule, ACCESS_TIMES_NONE);
    mount_options_done(&options);
}

static void test_mount_options__what_is_of_fstab_and_systemd_is_passed_over(void **state)
{
    (void)state;
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(mount_options_parse(&options,
                                         "defaults,noauto,user,users,user=me,owner,group,nofail,"
                                         "_netdev,comment=x,x-systemd.automount,relatime,"
                                         "x-systemd.requires-mounts-for=/var,X-mount.mkdir,auto,rw",
                                         NULL),
                     0);
    assert_string_equal(options.extra, "rw");
    /* Only of what follows it is said to be sloppy. */
    assert_int_equal(mount_options_parse(&options, "colour=red", NULL), -EINVAL);
    options.sloppy = true;
    assert_int_equal(mount_options_parse(&options, "colour=red,sideways,limit=3", NULL), 0);
    assert_int_equal(options.limit, 3);
    assert_int_equal(mount_options_parse(&options, "limit=x", NULL), -EINVAL);
    mount_options_done(&options);
}

static void test_mount_options__a_watch_can_be_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned watch;
    } cases[] = {{"watch=none", MOUNT_WATCH_NONE},
                 {"watch=inotify", MOUNT_WATCH_INOTIFY},
                 {"watch=fanotify", MOUNT_WATCH_FANOTIFY},
                 {"watch=auto", MOUNT_WATCH_AUTO}};
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(options.watch, MOUNT_WATCH_AUTO);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(mount_options_parse(&options, cases[i].text, NULL), 0);
        assert_int_equal(options.watch, cases[i].watch);
    }
    assert_int_equal(mount_options_parse(&options, "nosketch,watch=fanotify", NULL), 0);
    mount_options_done(&options);
}

/* A comma between clusterings needs no backslash. */
static void test_mount_options__clusterings_are_named(void **state)
{
    static const char *const texts[] = {
        "clusters=near:components:0.95,loose:components:0.3:containment:0.9,ro,limit=3",
        "clusters=near:components:0.95\\,loose:components:0.3:containment:0.9,ro,limit=3",
        "clusters=near:components:0.95,limit=3,ro,clusters=loose:components:0.3:containment:0.9"};
    static const char *const wrong[] = {"clusters=a:components:0.5,a:components:0.5",
                                        "clusters=a:components:0.5,b:components",
                                        "clusters=a:components:0.5,ro,b:components:0.5",
                                        "b:components:0.5", "nosketch,clusters=a:components:0.5"};
    struct mount_options options;
    char *error = NULL, many[512] = "clusters=";
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        mount_options_init(&options);
        assert_int_equal(mount_options_parse(&options, texts[i], NULL), 0);
        assert_int_equal(options.n_clusterings, 2);
        assert_string_equal(options.clusterings[0].name, "near");
        assert_true(options.clusterings[0].resemblance == 0.95);
        assert_string_equal(options.clusterings[1].name, "loose");
        assert_true(options.clusterings[1].containment == 0.9);
        assert_string_equal(options.extra, "ro");
        assert_int_equal(options.limit, 3);
        mount_options_done(&options);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        mount_options_init(&options);
        assert_int_equal(mount_options_parse(&options, wrong[i], &error), -EINVAL);
        free(error);
        mount_options_done(&options);
    }
    for (unsigned i = 0; i <= INDEX_CLUSTERINGS_MAX; i++)
        sprintf(many + strlen(many), "%sn%u:components:0.5", i ? "," : "", i);
    mount_options_init(&options);
    assert_int_equal(mount_options_parse(&options, many, &error), -EINVAL);
    assert_non_null(strstr(error, "n8 is one too many; 8"));
    free(error);
    mount_options_done(&options);
}

static void test_mount_options__views_can_be_chosen(void **state)
{
    (void)state;
    struct mount_options options;
    const unsigned all = MOUNT_VIEW_SIMILAR | MOUNT_VIEW_CLUSTERS | MOUNT_VIEW_UNIQUE |
                         MOUNT_VIEW_CONTAINS | MOUNT_VIEW_WITHIN | MOUNT_VIEW_PASSAGES |
                         MOUNT_VIEW_RELATED | MOUNT_VIEW_TOPICS | MOUNT_VIEW_LOST;
    mount_options_init(&options);
    assert_int_equal(options.views, all);
    assert_int_equal(mount_options_parse(&options, "views=none", NULL), 0);
    assert_int_equal(options.views, 0);
    assert_int_equal(mount_options_parse(&options, "views=similar:clusters", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_SIMILAR | MOUNT_VIEW_CLUSTERS);
    assert_int_equal(mount_options_parse(&options, "views=hidden", NULL), 0);
    assert_int_equal(options.views, all | MOUNT_VIEW_HIDDEN);
    assert_int_equal(mount_options_parse(&options, "views=unique", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_UNIQUE);
    assert_int_equal(mount_options_parse(&options, "views=listed:clusters", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_CLUSTERS | MOUNT_VIEW_LISTED);
    assert_int_equal(mount_options_parse(&options, "views=listed", NULL), 0);
    assert_int_equal(options.views, all | MOUNT_VIEW_LISTED);
    assert_int_equal(mount_options_parse(&options, "views=unique:listed", NULL), 0);
    assert_int_equal(options.views,
                     MOUNT_VIEW_UNIQUE | MOUNT_VIEW_LISTED | MOUNT_VIEW_READING_LISTED);
    assert_int_equal(mount_options_parse(&options, "views=contains:within:listed", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_CONTAINS | MOUNT_VIEW_WITHIN | MOUNT_VIEW_LISTED |
                                        MOUNT_VIEW_READING_LISTED);
    assert_int_equal(mount_options_parse(&options, "views=passages", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_PASSAGES);
    assert_int_equal(mount_options_parse(&options, "views=lost", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_LOST);
    assert_int_equal(mount_options_parse(&options, "views=related", NULL), 0);
    assert_int_equal(options.views, MOUNT_VIEW_RELATED);
    assert_int_equal(mount_options_parse(&options, "views=topics:listed", NULL), 0);
    assert_int_equal(options.views,
                     MOUNT_VIEW_TOPICS | MOUNT_VIEW_LISTED | MOUNT_VIEW_READING_LISTED);
    char *error = NULL;
    assert_int_equal(mount_options_parse(&options, "views=listed:hidden", &error), -EINVAL);
    assert_non_null(strstr(error, "either listed or hidden"));
    free(error);
    mount_options_done(&options);
}

static void test_mount_options__the_past_is_kept_for_a_time(void **state)
{
    (void)state;
    struct mount_options options;
    static const char *const wrong[] = {"keep_lost=x",   "keep_lost=",      "keep_lost=5",
                                        "keep_lost=-1d", "keep_lost=1001y", "keep_lost=1dd"};
    mount_options_init(&options);
    assert_true(options.keep_lost_s == INDEX_KEEP_LOST_AS_STORED);
    assert_int_equal(mount_options_parse(&options, "keep_lost=2w", NULL), 0);
    assert_true(options.keep_lost_s == 2 * 7 * 86400);
    assert_int_equal(mount_options_parse(&options, "keep_lost=0", NULL), 0);
    assert_true(options.keep_lost_s == INDEX_KEEP_LOST_NONE);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *error = NULL;
        assert_int_equal(mount_options_parse(&options, wrong[i], &error), -EINVAL);
        assert_non_null(strstr(error, "-o keep_lost="));
        free(error);
    }
    mount_options_done(&options);
}

static void test_mount_options__topics_are_of_what_documents_say(void **state)
{
    (void)state;
    static const char *const wrong[] = {"topics=", "topics", "topics=on", "topics=anchors"};
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(options.topics, INDEX_TOPICS_AS_STORED);
    assert_int_equal(mount_options_parse(&options, "topics=content", NULL), 0);
    assert_int_equal(options.topics, INDEX_TOPICS_CONTENT);
    assert_int_equal(mount_options_parse(&options, "topics=anchor", NULL), 0);
    assert_int_equal(options.topics, INDEX_TOPICS_ANCHOR);
    assert_int_equal(mount_options_parse(&options, "topics=both", NULL), 0);
    assert_int_equal(options.topics, INDEX_TOPICS_BOTH);
    assert_int_equal(mount_options_parse(&options, "topics=off", NULL), 0);
    assert_int_equal(options.topics, INDEX_TOPICS_OFF);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(mount_options_parse(&options, wrong[i], NULL), -EINVAL);
    assert_int_equal(options.topics, INDEX_TOPICS_OFF);
    assert_int_equal(mount_options_parse(&options, "nosketch", NULL), -EINVAL);
    mount_options_done(&options);
}

static void test_mount_options__passages_are_wanted_by_words(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "passages=7", "passages=257", "passages=", "passages=x", "passages=24x", "passages=-24"};
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(options.passages, INDEX_PASSAGES_NONE);
    assert_int_equal(mount_options_parse(&options, "passages=8", NULL), 0);
    assert_int_equal(options.passages, 8);
    assert_int_equal(mount_options_parse(&options, "passages=256", NULL), 0);
    assert_int_equal(options.passages, 256);
    assert_int_equal(mount_options_parse(&options, "passages", NULL), 0);
    assert_int_equal(options.passages, INDEX_PASSAGES_USUAL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *error = NULL;
        assert_int_equal(mount_options_parse(&options, wrong[i], &error), -EINVAL);
        assert_non_null(strstr(error, "-o passages="));
        free(error);
    }
    assert_int_equal(options.passages, INDEX_PASSAGES_USUAL);
    assert_int_equal(mount_options_parse(&options, "nosketch", NULL), -EINVAL);
    mount_options_done(&options);
}

static void test_mount_options__who_stays_is_chosen(void **state)
{
    (void)state;
    struct mount_options options;
    struct unique_rules configured = {0}, rules;
    mount_options_init(&options);
    assert_int_equal(mount_options_parse(&options, "near=0.97,prefer=a*,prefer=/b/", NULL), 0);
    assert_int_equal(unique_rules_take(&configured, "near", "0.5", NULL), 1);
    assert_int_equal(unique_rules_take(&configured, "prefer", "c", NULL), 1);
    assert_int_equal(unique_rules_take(&configured, "representative", "largest", NULL), 1);
    assert_int_equal(unique_rules_take(&configured, "stand_in", "anyone", NULL), 1);
    assert_int_equal(unique_rules_take(&configured, "exclude", "c", NULL), 0);
    assert_int_equal(unique_rules_join(&configured, &options.unique, &rules), 0);
    const struct index_unique_options chosen = unique_rules_options(&rules);
    assert_true(chosen.near == 0.97);
    assert_int_equal(chosen.representative, INDEX_STAYS_LARGEST);
    assert_true(chosen.stand_in_anyone);
    assert_int_equal(chosen.n_prefer, 3);
    assert_string_equal(chosen.prefer[0], "a*");
    assert_string_equal(chosen.prefer[1], "/b/");
    assert_string_equal(chosen.prefer[2], "c");
    const struct index_unique_options nothing = unique_rules_options(&(struct unique_rules){0});
    assert_true(nothing.near == 0.95);
    assert_int_equal(nothing.representative, INDEX_STAYS_OLDEST);
    assert_false(nothing.stand_in_anyone);
    unique_rules_done(&rules);
    unique_rules_done(&configured);
    mount_options_done(&options);
}

static void test_mount_options__what_is_wrong_is_refused_by_name(void **state)
{
    (void)state;
    const char *const wrong[] = {
        "threshold=1.5", "threshold=x",
        "threshold=",    "threshold=nan",
        "limit=-1",      "limit=1x",
        "limit=",        "workers=1000",
        "views=both",    "views=",
        "near=0.4",      "near=x",
        "near=1.1",      "representative=best",
        "prefer=",       "near=",
        "stand_in=root", "stand_in=",
        "store=",        "colour=red",
        "sideways",      "settle_ms=99999999999",
        "cache=",        "cache=0",
        "cache=1000",    "cache=-1G",
        "cache=64MB",    "cache=much",
        "watch=dnotify", "watch=",
        "tokens=tags",   "tokens=",
        "stopwords=all", "stopwords=",
        "stemmer=latin", "stemmer=",
        "clusters=",     "clusters=5:components:0.5",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct mount_options options;
        char *error = NULL;
        mount_options_init(&options);
        assert_int_equal(mount_options_parse(&options, wrong[i], &error), -EINVAL);
        assert_non_null(error);
        assert_memory_equal(strstr(error, "-o ") + 3, wrong[i], strcspn(wrong[i], "="));
        free(error);
        mount_options_done(&options);
    }
}

static void test_mount_options__without_sketching_nothing_of_it_can_be_said(void **state)
{
    (void)state;
    const char *const of_sketching[] = {"threshold=0.5",  "limit=1",        "views=similar",
                                        "store=/x",       "policy=default", "workers=1",
                                        "settle_ms=1",    "cache=64M",      "list_xattr",
                                        "stopwords=none", "stemmer=none",   "tokens=words"};
    const char *const beside[] = {"views=none", "log=/l", "nopassthrough", "ro", "noallow_other"};
    for (size_t i = 0; i < sizeof(of_sketching) / sizeof(of_sketching[0]); i++)
        for (int nosketch_first = 0; nosketch_first < 2; nosketch_first++) {
            struct mount_options options;
            char *error = NULL;
            mount_options_init(&options);
            assert_int_equal(mount_options_parse(
                                 &options, nosketch_first ? "nosketch" : of_sketching[i], &error),
                             0);
            assert_int_equal(mount_options_parse(
                                 &options, nosketch_first ? of_sketching[i] : "nosketch", &error),
                             -EINVAL);
            assert_memory_equal(strstr(error, "so -o ") + 6, of_sketching[i],
                                strcspn(of_sketching[i], "="));
            free(error);
            mount_options_done(&options);
        }
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        struct mount_options options;
        mount_options_init(&options);
        assert_true(options.sketch);
        assert_int_equal(mount_options_parse(&options, beside[i], NULL), 0);
        assert_int_equal(mount_options_parse(&options, "nosketch", NULL), 0);
        assert_false(options.sketch);
        mount_options_done(&options);
    }
    struct mount_options options;
    mount_options_init(&options);
    assert_int_equal(mount_options_parse(&options, "nosketch,limit=1,sketch", NULL), 0);
    assert_true(options.sketch); /* the last word */
    mount_options_done(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mount_options__every_option_is_taken),
        cmocka_unit_test(test_mount_options__what_is_of_fstab_and_systemd_is_passed_over),
        cmocka_unit_test(test_mount_options__a_watch_can_be_chosen),
        cmocka_unit_test(test_mount_options__views_can_be_chosen),
        cmocka_unit_test(test_mount_options__topics_are_of_what_documents_say),
        cmocka_unit_test(test_mount_options__passages_are_wanted_by_words),
        cmocka_unit_test(test_mount_options__the_past_is_kept_for_a_time),
        cmocka_unit_test(test_mount_options__who_stays_is_chosen),
        cmocka_unit_test(test_mount_options__clusterings_are_named),
        cmocka_unit_test(test_mount_options__what_is_wrong_is_refused_by_name),
        cmocka_unit_test(test_mount_options__without_sketching_nothing_of_it_can_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
