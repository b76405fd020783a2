#include "tests/lib/histories/cluster_world_private.h"
#include "tests/lib/stores/kv_memory.h"

uint64_t world_random(struct world *world, uint64_t n)
{
    return mix64_next(&world->random) % n;
}

static void world_add_remade(struct world *world, unsigned i)
{
    struct remade **remades = world->remades[i];
    const unsigned number = world->named[i];
    assert_int_equal(remade_open(world->kv, number, &remades[0]), 0);
    assert_int_equal(remade_open(world->inner, number, &remades[1]), 0);
    assert_int_equal(living_clusters_add(world->clusters, number, remades[0]), 0);
    assert_int_equal(living_clusters_add(world->reader, number, remades[1]), 0);
}

void world_start(struct world *world, const struct kv_fault_plan *plan)
{
    static const unsigned tables[POSTINGS_N_TIERS] = {TABLE_TIER_R, TABLE_TIER_C};

    assert_int_equal(kv_fault_open(world->inner, plan, &world->kv), 0);
    kv_be_patient(world->kv);
    assert_int_equal(records_open(world->kv, WORLD_RECORDS_BYTES, &world->records), 0);
    assert_int_equal(records_open(world->inner, 0, &world->reader_records), 0);
    assert_int_equal(postings_open(world->kv, tables, WORLD_POSTINGS, &world->postings), 0);
    assert_int_equal(living_clusters_open(world->kv, world->records, world->postings,
                                          WORLD_THRESHOLD, &world->bounds, &world->clusters),
                     0);
    assert_int_equal(living_clusters_open(world->inner, world->reader_records, world->postings,
                                          WORLD_THRESHOLD, NULL, &world->reader),
                     0);
    for (unsigned i = 0; i < world->n_named; i++)
        world_add_remade(world, i);
}

void world_stop(struct world *world)
{
    living_clusters_close(world->reader);
    living_clusters_close(world->clusters);
    for (unsigned i = 0; i < world->n_named; i++)
        for (unsigned k = 0; k < 2; k++) {
            remade_close(world->remades[i][k]);
            world->remades[i][k] = NULL;
        }
    postings_close(world->postings);
    records_close(world->records);
    records_close(world->reader_records);
    kv_close(world->kv);
}

static bool has_long_lists(uint64_t seed)
{
    return seed < WORLD_DIVIDED ? seed >= WORLD_LONG_LISTS : seed / 2 % 2;
}

void world_open(struct world *world, uint64_t seed, const struct kv_fault_plan *plan)
{
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};

    *world = (struct world){.random = seed,
                            .fresh = WORLD_FRESH,
                            .bounds = {.whole = seed < WORLD_DIVIDED,
                                       .most_compared = has_long_lists(seed) ? 3 + seed % 3 : 1000,
                                       .n_heads = 1 + seed % 4,
                                       .at_once = seed % 2 ? 1 + seed % 5 : 64}};
    assert_int_equal(policy_preset("default", &world->policy), 0);
    world->policy.s = 24; /* smaller than most documents: estimates, not only exact values */
    world->policy.v_max = 24;
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world->documents = calloc(WORLD_DOCUMENTS, sizeof(*world->documents));
    assert_non_null(world->documents);
    assert_int_equal(kv_memory_open(&options, &world->inner), 0);
    world_start(world, plan);
}

void world_open_reclustering(struct world *world, uint64_t seed)
{
    world_open(world, seed, &(struct kv_fault_plan){0});
    world_stop(world);
    world->bounds.at_once = 1;
    world_start(world, &(struct kv_fault_plan){0});
}

void world_close(struct world *world)
{
    world_stop(world);
    kv_close(world->inner);
    for (unsigned i = 0; i < world->n_documents; i++)
        record_done(&world->documents[i].record);
    free(world->documents);
    min_sketch_builder_free(world->builder);
}

