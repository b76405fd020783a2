#include "tools/show/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counted.h"

enum { BAR_CELLS = 30, LINE_BYTES = 160 };

void progress_init(struct progress *progress)
{
    *progress =
        (struct progress){.shown = isatty(STDERR_FILENO), .begin_ms = (uint64_t)clock_now_ms()};
}

void progress_format(char *text, unsigned size_bytes, uint64_t done, uint64_t total, bool growing,
                     uint64_t per_second)
{
    char bar[BAR_CELLS + 1], rate[64] = "";
    if (total < done)
        total = done;
    unsigned filled = total ? (unsigned)((double)done / (double)total * BAR_CELLS) : 0;
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', filled);
    bar[BAR_CELLS] = '\0';
    if (per_second && growing)
        snprintf(rate, sizeof(rate), ", %llu a second", (unsigned long long)per_second);
    else if (per_second)
        snprintf(rate, sizeof(rate), ", %llu a second, %llu s left", (unsigned long long)per_second,
                 (unsigned long long)((total - done + per_second - 1) / per_second));
    snprintf(text, size_bytes, "[%s] %llu of %llu%s document%s%s", bar, (unsigned long long)done,
             (unsigned long long)total, growing ? "+" : "", total == 1 && !growing ? "" : "s",
             rate);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total, bool growing)
{
    char line[LINE_BYTES];
    if (!progress->shown)
        return;
    uint64_t took_ms = (uint64_t)clock_now_ms() - progress->begin_ms;
    if (!progress->drawn) {
        progress->first_done = done;
        progress->begin_ms += took_ms;
        took_ms = 0;
    }
    progress->drawn = true;
    uint64_t done_here = done - progress->first_done;
    progress_format(line, sizeof(line), done, total, growing,
                    took_ms >= 500 && done > progress->first_done ? done_here * 1000 / took_ms : 0);
    fprintf(stderr, "\r%s\033[K", line);
}

void progress_phase(struct progress *progress, const char *name, uint64_t done, uint64_t total)
{
    if (!progress->shown || total == 0)
        return;
    progress->drawn = true;
    fprintf(stderr, "\r%s: %llu %%\033[K", name, (unsigned long long)(100 * done / total));
}

void progress_stage(struct progress *progress, const char *stage, const char *table,
                    uint64_t n_rows)
{
    if (!progress->shown)
        return;
    progress->drawn = true;
    if (table)
        fprintf(stderr, "\r%s: %s, %s\033[K", stage, table, counted(n_rows, "row").text);
    else
        fprintf(stderr, "\r%s\033[K", stage);
}

void progress_done(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
