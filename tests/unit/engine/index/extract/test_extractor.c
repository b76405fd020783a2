/* Which documents an extractor of the configuration is for, and who may tell. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/index/extract/extractor.h"

static const char *const command[] = {"/bin/true", NULL};

enum { HEAD_BYTES = 4096 };

struct choosing {
    struct extractors *extractors;
    struct extractor_choice *choices[2]; /* [1]: takes what is slow */
    uint8_t head[HEAD_BYTES];
};

static struct choosing *begin(const char *media_type)
{
    const struct index_extractor configured = {.media_type = media_type, .command = command};
    struct choosing *choosing = calloc(1, sizeof(*choosing));
    char *error = NULL;
    /* Any program does, for none is run; beside it there are no built-in ones. */
    setenv("KINFS_EXTRACT", "/bin/true", 1);
    int r = extractors_new(&configured, 1, 0, &choosing->extractors, &error);
    free(error);
    if (r == -EOPNOTSUPP)
        skip();
    assert_int_equal(r, 0);
    for (int slow = 0; slow < 2; slow++)
        assert_int_equal(extractor_choice_new(choosing->extractors, slow, &choosing->choices[slow]),
                         0);
    return choosing;
}

static void end(struct choosing *choosing)
{
    for (int slow = 0; slow < 2; slow++)
        extractor_choice_free(choosing->choices[slow]);
    extractors_free(choosing->extractors);
    free(choosing);
}

static void fill(struct choosing *choosing, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < HEAD_BYTES; i++)
        choosing->head[i] = (uint8_t)text[i % n];
}

/* 1: the extractor is for it, 0: it is not, -1: this one does not tell. */
static int is_chosen(struct choosing *choosing, int slow)
{
    const struct extractor *found;
    int r = extractor_choose(choosing->choices[slow], -1, choosing->head, HEAD_BYTES, &found);
    assert_true(r == 0 || (r == EXTRACTOR_SLOW && !found));
    return r == EXTRACTOR_SLOW ? -1 : found != NULL;
}

