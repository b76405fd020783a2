/* Families in an index without files. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_DOCUMENTS_FAMILY_WORLD_H
#define KINFS_TESTS_LIB_DOCUMENTS_FAMILY_WORLD_H

#include <stdbool.h>
#include <stdlib.h>

#include "tests/lib/documents/families.h"
#include "tests/lib/documents/fileless.h"
#include "tests/lib/scratch.h"

enum { FAMILY_WORLD_MAX = 64, FAMILY_WORLD_W = 5, FAMILY_WORLD_SEED = 5 };

struct family_world {
    char root[64];
    struct family plan[FAMILY_WORLD_MAX];
    size_t n_families;
    struct families *families;
    struct fileless *fileless;
    char *text;
    bool *is_there;
};

static inline void family_world_begin(struct family_world *world)
{
    scratch_make(world->root);
    assert_int_equal(families_new(FAMILY_WORLD_SEED, FAMILY_WORLD_W, world->plan, world->n_families,
                                  &world->families),
                     0);
    world->fileless = fileless_open(scratch_path(world->root, "index"));
    assert_int_equal(fileless_index(world->fileless)->policy.w, FAMILY_WORLD_W);
    world->text = malloc(FILELESS_AT_ONCE * families_most_bytes(world->families));
    world->is_there = calloc(families_n_documents(world->families), sizeof(bool));
    assert_true(world->text && world->is_there);
}

static inline void family_world_end(struct family_world *world)
{
    fileless_close(world->fileless);
    families_free(world->families);
    free(world->text);
    free(world->is_there);
    scratch_remove(world->root);
}

static inline void family_world_put(struct family_world *world, const uint32_t *numbers, size_t n,
                                    unsigned rewrites)
{
    struct fileless_text texts[FILELESS_AT_ONCE];
    char *text = world->text;
    for (size_t i = 0; i < n; i++) {
        texts[i] = (struct fileless_text){
            numbers[i], text, families_write(world->families, numbers[i], rewrites, text)};
        text += texts[i].n_bytes;
        world->is_there[numbers[i]] = true;
    }
    fileless_put(world->fileless, texts, n);
}

static inline void family_world_put_all(struct family_world *world)
{
    uint32_t numbers[FILELESS_AT_ONCE], n = families_n_documents(world->families);
    for (uint32_t at = 0; at < n;) {
        size_t n_numbers = 0;
        while (at < n && n_numbers < FILELESS_AT_ONCE)
            numbers[n_numbers++] = at++;
        family_world_put(world, numbers, n_numbers, 0);
    }
}

static inline void family_world_add(struct family_world *world, struct family family, unsigned n,
                                    unsigned n_heads)
{
    for (unsigned i = 0; i < n; i++) {
        family.head = n_heads ? 1 + i % n_heads : 0;
        world->plan[world->n_families++] = family;
    }
}

#endif
