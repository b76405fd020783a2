/* The state of the index, for whoever asks. */
#include <stdio.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/store_directory.h"

static void show_policy(const struct index *index, struct index_status *status)
{
    const struct policy *policy = &index->policy;
    bool stops = policy->words.stop_list != STOP_LIST_NONE, stems = policy->words.stemmer != 0;
    bool tokens = policy->words.tokens != TOKENS_WORDS;
    snprintf(status->policy, sizeof(status->policy), "%s (w=%u s=%u m=%u%s%s%s%s%s%s)",
             policy->name, policy->w, policy->s, policy->m, tokens ? " tokens=" : "",
             tokens ? status->tokens : "", stops ? " stopwords=" : "",
             stops ? status->stopwords : "", stems ? " stemmer=" : "",
             stems ? status->stemmer : "");
}

static bool is_scanning(struct index *index)
{
    LOCKED(&index->lock);
    return index->scanning || index_is_rescan_wanted(index) || index->removing;
}

void index_get_status(struct index *index, struct index_status *ret_status)
{
    struct index_status status = {0};
    snprintf(status.version, sizeof(status.version), "%s", KINFS_VERSION);
    status.tokens = token_choice_name(index->policy.words.tokens);
    status.stopwords = stop_list_name(index->policy.words.stop_list);
    status.stemmer = stemmer_name(index->policy.words.stemmer);
    show_policy(index, &status);
    status.policy_w = index->policy.w;
    snprintf(status.source, sizeof(status.source), "%s", index->source);
    snprintf(status.store, sizeof(status.store), "%s", index->store_path);
    status.documents = atomic_load(&index->counts.n_documents);
    status.store_error = atomic_load(&index->store_error);
    status.skipped = atomic_load(&index->counts.n_skipped);
    status.failed = atomic_load(&index->n_failed);
    status.scan_found = atomic_load(&index->scan_found);
    status.sketched_documents = atomic_load(&index->sketched_documents);
    status.sketched_bytes = atomic_load(&index->sketched_bytes);
    status.pending_foreground =
        change_queue_documents(index->queue, LANE_FOREGROUND) + atomic_load(&index->n_unwritten);
    status.pending_scan = change_queue_documents(index->queue, LANE_SCAN);
    status.pending_slow = change_queue_slow(index->queue, LANE_FOREGROUND) +
                          change_queue_slow(index->queue, LANE_SCAN);
    status.scan_done =
        status.scan_found > status.pending_scan ? status.scan_found - status.pending_scan : 0;
    living_clusters_count(index->clusters, &status.clusters, &status.clustered_documents);
    status.repairing = living_clusters_n_dirty(index->clusters);
    status.topics = index_topics_kept(index);
    if (index->topics) {
        status.topics_current = topics_is_current(index->topics);
        status.topics_documents = topics_epoch(index->topics).n_bags;
    }
    status.store_bytes = store_directory_usage(index->store_path);
    status.scanning = is_scanning(index);
    status.extracts = !extractors_are_none(index->extractors);
    extractors_unread(index->extractors, status.unread);
    status.extractors_left = extractors_left();
    {
        LOCKED(&index->messages.lock);
        snprintf(status.last_error, sizeof(status.last_error), "%s", index->messages.last_error);
    }
    *ret_status = status;
}
