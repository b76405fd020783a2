/* What near-duplicates cost, beside a count of every path and each directory above it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/report/cost_table.h"

enum { DOCUMENTS = 400, DEEPEST = 4, WIDE = 3 };

struct document {
    char path[64];
    uint64_t size_bytes;
    int kind; /* -1: no copy */
};

static const char *const types[] = {"text", "html"};

/* d0/d2/f7, of a random depth */
static void draw_document(struct document *document, unsigned i)
{
    const unsigned depth = (unsigned)(mix64(i) % (DEEPEST + 1));
    size_t at = 0;
    for (unsigned level = 0; level < depth; level++)
        at += (size_t)sprintf(document->path + at, "d%u/", (unsigned)(mix64(i * 7 + level) % WIDE));
    sprintf(document->path + at, "f%u", i);
    document->size_bytes = mix64(i + 100000) % 5000;
    document->kind = (int)(mix64(i + 200000) % (COST_N_KINDS + 1)) - 1;
}

static bool is_below(const char *path, const char *directory)
{
    const size_t n = strlen(directory);
    return n == 0 || (strncmp(path, directory, n) == 0 && path[n] == '/');
}

static struct cost count_slowly(const struct document *documents, const char *directory)
{
    struct cost cost = {0};
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        if (!is_below(documents[i].path, directory))
            continue;
        cost.documents++;
        cost.bytes += documents[i].size_bytes;
        if (documents[i].kind >= 0) {
            cost.copies[documents[i].kind]++;
            cost.copy_bytes[documents[i].kind] += documents[i].size_bytes;
        }
    }
    return cost;
}

static struct cost cost_of(struct json_object *row, size_t from)
{
    uint64_t values[8];
    assert_int_equal(json_object_array_length(row), from + 8);
    for (size_t i = 0; i < 8; i++)
        values[i] = json_object_get_uint64(json_object_array_get_idx(row, from + i));
    return (struct cost){
        values[0], values[1], {values[2], values[3], values[4]}, {values[5], values[6], values[7]}};
}

static void make_table(struct cost_table *table, struct document *documents)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        draw_document(&documents[i], i);
        assert_int_equal(
            cost_table_add(table, documents[i].path, documents[i].size_bytes, types[i % 2]), 0);
        if (documents[i].kind >= 0)
            assert_int_equal(cost_table_add_copy(table, documents[i].path, documents[i].size_bytes,
                                                 types[i % 2], (enum cost_kind)documents[i].kind),
                             0);
    }
    cost_table_sum(table);
}

/* The path of each row, by way of those that it is in. */
static void path_of(struct json_object *rows, size_t i, char path[64])
{
    struct json_object *row = json_object_array_get_idx(rows, i);
    const int parent = json_object_get_int(json_object_array_get_idx(row, 0));
    const char *name = json_object_get_string(json_object_array_get_idx(row, 1));
    assert_true(parent < (int)i);
    if (parent < 0) {
        assert_string_equal(name, "");
        path[0] = '\0';
        return;
    }
    path_of(rows, (size_t)parent, path);
    if (*path)
        strcat(path, "/");
    strcat(path, name);
}

static void test_cost_table__is_that_of_a_slow_count(void **state)
{
    struct cost_table table = {0};
    struct document documents[DOCUMENTS];
    (void)state;
    make_table(&table, documents);
    struct json_object *directories = cost_table_directories(&table, 1000),
                       *rows = json_object_object_get(directories, "rows");
    const size_t n = json_object_array_length(rows);
    assert_int_equal(json_object_get_int(json_object_object_get(directories, "left_out")), 0);
    assert_true(n > 50);
    for (size_t i = 0; i < n; i++) {
        char path[64];
        path_of(rows, i, path);
        const struct cost slow = count_slowly(documents, path),
                          fast = cost_of(json_object_array_get_idx(rows, i), 2);
        assert_memory_equal(&slow, &fast, sizeof(slow));
    }
    const struct cost all = count_slowly(documents, "");
    assert_memory_equal(&all, &table.all, sizeof(all));
    json_object_put(directories);
    cost_table_done(&table);
}

/* Of fewer rows those that cost most, which are behind those that they are in, too. */
static void test_cost_table__leaves_out_what_costs_least(void **state)
{
    struct cost_table table = {0};
    struct document documents[DOCUMENTS];
    (void)state;
    make_table(&table, documents);
    struct json_object *all = cost_table_directories(&table, 1000),
                       *some = cost_table_directories(&table, 9);
    struct json_object *all_rows = json_object_object_get(all, "rows"),
                       *rows = json_object_object_get(some, "rows");
    const size_t n = json_object_array_length(all_rows);
    assert_int_equal(json_object_array_length(rows), 9);
    assert_int_equal(json_object_get_int(json_object_object_get(some, "left_out")), n - 9);
    for (size_t i = 0; i < 9; i++)
        assert_true(json_object_equal(json_object_array_get_idx(rows, i),
                                      json_object_array_get_idx(all_rows, i)));
    for (size_t i = 1; i < n; i++) {
        const struct cost a = cost_of(json_object_array_get_idx(all_rows, i - 1), 2),
                          b = cost_of(json_object_array_get_idx(all_rows, i), 2);
        assert_true(cost_near_bytes(&a) >= cost_near_bytes(&b));
    }
    json_object_put(all);
    json_object_put(some);
    cost_table_done(&table);
}

static void test_cost_table__has_types(void **state)
{
    struct cost_table table = {0};
    struct document documents[DOCUMENTS];
    struct cost sum = {0};
    (void)state;
    make_table(&table, documents);
    struct json_object *rows = cost_table_types(&table);
    assert_int_equal(json_object_array_length(rows), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct cost cost = cost_of(json_object_array_get_idx(rows, i), 1);
        assert_int_equal(cost.documents, DOCUMENTS / 2);
        sum.bytes += cost.bytes;
        sum.copy_bytes[COST_LOOSE] += cost.copy_bytes[COST_LOOSE];
    }
    assert_int_equal(sum.bytes, table.all.bytes);
    assert_int_equal(sum.copy_bytes[COST_LOOSE], table.all.copy_bytes[COST_LOOSE]);
    json_object_put(rows);
    cost_table_done(&table);
}

static void test_cost_table__of_nothing_is_empty(void **state)
{
    struct cost_table table = {0};
    (void)state;
    cost_table_sum(&table);
    struct json_object *directories = cost_table_directories(&table, 5),
                       *rows = cost_table_types(&table);
    assert_int_equal(json_object_array_length(json_object_object_get(directories, "rows")), 0);
    assert_int_equal(json_object_array_length(rows), 0);
    json_object_put(directories);
    json_object_put(rows);
    cost_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_table__is_that_of_a_slow_count),
        cmocka_unit_test(test_cost_table__leaves_out_what_costs_least),
        cmocka_unit_test(test_cost_table__has_types),
        cmocka_unit_test(test_cost_table__of_nothing_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
