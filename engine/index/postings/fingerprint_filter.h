/* The filter tells which fingerprints may have been posted, in some 16 to 32 bits each: for most of
 * those of a new document the store need not be asked.
 *
 * One thread adds; any thread asks, beside it. Nothing is ever taken out. */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_FINGERPRINT_FILTER_H
#define KINFS_ENGINE_INDEX_POSTINGS_FINGERPRINT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fingerprint_filter;

int fingerprint_filter_new(struct fingerprint_filter **ret_filter); /* 0, -ENOMEM */
void fingerprint_filter_free(struct fingerprint_filter *filter);

/* Returns 0, or -ENOMEM: it is not in it then. */
int fingerprint_filter_add(struct fingerprint_filter *filter, uint64_t fingerprint);
/* Sets ret_may_have[i] for each fingerprint: true for all that were added before, and for one in a
 * hundred others or less. 0.1 us each. */
void fingerprint_filter_ask(const struct fingerprint_filter *filter, const uint64_t *fingerprints,
                            size_t n, bool *ret_may_have);
size_t fingerprint_filter_bytes(const struct fingerprint_filter *filter);

#endif
