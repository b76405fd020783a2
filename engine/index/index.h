/* The living index of a backing tree: it says which documents resemble each other, always up to
 * date. The mount includes no other header of the engine, nor do most of the tools:
 * tools/check-includes says which need more. Its parts are included by it, and by each other.
 *
 * The index keeps itself current from notices, which never block and never fail, and from a scan of
 * the tree when it starts. It only ever reads the tree. Everything it stores can be derived from
 * the tree again.
 *
 * Functions may be called by any thread; opening, starting and closing by one, while no other is in
 * a call. Those said to *wait* may take milliseconds or as long as their wait_ms, and are not for
 * the index's own threads, nor for what these call (a log function), which would wait for
 * themselves; none of the notices wait.
 */
#ifndef KINFS_ENGINE_INDEX_INDEX_H
#define KINFS_ENGINE_INDEX_INDEX_H

#include "engine/index/index_clusterings.h"
#include "engine/index/index_clusters.h"
#include "engine/index/index_notices.h"
#include "engine/index/index_opening.h"
#include "engine/index/index_past.h"
#include "engine/index/index_questions.h"
#include "engine/index/index_topics.h"
#include "engine/index/index_records.h"
#include "engine/index/index_status.h"
#include "engine/index/index_unique.h"
#include "engine/index/index_upkeep.h"

#endif
