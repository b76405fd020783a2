/* A document is a row of slots of w words: w - 1 words as they come in any text, and one, the
 * marker, that stands for (cluster, variant, slot) by a bijection and so is in no other slot of any
 * document but of those that have this slot in common. At the end the marker of the end stands w
 * times. A window of w words that begins in a slot holds that slot's marker and no other slot's,
 * but maybe some of the end, and where in the window the marker stands tells where it begins: so a
 * document of T slots has exactly T w + 1 different shingles, of which one is the end.
 *
 *   a a a a A | b b b b B | c c c c C | Z Z Z Z Z       w = 5, T = 3, 16 shingles
 *
 * A substitution replaces a slot's marker by one of another variant: w shingles go, w new ones
 * come, the slots beside it keep theirs. With `same` of T slots in common two documents have N - w
 * x of N shingles in common, x = T - same, and r = (N - w x) / (N + w x).
 *
 * Repeating the end more than w times changes the text and no shingle. Behind a whole document,
 * its end included, there may follow a marker, further slots and another end: everything the
 * document had is in it, and (E + 1) w + 1 shingles more. A text that begins documents of many
 * clusters is K slots with markers of its own; two clusters have (K - 1) w + 1 of its shingles in
 * common (the windows that reach into what follows differ).
 *
 * Which slots an edited copy changes is a permutation s -> a s + b mod S of a prime number of
 * slots: the first x of it. A chain changes d slots with each version, by one permutation, so that
 * version v is determined by v d, the number of changes so far.
 */
#include "tests/lib/documents/planted.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mix.h"

enum {
    N_WORDS = 8192,
    N_DRAWS = 65536, /* words as often as they are to come */
    WORD_MAX_BYTES = 10,
    MARKER_BYTES = 16,
    N_BOILERPLATES = 64,
    BOILERPLATE_SLOTS = 3,
    EXTRA_SLOTS_MAX = 40,
    REPEATS_MAX = 5,
    MARKUP_BYTES = 32, /* of a slot; and of all, HEAD_BYTES */
    HEAD_BYTES = 128,
    SLOT_END = 4095, /* instead of the number of a slot */
    SLOT_AFTER_END = 4094,
    MOST_CHANGES = 1 << 19, /* of a chain: a variant has 20 bits */
};

/* How many slots a document may have, and one twice as long. */
static const uint8_t primes[] = {11, 17, 23, 31, 37, 41, 43, 47, 53, 59, 61, 67, 73, 83, 89};
static const uint8_t longer_primes[] = {23,  37,  47,  61,  73,  83,  89, 97,
                                        107, 113, 127, 137, 149, 167, 179};

struct word {
    char text[15];
    uint8_t length;
};

/* Clusters of one flavour and size: the documents from first_place on, in the order of places. */
struct size_class {
    uint32_t first_place, first_cluster, size;
    bool identical;
};

struct planted {
    uint64_t seed;
    uint32_t n_documents, w;
    const uint8_t *primes;
    unsigned half_bits; /* of a place */
    struct size_class *classes;
    size_t n_classes;
    uint16_t draws[N_DRAWS];
    struct word words[N_WORDS];
};

_Static_assert(sizeof(primes) == sizeof(longer_primes), "one way to choose");

enum purpose { OF_FEISTEL, OF_CLUSTER, OF_MEMBER, OF_TWIN, OF_FILLER, OF_MARKER, OF_WORD };

static inline uint64_t draw(const struct planted *planted, enum purpose purpose, uint64_t a,
                            uint64_t b)
{
    return mix64(mix64(mix64(planted->seed + purpose) + a) + b * 0x9e3779b97f4a7c15u);
}

