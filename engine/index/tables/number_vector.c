#include "engine/index/tables/number_vector.h"

#include <errno.h>
#include <stdlib.h>

#include "base/room.h"

int number_vector_push(struct number_vector *vector, uint64_t number)
{
    if (!MAKE_ROOM(vector->numbers, vector->capacity, vector->n_numbers + 1))
        return -ENOMEM;
    vector->numbers[vector->n_numbers++] = number;
    return 0;
}

int number_vector_push_set(struct number_vector *vector, uint64_t number)
{
    if (vector->n_numbers == vector->capacity) {
        number_vector_sort_unique(vector);
        if (vector->n_numbers >= vector->capacity / 2 &&
            !MAKE_ROOM(vector->numbers, vector->capacity, vector->capacity + 1))
            return -ENOMEM;
    }
    vector->numbers[vector->n_numbers++] = number;
    return 0;
}

int number_vector_make_room(struct number_vector *vector, size_t n)
{
    if (n <= vector->capacity - vector->n_numbers)
        return 0;
    number_vector_sort_unique(vector);
    const size_t capacity = vector->n_numbers ? 2 * (vector->n_numbers + n) : n;
    if (capacity <= vector->capacity)
        return 0;
    uint64_t *larger = reallocarray(vector->numbers, capacity, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    vector->numbers = larger;
    vector->capacity = capacity;
    return 0;
}

/* The sids of one posting list come ascending. */
static bool is_ascending(const struct number_vector *vector)
{
    for (size_t i = 1; i < vector->n_numbers; i++)
        if (vector->numbers[i] <= vector->numbers[i - 1])
            return false;
    return true;
}

/* The sids that were noted in memory come descending, the latest first. */
static bool sort_descending(struct number_vector *vector)
{
    const size_t n = vector->n_numbers;

    for (size_t i = 1; i < n; i++)
        if (vector->numbers[i] >= vector->numbers[i - 1])
            return false;
    for (size_t i = 0; i < n / 2; i++) {
        const uint64_t number = vector->numbers[i];
        vector->numbers[i] = vector->numbers[n - 1 - i];
        vector->numbers[n - 1 - i] = number;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique_by_comparing(struct number_vector *vector)
{
    size_t n = 0;
    qsort(vector->numbers, vector->n_numbers, sizeof(*vector->numbers), compare);
    for (size_t i = 1; i < vector->n_numbers; i++)
        if (vector->numbers[i] != vector->numbers[n])
            vector->numbers[++n] = vector->numbers[i];
    vector->n_numbers = n + 1;
}

/* Sids are counted up, so those of long posting lists stand close together: a bit for each of their
 * range, set and read off. Returns false, with nothing changed, when that is too wide. */
static bool sort_unique_by_bits(struct number_vector *vector)
{
    enum { WORTH_IT = 256, BITS = 64 };
    uint64_t min = UINT64_MAX, max = 0;

    if (vector->n_numbers < WORTH_IT)
        return false;
    for (size_t i = 0; i < vector->n_numbers; i++) {
        uint64_t number = vector->numbers[i];
        min = number < min ? number : min;
        max = number > max ? number : max;
    }
    uint64_t n_words = (max - min) / BITS + 1;
    uint64_t *words = n_words <= vector->n_numbers ? calloc(n_words, sizeof(*words)) : NULL;
    if (!words)
        return false;
    for (size_t i = 0; i < vector->n_numbers; i++) {
        uint64_t at = vector->numbers[i] - min;
        words[at / BITS] |= UINT64_C(1) << at % BITS;
    }
    vector->n_numbers = 0;
    for (uint64_t i = 0; i < n_words; i++)
        for (uint64_t word = words[i]; word; word &= word - 1)
            vector->numbers[vector->n_numbers++] = min + i * BITS + (uint64_t)__builtin_ctzll(word);
    free(words);
    return true;
}

void number_vector_sort_unique(struct number_vector *vector)
{
    if (!is_ascending(vector) && !sort_descending(vector) && !sort_unique_by_bits(vector))
        sort_unique_by_comparing(vector);
}

int number_vector_merge(const struct number_vector *a, const struct number_vector *b, size_t most,
                        struct number_vector *ret_merged)
{
    size_t n = a->n_numbers + b->n_numbers < most ? a->n_numbers + b->n_numbers : most, i = 0,
           k = 0, at = 0;
    uint64_t *numbers = malloc((n + 1) * sizeof(*numbers));

    if (!numbers)
        return -ENOMEM;
    while (at < n && (i < a->n_numbers || k < b->n_numbers)) {
        const bool of_b = i == a->n_numbers || (k < b->n_numbers && b->numbers[k] < a->numbers[i]);
        const uint64_t number = of_b ? b->numbers[k] : a->numbers[i];
        i += i < a->n_numbers && a->numbers[i] == number;
        k += k < b->n_numbers && b->numbers[k] == number;
        numbers[at++] = number;
    }
    *ret_merged = (struct number_vector){numbers, at, n + 1};
    return 0;
}

bool number_vector_has(const struct number_vector *vector, uint64_t number)
{
    for (size_t i = 0; i < vector->n_numbers; i++)
        if (vector->numbers[i] == number)
            return true;
    return false;
}

size_t number_vector_place(const struct number_vector *vector, uint64_t number)
{
    size_t low = 0, high = vector->n_numbers;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vector->n_numbers && vector->numbers[low] == number ? low : SIZE_MAX;
}

bool number_vector_finds(const struct number_vector *vector, uint64_t number)
{
    return number_vector_place(vector, number) != SIZE_MAX;
}

void number_vector_done(struct number_vector *vector)
{
    free(vector->numbers);
    *vector = (struct number_vector){0};
}
