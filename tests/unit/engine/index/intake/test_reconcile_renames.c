/* Names that go beside names that were put just before: whose document lives on. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/documents/fileless.h"
#include "tests/lib/scratch.h"

enum { N = 200 }; /* more than are looked at at once, in three directories */

struct name {
    char name[32];
};

struct world {
    char directory[64];
    struct fileless *fileless;
    struct index *index;
    struct name old[N], new[N];
    struct catalogue_entry going[N], put[N];
};

static void open_world(struct world *world)
{
    memset(world, 0, sizeof(*world));
    scratch_make(world->directory);
    world->fileless = fileless_open(world->directory);
    world->index = fileless_index(world->fileless);
    for (uint32_t i = 0; i < N; i++) {
        char text[400];
        size_t n_bytes = 0;
        for (unsigned k = 0; k < 40; k++)
            n_bytes += (size_t)sprintf(text + n_bytes, "w%u ", i / 3 * 1000 + k);
        fileless_put(world->fileless,
                     &(struct fileless_text){.number = i, .text = text, .n_bytes = n_bytes}, 1);
        sprintf(world->old[i].name, "%u.txt", i);
        sprintf(world->new[i].name, "new-%u.txt", i);
        world->going[i] = (struct catalogue_entry){fileless_directory(i), fileless_key(i),
                                                   ENTRY_FILE, world->old[i].name};
        world->put[i] = world->going[i];
        world->put[i].name = world->new[i].name;
    }
}

static void close_world(struct world *world)
{
    fileless_close(world->fileless);
    scratch_remove(world->directory);
}

static void put(struct world *world, const struct catalogue_entry *entry)
{
    struct tree_entry tree = {.key = entry->child, .type = ENTRY_FILE};
    assert_int_equal(reconcile_put(world->index, &entry->parent, entry->name, &tree), 1);
}

static bool has_name(struct world *world, const struct catalogue_entry *entry)
{
    struct file_key child;
    enum entry_type type;
    int r = catalogue_get(world->index->kv, &entry->parent, entry->name, &child, &type);
    assert_true(r == 0 || r == -ENOENT);
    return r == 0 && file_key_equal(&child, &entry->child);
}

static bool lives(struct world *world, uint32_t number)
{
    struct file_key key = fileless_key(number);
    struct file_row row;
    int r = catalogue_get_file(world->index->kv, &key, &row);
    assert_true(r == 0 || r == -ENOENT);
    return r == 0 && row.sid;
}

static void test_reconcile_renames__who_is_renamed_lives_on(void **state)
{
    struct world world;
    (void)state;

    open_world(&world);
    for (uint32_t i = 0; i < N; i += 2) /* every other one, and is told; of the others nobody is */
        put(&world, &world.put[i]);
    assert_int_equal(reconcile_remove_all(world.index, world.going, N, world.put, N), 0);
    for (uint32_t i = 0; i < N; i++) {
        assert_false(has_name(&world, &world.going[i]));
        assert_int_equal(has_name(&world, &world.put[i]), i % 2 == 0);
        struct file_key key = fileless_key(i);
        struct file_row row;
        assert_int_equal(catalogue_get_file(world.index->kv, &key, &row), i % 2 == 0 ? 0 : -ENOENT);
    }
    assert_int_equal(world.index->counts.n_documents, N / 2);
    close_world(&world);
}

static void test_reconcile_renames__a_name_nobody_told_of_is_found(void **state)
{
    struct world world;
    (void)state;

    open_world(&world);
    for (uint32_t i = 0; i < N; i += 2)
        put(&world, &world.put[i]);
    assert_int_equal(reconcile_remove_all(world.index, world.going, N, NULL, 0), 0);
    for (uint32_t i = 0; i < N; i++) {
        struct file_key key = fileless_key(i);
        struct file_row row;
        assert_int_equal(catalogue_get_file(world.index->kv, &key, &row), i % 2 == 0 ? 0 : -ENOENT);
    }
    close_world(&world);
}

/* What was said of a name may not be so any more. */
static void test_reconcile_renames__what_was_put_is_looked_at(void **state)
{
    struct world world;
    (void)state;

    open_world(&world);
    put(&world, &world.put[1]); /* a name of 1 that 2 is said to have */
    struct catalogue_entry said[] = {
        world.put[0],
        world.going[5],
        world.put[1],
        world.going[3],
    };
    said[1].child = world.going[4].child; /* another's name; its own name that goes; */
    said[2].child = world.going[2].child;
    struct catalogue_entry going[] = {world.going[0], world.going[2], world.going[3],
                                      world.going[4]};
    assert_int_equal(reconcile_remove_all(world.index, going, 4, said, 4), 0);
    assert_false(lives(&world, 0));
    assert_true(lives(&world, 1));
    assert_false(lives(&world, 2));
    assert_false(lives(&world, 3));
    assert_false(lives(&world, 4));
    assert_int_equal(world.index->counts.n_documents, N - 4);
    close_world(&world);
}

/* The old name goes and the new one with it. */
static void test_reconcile_renames__two_names_that_both_go(void **state)
{
    struct world world;
    (void)state;

    open_world(&world);
    put(&world, &world.put[7]);
    struct catalogue_entry going[] = {world.going[7], world.put[7]};
    assert_int_equal(reconcile_remove_all(world.index, going, 2, &world.put[7], 1), 0);
    assert_false(has_name(&world, &world.going[7]));
    assert_false(has_name(&world, &world.put[7]));
    assert_false(lives(&world, 7));
    assert_int_equal(world.index->counts.n_documents, N - 1);
    close_world(&world);
}

/* Of one document with very many names all go but one, or all: more than are looked at at once. */
static void test_reconcile_renames__of_many_names_all_go_but_one(void **state)
{
    enum { MANY = 200 };
    struct world world;
    struct catalogue_entry names[MANY];
    struct name texts[MANY];
    (void)state;

    open_world(&world);
    for (unsigned i = 0; i < MANY; i++) {
        names[i] = world.going[7];
        names[i].name = texts[i].name;
        sprintf(texts[i].name, "%u many", i);
    }
    static const unsigned stays[] = {0, MANY / 2, MANY - 1, MANY};
    for (unsigned k = 0; k < sizeof(stays) / sizeof(stays[0]); k++) {
        struct catalogue_entry going[MANY + 1];
        size_t n = 0;
        for (unsigned i = 0; i < MANY; i++) {
            if (!has_name(&world, &names[i]))
                put(&world, &names[i]);
            if (i != stays[k])
                going[n++] = names[i];
        }
        if (k == 0)
            going[n++] = world.going[7];
        assert_int_equal(reconcile_remove_all(world.index, going, n, NULL, 0), 0);
        for (unsigned i = 0; i < MANY; i++)
            assert_int_equal(has_name(&world, &names[i]), i == stays[k]);
        assert_int_equal(lives(&world, 7), stays[k] < MANY);
    }
    assert_int_equal(world.index->counts.n_documents, N - 1);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reconcile_renames__who_is_renamed_lives_on),
        cmocka_unit_test(test_reconcile_renames__a_name_nobody_told_of_is_found),
        cmocka_unit_test(test_reconcile_renames__what_was_put_is_looked_at),
        cmocka_unit_test(test_reconcile_renames__two_names_that_both_go),
        cmocka_unit_test(test_reconcile_renames__of_many_names_all_go_but_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