static double seconds_of_thread(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Each of these texts takes libmagic 60 ms if it is asked all it can be: together two minutes. */
static void test_extractor__texts_cost_nothing_where_none_is_asked_for(void **state)
{
    (void)state;
    struct choosing *choosing = begin("image/png");
    fill(choosing, "\n");
    const double before = seconds_of_thread();
    for (int i = 0; i < 2000; i++)
        assert_int_equal(is_chosen(choosing, i % 2), 0);
    assert_true(seconds_of_thread() - before < 60);
    memcpy(choosing->head, "\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0", 28);
    for (int slow = 0; slow < 2; slow++)
        assert_int_equal(is_chosen(choosing, slow), 1);
    end(choosing);
}

static void test_extractor__texts_are_told_by_who_takes_what_is_slow(void **state)
{
    static const char *const types[] = {"text/x-diff", "text/*", "application/octet-stream",
                                        "image/*"};
    static const int are_diffs[] = {1, 1, 0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct choosing *choosing = begin(types[i]);
        fill(choosing, "diff -u a b\n");
        assert_int_equal(is_chosen(choosing, 0), -1);
        assert_int_equal(is_chosen(choosing, 1), are_diffs[i]);
        memcpy(choosing->head, "\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0", 28);
        for (int slow = 0; slow < 2; slow++)
            assert_int_equal(is_chosen(choosing, slow), strcmp(types[i], "image/*") == 0);
        for (size_t j = 0; j < HEAD_BYTES; j++)
            choosing->head[j] = j % 2 ? 0xee : 0;
        assert_int_equal(is_chosen(choosing, 1), strcmp(types[i], "application/octet-stream") == 0);
        end(choosing);
    }
}

/* The table of sectors is not in the first 4 KiB, nor, of the second, is the root directory. */
static void test_extractor__ole_documents_are_told_without_their_tables(void **state)
{
    static const uint8_t mark[] = {0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1};
    static const uint8_t word[] = {0x06, 0x09, 2, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46};
    static const char *const types[] = {"application/msword", "application/x-ole-storage"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct choosing *choosing = begin(types[i]);
        uint8_t *head = choosing->head;
        memcpy(head, mark, sizeof(mark));
        head[24] = 0x3e, head[26] = 3, head[28] = 0xfe, head[29] = 0xff; /* version, byte order */
        head[30] = 9, head[32] = 6;           /* sectors of 512 bytes, and of 64 */
        head[44] = 1, head[48] = i ? 100 : 1; /* how many of the table; the root's */
        head[57] = 0x10, head[77] = 0x10;     /* 4096: what is short; where the table is */
        memcpy(head + 1024, "R\0o\0o\0t\0 \0E\0n\0t\0r\0y", 19);
        head[1024 + 64] = 22, head[1024 + 66] = 5;
        memcpy(head + 1024 + 80, word, sizeof(word));
        for (int slow = 0; slow < 2; slow++)
            assert_int_equal(is_chosen(choosing, slow), 1);
        end(choosing);
    }
}

/* Neither by one in the home nor by one that the environment names. */
static void test_extractor__types_are_not_told_by_a_database_of_a_user(void **state)
{
    static const char head[] = "\001kinfs\002", rule[] = "0 string \\001kinfs\\002 own\n"
                                                         "!:mime image/x-own\n";
    char home[] = "/tmp/test_extractor.XXXXXX", path[64];
    (void)state;
    end(begin("image/x-own")); /* skips before there is anything to remove */
    assert_non_null(mkdtemp(home));
    snprintf(path, sizeof(path), "%s/.magic", home);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(rule, file);
    fclose(file);
    for (int named = 0; named < 2; named++) {
        setenv("HOME", home, 1);
        if (named)
            setenv("MAGIC", path, 1);
        struct choosing *choosing = begin("image/x-own");
        memcpy(choosing->head, head, sizeof(head));
        assert_int_equal(is_chosen(choosing, 0), -1); /* of no type by its bytes */
        assert_int_equal(is_chosen(choosing, 1), 0);
        end(choosing);
    }
    unsetenv("MAGIC");
    unlink(path);
    rmdir(home);
}

static void keep(void *user, const void *bytes, size_t n_bytes)
{
    char *kept = user;
    size_t n = strlen(kept);
    memcpy(kept + n, bytes, n_bytes);
    kept[n + n_bytes] = '\0';
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static void test_extractor__a_document_that_is_open_for_writing_is_given_for_reading(void **state)
{
    static char program[] = "/bin/sh", option[] = "-c",
                script[] = "cat; { echo more >&0; } 2>/dev/null || echo refused";
    char *argv[] = {program, option, script, NULL};
    const struct extractor extractor = {.argv = argv, .seconds = 60, .output_mb = 1};
    char text[64] = "", kept[4096] = "", reason[EXTRACTOR_REASON_BYTES];
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs("document\n", file);
    fflush(file);
    const struct extractor_run run = {.extractor = &extractor,
                                      .document = fileno(file),
                                      .output = keep,
                                      .stop = never,
                                      .user = kept};
    assert_int_equal(extractor_run(&run, reason), 0);
    assert_string_equal(kept, "document\nrefused\n");
    assert_int_equal(pread(fileno(file), text, sizeof(text) - 1, 0), strlen("document\n"));
    fclose(file);
}

static bool has_put_out(void *user)
{
    return *(const char *)user != '\0';
}

/* Each is stopped as soon as it runs, and does not end. */
static void *run_one_that_stays(void *argument)
{
    static char program[] = "/bin/sh", option[] = "-c",
                script[] = "exec 3< \"$0\"; trap '' TERM; echo x; read -r line <&3";
    char *argv[] = {program, option, script, argument, NULL};
    const struct extractor extractor = {.argv = argv, .seconds = 600, .output_mb = 1};
    char kept[4096] = "", reason[EXTRACTOR_REASON_BYTES];
    const int document = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const struct extractor_run run = {.extractor = &extractor,
                                      .document = document,
                                      .output = keep,
                                      .stop = has_put_out,
                                      .user = kept};
    const int r = extractor_run(&run, reason);
    close(document);
    return r == -ESHUTDOWN ? argument : NULL;
}

static void test_extractor__those_that_cannot_be_ended_are_left_and_bounded(void **state)
{
    enum { N = INDEX_EXTRACTORS_LEFT_MAX + 1 }; /* the last is ended after all */
    static char program[] = "/bin/true";
    char directory[] = "/tmp/test_extractor.XXXXXX", fifo[64], reason[EXTRACTOR_REASON_BYTES];
    char *argv[] = {program, NULL};
    const struct extractor extractor = {.argv = argv, .seconds = 600, .output_mb = 1};
    pthread_t threads[N];
    void *stopped;
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const int end = open(fifo, O_RDWR | O_CLOEXEC), document = open("/dev/zero", O_RDONLY);
    assert_true(end >= 0 && document >= 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_one_that_stays, fifo), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(threads[i], &stopped), 0);
        assert_ptr_equal(stopped, fifo);
    }
    assert_int_equal(extractors_left(), INDEX_EXTRACTORS_LEFT_MAX);
    const struct extractor_run run = {
        .extractor = &extractor, .document = document, .output = keep, .stop = never};
    assert_int_equal(extractor_run(&run, reason), -EBADMSG);
    assert_string_equal(reason, "not run: 8 that cannot be ended are left; see kinfs status");
    close(end);
    while (extractors_left() > 0)
        usleep(1000);
    assert_int_equal(extractor_run(&run, reason), 0);
    close(document);
    unlink(fifo);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extractor__texts_cost_nothing_where_none_is_asked_for),
        cmocka_unit_test(test_extractor__texts_are_told_by_who_takes_what_is_slow),
        cmocka_unit_test(test_extractor__ole_documents_are_told_without_their_tables),
        cmocka_unit_test(test_extractor__types_are_not_told_by_a_database_of_a_user),
        cmocka_unit_test(test_extractor__a_document_that_is_open_for_writing_is_given_for_reading),
        cmocka_unit_test(test_extractor__those_that_cannot_be_ended_are_left_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
