/* A12: cells and pairs of cells as features. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <xxhash.h>

#include "engine/text/features/table.h"
#include "tests/unit/engine/text/canonical.h"

enum { DIGEST_CHARACTERS = 33, CELLS_MAX = 16, TEXT_MAX = 1 << 16, FEATURES_MAX = 1 << 14 };

static const size_t pieces[] = {1 << 20, 0, 1, 3};

static int compare_features(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct feature));
}

/* Features in order, each once. */
struct feature_set {
    size_t n;
    struct feature all[FEATURES_MAX];
};

static void make_set(struct feature_set *set)
{
    size_t n = 0;
    qsort(set->all, set->n, sizeof(set->all[0]), compare_features);
    for (size_t i = 0; i < set->n; i++)
        if (n == 0 || compare_features(&set->all[i], &set->all[n - 1]) != 0)
            set->all[n++] = set->all[i];
    set->n = n;
}

static void add(struct feature_set *set, uint64_t low, uint64_t high)
{
    assert_true(set->n < FEATURES_MAX);
    set->all[set->n++] = (struct feature){low, high};
}

/* The features that the canonical form of a table is. */
static void read_set(struct feature_set *set, const struct canonical *found)
{
    set->n = 0;
    for (size_t at = 0; at < found->size; at += DIGEST_CHARACTERS) {
        char half[17] = {0};
        memcpy(half, found->text + at, 16);
        uint64_t high = strtoull(half, NULL, 16);
        memcpy(half, found->text + at + 16, 16);
        add(set, strtoull(half, NULL, 16), high);
    }
    make_set(set);
}

/* A cell: the hash that decides which of two is first, and its digest. */
struct cell {
    XXH128_hash_t place, digest;
};

/* By the definition: each cell, and each two of them, the one of the lesser place first. */
static void add_row(struct feature_set *set, const struct cell *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add(set, cells[i].digest.low64, cells[i].digest.high64);
        for (size_t j = 0; j < n; j++) {
            const XXH128_hash_t x = cells[i].place, y = cells[j].place;
            if (x.high64 > y.high64 || (x.high64 == y.high64 && x.low64 >= y.low64))
                continue;
            const XXH128_hash_t a = cells[i].digest, b = cells[j].digest;
            unsigned __int128 product = (unsigned __int128)a.low64 * b.high64;
            add(set, (uint64_t)product + a.high64, (uint64_t)(product >> 64) + b.low64);
        }
    }
}

/* rows: what each is, cells ended by '|', rows by newlines; '~' is one inside. Of nine cells at
 * most. */
static void expect(const char *text, enum text_type type, const char *rows)
{
    static struct feature_set wanted, seen;
    wanted.n = 0;
    for (const char *p = rows; *p; p++) {
        struct cell cells[CELLS_MAX];
        size_t n_cells = 0;
        for (; *p != '\n'; p++) {
            char cell[256];
            size_t n = 0;
            for (; *p != '|'; p++)
                cell[n++] = *p == '~' ? '\n' : *p;
            if (n > 0)
                cells[n_cells++] = (struct cell){XXH3_128bits(cell, n), canonical_digest(cell, n)};
        }
        add_row(&wanted, cells, n_cells);
    }
    make_set(&wanted);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct canonical found = canonical_of(text, strlen(text), pieces[i]);
        assert_int_equal(found.form.type, type);
        if (type == TEXT_TABLE) {
            read_set(&seen, &found);
            assert_int_equal(seen.n, wanted.n);
            assert_memory_equal(seen.all, wanted.all, seen.n * sizeof(seen.all[0]));
        }
        canonical_done(&found);
    }
}

