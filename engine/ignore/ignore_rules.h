/* Rules that say what is left out of a tree: the lines of one file, as gitignore(5) has them, or of
 * one list.
 *
 *   # a comment
 *   *.o             any file or directory of such a name, however far down
 *   !keep.o         this is not left out
 *   cache/          directories alone
 *   /build          only here; so has all that has a slash before its end: docs/out.html
 *
 * Two stars between slashes stand for any directories, also none; behind the last slash, for all
 * that is there. The last line that matches decides. What is in a directory that is left out is so,
 * too: it is not asked.
 *
 * Whoever may write a file may write such lines, so that what is read of one is bounded:
 * IGNORE_BYTES_MAX, and IGNORE_LINES_MAX; and so is the work of one question, by its steps.
 */
#ifndef KINFS_ENGINE_IGNORE_IGNORE_RULES_H
#define KINFS_ENGINE_IGNORE_IGNORE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum { IGNORE_BYTES_MAX = 16 << 10, IGNORE_LINES_MAX = 512 };
/* Some 200 us, of names and patterns that somebody has made for it; a usual question takes a
 * hundred steps. */
enum { IGNORE_STEPS = 1 << 16 };

struct ignore_rules;

/* Those without a line. NULL: no memory. */
struct ignore_rules *ignore_rules_new(void);
/* NULL allowed. */
void ignore_rules_free(struct ignore_rules *rules);
DEFINE_CLEANUP(struct ignore_rules *, ignore_rules_free);

/* Adds one line, which does not end with its newline. Returns 0, -E2BIG (too many), or -ENOMEM. */
int ignore_rules_add(struct ignore_rules *rules, const char *line, size_t n_bytes);
/* Adds all lines of a text. */
int ignore_rules_add_text(struct ignore_rules *rules, const char *text, size_t n_bytes);

enum ignore_verdict { IGNORE_UNSAID, IGNORE_OUT, IGNORE_IN };

/* path   from the directory of the rules: "docs/out.html"
 * steps  what may be taken, and is taken off; when there are none left, a line that would match may
 *        not
 *
 * Any thread, while nobody adds. About 10 ns a line. */
enum ignore_verdict ignore_rules_ask(const struct ignore_rules *rules, const char *path,
                                     bool is_directory, size_t *steps);

/* Some rule is there; and some rule is about a path, and not a name alone. */
bool ignore_rules_any(const struct ignore_rules *rules);
bool ignore_rules_have_paths(const struct ignore_rules *rules);

#endif