static double share(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

/* -- which clusters there are -- */

static double power_mean(double exponent, uint32_t most)
{
    double sum = 0, documents = 0;
    for (uint32_t k = 2; k <= most; k++) {
        double p = pow(k, -exponent);
        sum += p;
        documents += k * p;
    }
    return documents / sum;
}

/* The exponent for which sizes 2 to most have this mean. */
static double fit_exponent(double mean, uint32_t most)
{
    double low = 0.5, high = 8;
    for (unsigned i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (power_mean(middle, most) > mean)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int add_class(struct planted *planted, uint32_t *place, uint32_t *cluster, uint32_t size,
                     uint32_t n, bool identical)
{
    struct size_class *classes =
        reallocarray(planted->classes, planted->n_classes + 1, sizeof(*classes));
    if (!classes)
        return -ENOMEM;
    planted->classes = classes;
    classes[planted->n_classes++] = (struct size_class){*place, *cluster, size, identical};
    *place += size * n;
    *cluster += n;
    return 0;
}

/* So many clusters as of 30 million documents, of sizes by a power law. */
static int add_sizes(struct planted *planted, uint32_t *place, uint32_t *cluster, double clusters,
                     double documents, uint32_t most, bool identical)
{
    double scale = planted->n_documents / 30e6, mean = documents / clusters;
    double exponent = fit_exponent(mean, most), sum = 0, part = 0;
    uint64_t before = 0;
    for (uint32_t k = 2; k <= most; k++)
        sum += pow(k, -exponent);
    for (uint32_t k = 2; k <= most; k++) {
        part += pow(k, -exponent);
        uint64_t until = (uint64_t)(clusters * scale * part / sum + 0.5);
        uint32_t n = (uint32_t)(until - before);
        before = until;
        if (n > 0 && (uint64_t)*place + (uint64_t)n * k <= planted->n_documents &&
            add_class(planted, place, cluster, k, n, identical) < 0)
            return -ENOMEM;
    }
    return 0;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static int add_clusters(struct planted *planted)
{
    uint32_t n = planted->n_documents, place = 0, cluster = 0;
    int r = add_sizes(planted, &place, &cluster, 2.1e6, 5.3e6, at_most(n / 1000 + 8, 10000), true);
    if (r == 0)
        r = add_sizes(planted, &place, &cluster, 1.5e6, 7e6, at_most(n / 100 + 16, 100000), false);
    if (r == 0)
        r = add_class(planted, &place, &cluster, 1, n - place, false);
    return r;
}

/* -- words -- */

static void make_words(struct planted *planted)
{
    double sum = 0, part = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < N_WORDS; i++)
        sum += 1 / (i + 2.7);
    for (uint32_t i = 0; i < N_WORDS; i++) {
        struct word *word = &planted->words[i];
        uint64_t x = draw(planted, OF_WORD, i, 0);
        unsigned rarity = i < 16 ? 0 : i < 256 ? 2 : i < 2048 ? 4 : 6;
        word->length = (uint8_t)(2 + rarity / 2 + x % (rarity + 2));
        if (word->length > WORD_MAX_BYTES)
            word->length = WORD_MAX_BYTES;
        for (unsigned c = 0; c < word->length; c++, x /= 26)
            word->text[c] = (char)('a' + x % 26);
        word->text[word->length++] = ' ';
        part += 1 / (i + 2.7);
        for (uint32_t until = (uint32_t)(N_DRAWS * part / sum); at < until && at < N_DRAWS;)
            planted->draws[at++] = (uint16_t)i;
    }
    while (at < N_DRAWS)
        planted->draws[at++] = 0;
}

static int new_of(uint64_t seed, uint32_t n_documents, unsigned w, const uint8_t *of_primes,
                  struct planted **ret_planted)
{
    if (n_documents < 2 || n_documents > INT32_MAX || w < 1 || w > 64)
        return -EINVAL;
    _cleanup_(planted_free_p) struct planted *planted = calloc(1, sizeof(*planted));
    if (!planted)
        return -ENOMEM;
    planted->seed = seed;
    planted->n_documents = n_documents;
    planted->w = w;
    planted->primes = of_primes;
    while ((uint64_t)1 << (2 * planted->half_bits) < n_documents)
        planted->half_bits++;
    make_words(planted);
    int r = add_clusters(planted);
    if (r < 0)
        return r;
    *ret_planted = TAKE_PTR(planted);
    return 0;
}

int planted_new(uint64_t seed, uint32_t n_documents, unsigned w, struct planted **ret_planted)
{
    return new_of(seed, n_documents, w, primes, ret_planted);
}

int planted_new_longer(uint64_t seed, uint32_t n_documents, unsigned w,
                       struct planted **ret_planted)
{
    return new_of(seed, n_documents, w, longer_primes, ret_planted);
}

void planted_free(struct planted *planted)
{
    if (!planted)
        return;
    free(planted->classes);
    free(planted);
}

/* -- numbers and places: a Feistel network over the next power of four, walked until in range -- */

static uint32_t feistel(const struct planted *planted, uint32_t x, bool back)
{
    unsigned bits = planted->half_bits;
    uint32_t mask = ((uint32_t)1 << bits) - 1;
    do {
        uint32_t left = x >> bits, right = x & mask;
        for (unsigned i = 0; i < 4; i++) {
            unsigned round = back ? 3 - i : i;
            uint32_t *from = (round & 1) ? &left : &right, *to = (round & 1) ? &right : &left;
            *to ^= (uint32_t)draw(planted, OF_FEISTEL, round, *from) & mask;
        }
        x = left << bits | right;
    } while (x >= planted->n_documents);
    return x;
}

static const struct size_class *class_of(const struct planted *planted, uint32_t value,
                                         bool by_cluster)
{
    size_t low = 0, high = planted->n_classes;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        const struct size_class *class = &planted->classes[middle];
        if ((by_cluster ? class->first_cluster : class->first_place) <= value)
            low = middle;
        else
            high = middle;
    }
    return &planted->classes[low];
}

uint32_t planted_number(const struct planted *planted, uint32_t cluster, uint32_t member)
{
    const struct size_class *class = class_of(planted, cluster, true);
    uint32_t place = class->first_place + (cluster - class->first_cluster) * class->size + member;
    return feistel(planted, place, true);
}

/* -- what a document is -- */

/* Slots to change for a resemblance r to the first document. */
static uint32_t changes_for(uint32_t n_slots, double r)
{
    uint32_t x = (uint32_t)(n_slots * (1 - r) / (1 + r) + 0.5);
    return x ? x : 1;
}

/* Of the documents of a cluster all begin with the same text or none, the first of them often. */
static uint32_t boilerplate_of(uint64_t x)
{
    if (share(x) >= 0.3)
        return 0;
    double u = share(mix64(x));
    return 1 + (uint32_t)(N_BOILERPLATES * u * u * u);
}

/* Follow the copies of copies to what they are copies of. */
static void find_source(const struct planted *planted, struct planted_document *document)
{
    uint32_t member = document->member;
    bool form_known = false;
    while (member > 1) { /* 1 is always an edited copy: else all might be identical */
        uint64_t x = draw(planted, OF_MEMBER, document->cluster, member);
        uint32_t twin = (uint32_t)(draw(planted, OF_TWIN, document->cluster, member) % member);
        double u = share(x);
        if (u >= 0.38)
            break;
        if (u >= 0.33 && !document->n_repeats)
            document->n_repeats = 1 + x % REPEATS_MAX;
        if (u >= 0.25 && u < 0.33 && !form_known) {
            document->form = (document->form + 1 + x % 2) % PLANTED_N_FORMS;
            form_known = true;
        }
        member = twin;
    }
    document->source = member;
    if (member == 0)
        return;
    uint64_t x = draw(planted, OF_MEMBER, document->cluster, member);
    if (member > 1 && share(x) < 0.42)
        document->n_extra = 1 + x % EXTRA_SLOTS_MAX;
    else
        document->n_changed = changes_for(document->n_slots, 0.5 + 0.49 * share(mix64(x)));
}

void planted_describe(const struct planted *planted, uint32_t number,
                      struct planted_document *ret_document)
{
    uint32_t place = feistel(planted, number, false);
    const struct size_class *class = class_of(planted, place, false);
    uint32_t within = place - class->first_place;
    struct planted_document document = {
        .number = number,
        .cluster = class->first_cluster + within / class->size,
        .member = within % class->size,
        .cluster_size = class->size,
    };
    uint64_t x = draw(planted, OF_CLUSTER, document.cluster, 0);
    document.n_slots = planted->primes[x % sizeof(primes)];
    document.form = x >> 32 & 1 ? PLANTED_HTML : PLANTED_PLAIN;
    document.boilerplate = boilerplate_of(mix64(x));
    document.source = document.member;
    if (class->identical || class->size == 1) {
        document.flavour = class->identical ? PLANTED_IDENTICAL : PLANTED_SINGLE;
        document.source = 0;
    } else if (share(mix64(x + 1)) < 0.2 && class->size < MOST_CHANGES / 64) {
        document.flavour = PLANTED_CHAIN;
        uint32_t step = changes_for(document.n_slots, 0.6 + 0.38 * share(mix64(x + 2)));
        document.n_changed = document.member * step;
    } else {
        document.flavour = PLANTED_EDITED;
        find_source(planted, &document);
    }
    *ret_document = document;
}

uint32_t planted_parent(const struct planted_document *document)
{
    if (document->flavour == PLANTED_CHAIN && document->member > 0)
        return document->member - 1;
    return 0;
}

/* Which variant of a slot a document has; 0 is the first document's. */
static uint32_t variant_of(const struct planted *planted, const struct planted_document *document,
                           uint32_t slot)
{
    if (document->n_changed == 0)
        return 0;
    uint32_t n = document->n_slots;
    bool chain = document->flavour == PLANTED_CHAIN;
    uint64_t x = draw(planted, OF_TWIN, document->cluster, chain ? 0 : document->source);
    uint32_t a = 1 + (uint32_t)x % (n - 1), b = (uint32_t)(x >> 32) % n;
    uint32_t rank = (a * slot + b) % n;
    if (!chain)
        return rank < document->n_changed ? document->source : 0;
    if (rank >= document->n_changed)
        return 0;
    return 1 + rank + (document->n_changed - 1 - rank) / n * n; /* the last change of this slot */
}

/* -- its text -- */

struct writer {
    const struct planted *planted;
    char *at;
};

static uint64_t letters_of(uint32_t x) /* 8 of them, from a to p */
{
    uint64_t spread = x;
    spread = (spread | spread << 16) & 0x0000ffff0000ffffu;
    spread = (spread | spread << 8) & 0x00ff00ff00ff00ffu;
    spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0fu;
    return spread + 0x6161616161616161u;
}

static inline void write_marker(struct writer *writer, uint32_t cluster, uint32_t variant,
                                uint32_t slot)
{
    uint64_t id = (uint64_t)cluster << 32 | (uint64_t)variant << 12 | slot;
    uint64_t marker = mix64(id + mix64(writer->planted->seed + OF_MARKER));
    uint64_t letters[2] = {letters_of((uint32_t)marker), letters_of((uint32_t)(marker >> 32))};
    memcpy(writer->at, letters, MARKER_BYTES);
    writer->at[MARKER_BYTES] = ' ';
    writer->at += MARKER_BYTES + 1;
}

static inline void write_slot(struct writer *writer, bool html, uint32_t cluster, uint32_t variant,
                              uint32_t slot, uint32_t of_fillers)
{
    const struct planted *planted = writer->planted;
    uint64_t x = draw(planted, OF_FILLER, cluster, (uint64_t)of_fillers << 12 | slot);
    if (html) {
        memcpy(writer->at, "<p class=\"text\">", 16);
        writer->at += 16;
    }
    char *at = writer->at;
    uint64_t four = 0;
    for (uint32_t i = 0; i + 1 < planted->w; i++) {
        if (i % 4 == 0)
            four = mix64_next(&x);
        const struct word *word = &planted->words[planted->draws[four & 0xffff]];
        memcpy(at, word, sizeof(*word));
        at += word->length;
        four >>= 16;
    }
    writer->at = at;
    write_marker(writer, cluster, variant, slot);
    if (html) {
        memcpy(writer->at - 1, "</p>", 4);
        writer->at += 4;
    }
    writer->at[-1] = '\n';
}

static void write_text(struct writer *writer, const char *text)
{
    size_t size = strlen(text);
    memcpy(writer->at, text, size);
    writer->at += size;
}

static void write_end(struct writer *writer, uint32_t cluster, uint32_t variant, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        write_marker(writer, cluster, variant, SLOT_END);
    writer->at[-1] = '\n';
}

size_t planted_write(const struct planted *planted, const struct planted_document *document,
                     char *out)
{
    struct writer writer = {planted, out};
    uint32_t cluster = document->cluster, n = document->n_slots;
    bool html = document->form == PLANTED_HTML;
    if (html)
        write_text(&writer, "<!DOCTYPE html>\n<html><head><title></title></head>\n<body>\n");
    for (uint32_t i = 0; document->boilerplate && i < BOILERPLATE_SLOTS; i++)
        write_slot(&writer, html, UINT32_MAX - document->boilerplate, 0, i, 0);
    for (uint32_t i = 0; i < n; i++)
        write_slot(&writer, html, cluster, variant_of(planted, document, i), i, 0);
    write_end(&writer, cluster, 0, planted->w + (document->n_extra ? 0 : document->n_repeats));
    if (document->n_extra) {
        write_marker(&writer, cluster, document->source, SLOT_AFTER_END);
        for (uint32_t i = 0; i < document->n_extra; i++)
            write_slot(&writer, html, cluster, document->source, n + i, document->source);
        write_end(&writer, cluster, document->source, planted->w + document->n_repeats);
    }
    if (html)
        write_text(&writer, "</body></html>\n");
    size_t size = (size_t)(writer.at - out);
    if (document->form == PLANTED_UPPER)
        for (size_t i = 0; i < size; i++)
            out[i] = (char)(out[i] - (out[i] >= 'a' && out[i] <= 'z' ? 'a' - 'A' : 0));
    return size;
}

size_t planted_most_bytes(const struct planted *planted)
{
    size_t slots = planted->primes[sizeof(primes) - 1] + BOILERPLATE_SLOTS + EXTRA_SLOTS_MAX;
    size_t slot = (planted->w - 1) * (WORD_MAX_BYTES + 1) + MARKER_BYTES + 1 + MARKUP_BYTES;
    size_t ends = 2 * (planted->w + REPEATS_MAX + 1) * (MARKER_BYTES + 1);
    return slots * slot + ends + HEAD_BYTES;
}

/* -- what two of them have in common -- */

static uint32_t n_shingles(const struct planted *planted, const struct planted_document *document)
{
    uint32_t slots = document->n_slots + (document->boilerplate ? BOILERPLATE_SLOTS : 0);
    uint32_t after = document->n_extra ? (document->n_extra + 1) * planted->w + 1 : 0;
    return slots * planted->w + 1 + after;
}

struct planted_shingles planted_compare(const struct planted *planted,
                                        const struct planted_document *a,
                                        const struct planted_document *b)
{
    uint32_t w = planted->w;
    struct planted_shingles shingles = {n_shingles(planted, a), n_shingles(planted, b), 0};
    if (a->cluster != b->cluster) {
        if (a->boilerplate && a->boilerplate == b->boilerplate)
            shingles.both = (BOILERPLATE_SLOTS - 1) * w + 1;
        return shingles;
    }
    uint32_t same = a->boilerplate ? BOILERPLATE_SLOTS : 0;
    for (uint32_t i = 0; i < a->n_slots; i++)
        same += variant_of(planted, a, i) == variant_of(planted, b, i);
    shingles.both = same * w + 1;
    if (a->n_extra && a->source == b->source)
        shingles.both = shingles.a;
    return shingles;
}

double planted_resemblance(const struct planted *planted, const struct planted_document *a,
                           const struct planted_document *b)
{
    struct planted_shingles shingles = planted_compare(planted, a, b);
    return (double)shingles.both / (shingles.a + shingles.b - shingles.both);
}

struct planted_check planted_check(const struct planted *planted, const uint32_t *clusters,
                                   double at_least)
{
    struct planted_check check = {0};
    for (uint32_t i = 0; i < planted->n_documents; i++) {
        struct planted_document document, first, parent;
        planted_describe(planted, i, &document);
        if (clusters[i] != i) {
            planted_describe(planted, clusters[i], &first);
            check.n_wrong += first.cluster != document.cluster;
        }
        uint32_t other = planted_number(planted, document.cluster, planted_parent(&document));
        if (other == i)
            continue;
        planted_describe(planted, other, &parent);
        if (planted_resemblance(planted, &document, &parent) < at_least)
            continue;
        check.n_links++;
        check.n_found += clusters[i] == clusters[other];
    }
    return check;
}
