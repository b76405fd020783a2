/* A progress bar on standard error; nothing where that is no terminal. */
#ifndef KINFS_TOOLS_SHOW_PROGRESS_H
#define KINFS_TOOLS_SHOW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown; /* standard error is a terminal */
    bool drawn;
    uint64_t begin_ms, first_done;
};

void progress_init(struct progress *progress);

/* done of total documents; growing: the total is not known yet. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total, bool growing);

/* The bar shows how far a phase with a name is. */
void progress_phase(struct progress *progress, const char *name, uint64_t done, uint64_t total);

/* A stage of which nobody knows how long it is; table NULL: n_rows says nothing. */
void progress_stage(struct progress *progress, const char *stage, const char *table,
                    uint64_t n_rows);

/* Clears the bar's line. */
void progress_done(struct progress *progress);

/* The bar's text, without the terminal's part: at most size_bytes with the NUL. per_second is drawn
 * when it is not 0. */
void progress_format(char *text, unsigned size_bytes, uint64_t done, uint64_t total, bool growing,
                     uint64_t per_second);

#endif