void world_finish_record(struct world *world, struct world_document *document,
                         const uint64_t *fingerprints, size_t n, uint64_t text)
{
    struct record *record = &document->record;
    struct min_sketch sketch;

    min_sketch_builder_begin(world->builder);
    min_sketch_builder_add(world->builder, fingerprints, n);
    min_sketch_builder_finish(world->builder, document->n_tokens, &sketch);

    document->sid = (uint64_t)(document - world->documents);
    *record = (struct record){.form.type = document->n_tokens ? TEXT_PLAIN : TEXT_BINARY};
    assert_int_equal(min_sketch_copy(&sketch, &record->sketch), 0);
    /* Keys of several lengths, in no order. */
    record->key.size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + document->sid % 3);
    put_be64(record->key.bytes, mix64(document->sid));
    put_be64(record->content_fingerprint, mix64(document->content + text));
    put_be64(record->text_fingerprint, text);
    if (record->sketch.n_values > 0)
        min_sketch_fingerprint(&record->sketch, record->shingle_fingerprint);
}

void world_finish_document(struct world *world, struct world_document *document)
{
    uint64_t text = document->n_tokens, fingerprints[WORLD_TOKENS];
    size_t n = 0;

    for (unsigned i = 0; i + WORLD_W <= document->n_tokens; i++) {
        uint64_t fingerprint = 0;
        for (unsigned k = 0; k < WORLD_W; k++)
            fingerprint = mix64(fingerprint + document->tokens[i + k] + k);
        text = mix64(text + fingerprint);
        fingerprints[n++] = fingerprint;
    }
    world_finish_record(world, document, fingerprints, n, text);
}

struct world_document *world_new_document(struct world *world)
{
    assert_in_range(world->n_documents, 0, WORLD_DOCUMENTS - 2);
    if (world->n_documents == 0)
        world->n_documents = 1; /* no sid is 0 */
    return &world->documents[world->n_documents++];
}

struct world_document *world_new_of_stretches(struct world *world,
                                              const struct world_stretch *stretches, unsigned n)
{
    struct world_document *document = world_new_document(world);
    uint64_t fingerprints[512];
    size_t n_all = 0;
    for (unsigned i = 0; i < n; i++) {
        assert_in_range(n_all + stretches[i].n, 0, 512);
        for (unsigned k = 0; k < stretches[i].n; k++)
            fingerprints[n_all++] = stretches[i].from + k;
    }
    document->n_tokens = (unsigned)n_all;
    document->content = world->n_documents;
    world_finish_record(world, document, fingerprints, n_all, world->n_documents);
    return document;
}

struct world_document *world_pick(struct world *world)
{
    unsigned n = 0;
    struct world_document *picked = NULL;
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world_random(world, ++n) == 0)
            picked = &world->documents[i];
    return picked;
}

void world_edit(struct world *world, struct world_document *document, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        document->tokens[world_random(world, document->n_tokens)] = world_random(world, 1 << 30);
}

struct world_document *world_write(struct world *world, const struct world_document *like)
{
    struct world_document *document = world_new_document(world);
    unsigned kind = (unsigned)world_random(world, 10);

    if (kind == 0) { /* binary or empty: a few contents */
        document->content = world_random(world, 3);
    } else if (like && like->n_tokens && kind == 8) { /* two in one: a bridge between them */
        const struct world_document *other = world_pick(world);
        for (unsigned i = 0; i < like->n_tokens; i++)
            document->tokens[document->n_tokens++] = like->tokens[i];
        for (unsigned i = 0; other && i < other->n_tokens && document->n_tokens < WORLD_TOKENS; i++)
            document->tokens[document->n_tokens++] = other->tokens[i];
    } else if (like && like->n_tokens && kind < 8) {
        document->n_tokens = like->n_tokens;
        memcpy(document->tokens, like->tokens, sizeof(like->tokens));
        if (kind < 3)
            document->content = world_random(world, 2); /* a copy, perhaps in another markup */
        else
            world_edit(world, document, 1 + (unsigned)world_random(world, 7));
        if (kind == 7 && document->n_tokens > 20)
            document->n_tokens -= (unsigned)world_random(world, 12); /* the end is cut off */
    } else { /* new text under one of two headers of boilerplate */
        document->n_tokens = 24 + (unsigned)world_random(world, 10);
        uint64_t header = world_random(world, 3);
        for (unsigned i = 0; i < document->n_tokens; i++)
            document->tokens[i] = header && i < 9 ? header << 32 | i : world_random(world, 1 << 30);
    }
    world_finish_document(world, document);
    return document;
}
