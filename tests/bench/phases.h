/* Where the time of one thread goes within the engine: its functions are wrapped by the linker
 * (`phases_wrapped` in meson.build), so that nothing in the engine is there for the sake of it. */
#ifndef KINFS_TESTS_BENCH_PHASES_H
#define KINFS_TESTS_BENCH_PHASES_H

#include <stdint.h>

/* Each without those within it. */
enum phase {
    PHASE_NONE,     /* not measured */
    PHASE_CALLER,   /* what the benchmark itself does */
    PHASE_SKETCH,   /* text to sketch */
    PHASE_ENTRIES,  /* names into the catalogue and out of it */
    PHASE_COMMIT,   /* the committer, but for what follows */
    PHASE_LOOK,     /* names and rows a file has already */
    PHASE_RECORD,   /* the document's record written */
    PHASE_FILE_ROW, /* the file's row written */
    PHASE_CLASS,    /* the class it enters or leaves */
    PHASE_CANDIDATES,
    PHASE_READ_RECORDS,  /* of candidates */
    PHASE_READ_CLUSTERS, /* of candidates */
    PHASE_COMPARE,
    PHASE_POST, /* postings into memory */
    PHASE_INTENT,
    PHASE_JOIN, /* which cluster, and its rows */
    PHASE_DELETE,
    PHASE_FLUSH,     /* postings into the store */
    PHASE_RECLUSTER, /* what is dirty is clustered anew */
    N_PHASES
};

struct phases {
    double wall_s[N_PHASES];
    uint64_t n[N_PHASES];
    double store_s, writes_s; /* within calls of the store, in whatever phase; of them writes */
    uint64_t n_gets, n_multi_gets, n_scans, n_writes;
};

extern const char *const phase_names[N_PHASES];

/* Measure the calling thread, from nothing. */
void phases_begin(enum phase phase);
/* What it has been at since; ends it. */
struct phases phases_end(void);
/* Another phase from here on, within none. */
void phases_switch(enum phase phase);

#endif