static void test_table__rows_are_features_however_written(void **state)
{
    (void)state;
    static const char rows[] = "name|year|price|\nbach|1685|1,50|\nsay \"ah\"|1|2|\n";
    expect("name;year;price\nBach;1685;1,50\n\"Say \"\"Ah\"\"\";1;2\n", TEXT_TABLE, rows);
    expect("name\tyear\tprice\r\nBach\t1685\t1,50\r\nSay \"Ah\"\t1\t2", TEXT_TABLE, rows);
    expect("name,year,price\n\n\"Bach\", 1685 ,\"1,50\"\n\n\"Say \"\"Ah\"\"\",1,2\n\n", TEXT_TABLE,
           rows);
    expect("\" a \",b , c\nd,e,f\ng,h,i\n", TEXT_TABLE, " a |b|c|\nd|e|f|\ng|h|i|\n");
    expect("\"a\nb\",2,3\n,,\n1,\"2\"x,\n1,1,1\n", TEXT_TABLE, "a~b|2|3|\n1|2x||\n1|\n");
    expect("1,2,3,4,5,6,7,8,9\na,b,c,d,e,f,g,h,i\nA,B,C,D,,,,,\n", TEXT_TABLE,
           "1|2|3|4|5|6|7|8|9|\na|b|c|d|e|f|g|h|i|\na|b|c|d|\n");
}

/* Of a cell that words could be, whatever its case, composition and width, with or without what has
 * no width; a byte order mark is no part of the first cell. */
