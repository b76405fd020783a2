/* Features on their way to a canon's sink, some at a time. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_FEATURES_FEATURE_LIST_H
#define KINFS_ENGINE_TEXT_FEATURES_FEATURE_LIST_H

#include "engine/text/canon.h"

enum { FEATURE_LIST_MAX = 128 };

struct feature_list {
    struct canon_sink sink;
    size_t n;
    struct feature block[FEATURE_LIST_MAX];
};

static inline void feature_list_flush(struct feature_list *features)
{
    if (features->n > 0)
        features->sink.features(features->sink.user, features->block, features->n);
    features->n = 0;
}

static inline XXH128_hash_t feature_list_digest(const struct feature_list *features,
                                                const void *bytes, size_t size_bytes)
{
    return digest_key_apply(features->sink.key, bytes, size_bytes);
}

static inline void feature_list_add(struct feature_list *features, XXH128_hash_t digest)
{
    features->block[features->n++] = (struct feature){digest.low64, digest.high64};
    if (features->n == FEATURE_LIST_MAX)
        feature_list_flush(features);
}

#endif
