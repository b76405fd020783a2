/* A hash table with open addressing and linear probing, at most half full: numbers are fingerprints
 * by a secret, so their low bits are the hash. */
#include "tools/documents/spellings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

struct spelling {
    uint64_t number;
    char *text; /* NULL: nothing is here */
};

static struct spelling *find(const struct spellings *spellings, uint64_t number)
{
    size_t at = number & (spellings->n_slots - 1);
    while (spellings->slots[at].text && spellings->slots[at].number != number)
        at = (at + 1) & (spellings->n_slots - 1);
    return &spellings->slots[at];
}

static int grow(struct spellings *spellings)
{
    struct spellings larger = {
        .n = spellings->n, .n_slots = spellings->n_slots ? 2 * spellings->n_slots : FIRST_SLOTS};
    larger.slots = calloc(larger.n_slots, sizeof(struct spelling));
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < spellings->n_slots; i++)
        if (spellings->slots[i].text)
            *find(&larger, spellings->slots[i].number) = spellings->slots[i];
    free(spellings->slots);
    *spellings = larger;
    return 0;
}

int spellings_add(struct spellings *spellings, uint64_t number, const void *text, size_t size_bytes)
{
    if (2 * spellings->n >= spellings->n_slots && grow(spellings) < 0)
        return -ENOMEM;
    struct spelling *spelling = find(spellings, number);
    if (spelling->text)
        return 0;
    char *copy = strndup(text, size_bytes);
    if (!copy)
        return -ENOMEM;
    *spelling = (struct spelling){number, copy};
    spellings->n++;
    return 0;
}

const char *spellings_of(const struct spellings *spellings, uint64_t number)
{
    return spellings->n_slots ? find(spellings, number)->text : NULL;
}

void spellings_done(struct spellings *spellings)
{
    for (size_t i = 0; i < spellings->n_slots; i++)
        free(spellings->slots[i].text);
    free(spellings->slots);
    *spellings = (struct spellings){0};
}