static void test_table__cells_have_the_form_of_words(void **state)
{
    (void)state;
    static const char rows[] = "id|caf\u00e9 x|n|\n1|-2|3.5|\n4|5,6|7|\n";
    static const char *const forms[] = {
        "id,caf\u00e9 x,n\n1,-2,3.5\n4,\"5,6\",7\n",
        "\ufeffID,CAFE\u0301 X,N\n1,-2,3.5\n4,\"5,6\",7\n",
        "\ufeff\"Id\";Caf\u00c9\u00a0x;\u00a0n\u3000\n\uff11;\uff0d\uff12;3.5\n4;5,6;\uff17\n",
        "i\u200bd;\"caf\u00ade\u0301 \uff38\";\ufeffn\n1\u2060;-2;3.5\n\"4\";\"5,6\";7\n",
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        expect(forms[i], TEXT_TABLE, rows);
    expect("\"\ufeff5,6\",\"\u00c9\"\"\"\"X\",1\na,b,c\nd,e,f\n", TEXT_TABLE,
           "5,6|\u00e9\"\"x|1|\na|b|c|\nd|e|f|\n");
}

static void test_table__what_is_no_table_is_text(void **state)
{
    (void)state;
    expect("", TEXT_PLAIN, "");
    expect("one,two,three\nfour,five,six\n", TEXT_PLAIN, ""); /* too few */
    expect("a,b\nc,d\ne,f\n", TEXT_PLAIN, "");                /* of two, more are wanted */
    expect("a,b,c\nd,e,f\nj,k\n", TEXT_PLAIN, "");            /* not all the same */
    /* A program: each line ends with one, and has no other. */
    expect("package A;\n\nuse b;\nuse c;\r\nuse d;\nuse e;\nuse f;\nuse g;\nuse h;\n1;\n",
           TEXT_PLAIN, "");
    expect("well, this, is\nprose, with, com\nmas, of, some\n", TEXT_PLAIN, "");
    /* A program: each line begins with one, and has no other. */
    expect("\ta\n\tb\n\tc\n\td\n\te\n\tf\n\tg\n\th\n\ti\n", TEXT_PLAIN, "");
    /* A list in a program: each line but the last ends with one. */
    expect("NR_A,\nNR_B,\nNR_C,\nNR_D,\nNR_E,\nNR_F,\nNR_G,\nNR_H,\nNR_I\n", TEXT_PLAIN, "");
    expect("a,b\nc,d\ne,f\ng,h\ni,j\nk,l\nm,n\no,p\n", TEXT_TABLE,
           "a|b|\nc|d|\ne|f|\ng|h|\ni|j|\nk|l|\nm|n|\no|p|\n");
    struct canonical found = canonical_of("\xff\xfe"
                                          "a\0,\0b\0,\0c\0\n\0"
                                          "a\0,\0b\0,\0c\0\n\0"
                                          "a\0,\0b\0,\0c\0\n\0",
                                          2 + 3 * 12, 0);
    assert_int_equal(found.form.type, TEXT_TABLE);
    assert_int_equal(found.form.charset, TEXT_CHARSET_UTF16LE);
    canonical_done(&found);
}

/* -- one table with another -- */

enum { N_ROWS = 400, N_COLUMNS = 5 };

struct made {
    const char *before; /* what stands first */
    unsigned ragged;    /* the row that has one cell more, 0: none */
    bool other_order;
    int changed;    /* the column of which every cell is another one, -1: none */
    unsigned table; /* one with the same header and the same first column */
};

static void put_row(FILE *file, const struct made *made, char cells[N_COLUMNS][32])
{
    static const unsigned orders[2][N_COLUMNS] = {{0, 1, 2, 3, 4}, {3, 1, 4, 0, 2}};
    for (unsigned i = 0; i < N_COLUMNS; i++)
        fprintf(file, "%s%s", i ? "," : "", cells[orders[made->other_order][i]]);
}

static void make_table(struct feature_set *set, const struct made *made)
{
    static const char *const towns[] = {"Rome", "Bonn", "Oslo", "Lima", "Bern", "Kiel"};
    static const char *const names[] = {"id", "name", "town", "price", "day"};
    char *text, cells[N_COLUMNS][32];
    size_t size;
    unsigned seed = 1 + made->table;
    FILE *file = open_memstream(&text, &size);
    fputs(made->before, file);
    for (unsigned row = 0; row <= N_ROWS; row++) {
        for (unsigned i = 0; i < N_COLUMNS; i++)
            snprintf(cells[i], sizeof(cells[i]), "%s", names[i]);
        if (row > 0) {
            snprintf(cells[0], sizeof(cells[0]), "%u", row);
            snprintf(cells[1], sizeof(cells[1]), "name %u", (unsigned)rand_r(&seed));
            snprintf(cells[2], sizeof(cells[2]), "%s", towns[rand_r(&seed) % 6]);
            snprintf(cells[3], sizeof(cells[3]), "%u.50", (unsigned)rand_r(&seed));
            snprintf(cells[4], sizeof(cells[4]), "2024-%u", (unsigned)rand_r(&seed));
            if (made->changed >= 0)
                strcat(cells[made->changed], "x");
        }
        put_row(file, made, cells);
        fputs(made->ragged && row == made->ragged ? ",more\n" : "\n", file);
    }
    fclose(file);
    struct canonical found = canonical_of(text, size, 0);
    assert_int_equal(found.form.type, TEXT_TABLE);
    read_set(set, &found);
    canonical_done(&found);
    free(text);
}

static double resemblance(const struct made *a, const struct made *b)
{
    static struct feature_set x, y;
    size_t shared = 0, i = 0, j = 0;
    make_table(&x, a);
    make_table(&y, b);
    while (i < x.n && j < y.n) {
        int order = compare_features(&x.all[i], &y.all[j]);
        shared += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return (double)shared / (double)(x.n + y.n - shared);
}

static void test_table__small_changes_are_small(void **state)
{
    (void)state;
    const struct made table = {"", .changed = -1};
    /* A line of comment is one cell more, or, with separators, three and their pairs. */
    assert_true(resemblance(&table, &(struct made){"# made by a program\n", .changed = -1}) >
                0.999);
    assert_true(resemblance(&table, &(struct made){"# a, b, c\n#\n", .changed = -1}) > 0.998);
    assert_true(resemblance(&table, &(struct made){"sep=,\n", .changed = -1}) > 0.998);
    /* A cell and its pairs with the other five. */
    for (unsigned row = 1; row < 12; row++)
        assert_true(resemblance(&table, &(struct made){"", .ragged = row, .changed = -1}) > 0.998);
    assert_true(resemblance(&table, &(struct made){"", .other_order = true, .changed = -1}) == 1.0);
    /* Of 15 features of a row 10 stay: 10 of 20, and somewhat less where towns, and their pairs,
     * are the same in several rows already. */
    for (int column = 0; column < N_COLUMNS; column++) {
        double r = resemblance(&table, &(struct made){"", .changed = column});
        assert_true(r > 0.44 && r < 0.56);
    }
}

/* The same header, and numbers from 1 to 400 in the first column. Shared are these, the towns and,
 * by chance, the pair of a number and a town: 400 + 6 + 400 / 6 of twice 15 x 400. */
static void test_table__another_table_of_this_header_is_another(void **state)
{
    (void)state;
    double r = resemblance(&(struct made){"", .changed = -1},
                           &(struct made){"", .changed = -1, .table = 1});
    assert_true(r > 0 && r < 0.08);
}

/* One row from four on, and one in eight. */
static void test_table__few_rows_are_ragged(void **state)
{
    (void)state;
    expect("a,b,c\nd,e,f\ng\n", TEXT_PLAIN, "");
    expect("a,b,c\nd,e,f\nh,i,j\ng\n", TEXT_TABLE, "a|b|c|\nd|e|f|\nh|i|j|\ng|\n");
    expect("g\na,b,c\nd,e,f\nh,i,j\n", TEXT_TABLE, "g|\na|b|c|\nd|e|f|\nh|i|j|\n");
    expect("a,b,c\nd,e,f\nh,i,j\nk,l,m\nn,o,p\nq,r,s\ng\n", TEXT_TABLE,
           "a|b|c|\nd|e|f|\nh|i|j|\nk|l|m|\nn|o|p|\nq|r|s|\ng|\n");
    expect("a,b,c\nd,e,f\nh,i,j\nk,l,m\nn\nq,r,s\ng\n", TEXT_PLAIN, "");
    expect("a,b,c\nd,e,f\ng\nh,i,j\nk,l,m\nn,o,p\nq,r,s\nt,u,v\n", TEXT_TABLE,
           "a|b|c|\nd|e|f|\ng|\nh|i|j|\nk|l|m|\nn|o|p|\nq|r|s|\nt|u|v|\n");
    expect("a,b,c\nd,e,f\ng\nh,i,j\nk,l,m\nn,o\nq,r,s\nt,u,v\n", TEXT_PLAIN, "");
    static char rows[2][100 * 16];
    const unsigned n_rows[] = {16, 15}; /* two in sixteen, and in fifteen */
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        for (unsigned j = 0; j < n_rows[i]; j++)
            size +=
                (size_t)sprintf(rows[i] + size, "%u,%u,a%s\n", j, j, j < 14 && j > 11 ? ",b" : "");
        assert_int_equal(table_sniff((uint8_t *)rows[i], size, true), i == 0 ? ',' : 0);
    }
}

/* In rows of four cells or more separators are seldom by chance. */
static void test_table__half_of_wide_rows_may_be_ragged(void **state)
{
    (void)state;
    static char rows[20 * 32];
    for (unsigned n_cells = 2; n_cells <= 6; n_cells++) /* before the last */
        for (unsigned n_ragged = 1; n_ragged <= 14; n_ragged++) {
            size_t size = 0;
            for (unsigned j = 0; j < 20; j++) {
                for (unsigned i = 0; i < n_cells; i++)
                    size += (size_t)sprintf(rows + size, "%u,", j);
                size += (size_t)sprintf(rows + size, j >= 20 - n_ragged ? "a,b\n" : "a\n");
            }
            const unsigned per_ragged = n_cells < 3 ? 8 : 2;
            const char expected = per_ragged * n_ragged <= 20 ? ',' : 0;
            if (table_sniff((uint8_t *)rows, size, true) != expected)
                fail_msg("%u separators, %u of 20 rows ragged", n_cells, n_ragged);
        }
}

/* There are few of them in what is looked at. */
static void test_table__one_long_row_is_ragged(void **state)
{
    (void)state;
    static char text[TEXT_MAX];
    size_t size = 0;
    for (unsigned row = 0; row < 20; row++)
        size += (size_t)sprintf(text + size, "%u,%0600u,%0600u%s\n", row, row, row,
                                row == 3 ? "," : "");
    assert_int_equal(table_sniff((uint8_t *)text, TEXT_SNIFF_BYTES, false), ',');
}

/* Prose has a space behind each separator, and not the same number of them in each line. */
static void test_table__spaces_are_behind_separators(void **state)
{
    (void)state;
    expect("a, b, c\n1, 2, 3\n4, 5, 6\n7, 8, 9\n", TEXT_TABLE, "a|b|c|\n1|2|3|\n4|5|6|\n7|8|9|\n");
    expect("a, b, c, d, e, f\n1, 2, 3, 4, 5, 6\n7, 8, 9, 1, 2, \"3, 4\"\n5, 6, 7, 8, 9, 1\n",
           TEXT_TABLE, "a|b|c|d|e|f|\n1|2|3|4|5|6|\n7|8|9|1|2|3, 4|\n5|6|7|8|9|1|\n");
    expect("a, b, c\n1, 2, 3\n4, 5, 6\n", TEXT_PLAIN, "");       /* too few */
    expect("a, b, c\n1, 2, 3\n4, 5, 6\n7, 8\n", TEXT_PLAIN, ""); /* not all the same */
    expect("a, b, c\n1, 2\n4, 5, 6\n7, 8, 9\n1, 2, 3\n", TEXT_PLAIN, "");
    expect("a, b\nc, d\ne, f\ng, h\ni, j\nk, l\nm, n\no, p\n", TEXT_PLAIN, ""); /* of two */
}

/* Of a row of more than nine cells not all pairs are features, and of one of more than 256 the rest
 * is another row; both cost what is in proportion to the cells. */
static void test_table__wide_rows_are_tables_too(void **state)
{
    (void)state;
    static struct feature_set set;
    static char text[TEXT_MAX];
    static const struct {
        unsigned n_cells, n_rows, n_features; /* of a row */
    } wide[] = {{10, 3, 50}, {100, 3, 500}, {256, 3, 5 * 256}, {300, 3, 5 * 300}};
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        size_t size = 0;
        for (unsigned j = 0; j < wide[i].n_cells * wide[i].n_rows; j++)
            size += (size_t)sprintf(text + size, "%u%c", j, (j + 1) % wide[i].n_cells ? ',' : '\n');
        struct canonical found = canonical_of(text, size, 0);
        assert_int_equal(found.form.type, TEXT_TABLE);
        read_set(&set, &found);
        assert_in_range(set.n, wide[i].n_features * wide[i].n_rows - 40,
                        wide[i].n_features * wide[i].n_rows);
        canonical_done(&found);
    }
}

/* A quotation that nobody ends swallows no more than a row's limit. */
static void test_table__an_open_quotation_ends_with_the_row(void **state)
{
    (void)state;
    static char text[100000];
    size_t size = (size_t)sprintf(text, "a,b,c\nd,e,f\ng,h,i\nj,k,l\n");
    while (size < TEXT_SNIFF_BYTES)
        size += (size_t)sprintf(text + size, "%zu,%zu,\n", size, size * 7);
    size_t quoted = size;
    size += (size_t)sprintf(text + size, "x,\"open,\n");
    size_t n_rows = 0;
    while (size < sizeof(text) - 100) {
        size += (size_t)sprintf(text + size, "%zu,%zu,\n", size, size * 7);
        n_rows += size > quoted + 2 * TABLE_CELL_MAX_BYTES;
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct canonical found = canonical_of(text, size, pieces[i]);
        assert_int_equal(found.form.type, TEXT_TABLE);
        assert_true(found.size / DIGEST_CHARACTERS > 3 * n_rows);
        canonical_done(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table__rows_are_features_however_written),
        cmocka_unit_test(test_table__cells_have_the_form_of_words),
        cmocka_unit_test(test_table__what_is_no_table_is_text),
        cmocka_unit_test(test_table__small_changes_are_small),
        cmocka_unit_test(test_table__another_table_of_this_header_is_another),
        cmocka_unit_test(test_table__few_rows_are_ragged),
        cmocka_unit_test(test_table__half_of_wide_rows_may_be_ragged),
        cmocka_unit_test(test_table__one_long_row_is_ragged),
        cmocka_unit_test(test_table__spaces_are_behind_separators),
        cmocka_unit_test(test_table__wide_rows_are_tables_too),
        cmocka_unit_test(test_table__an_open_quotation_ends_with_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
