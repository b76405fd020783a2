/* A directory of its own for a test, and documents of generated words in it. */
#ifndef KINFS_TESTS_LIB_SCRATCH_H
#define KINFS_TESTS_LIB_SCRATCH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Make a fresh directory below $TMPDIR or /tmp; scratch_remove() takes it away with all it holds.
 */
void scratch_make(char path[64]);
void scratch_remove(const char *path);

/* The same for a group of tests, whose *state is the path; it is scratch_group, too. */
extern char scratch_group[64];
int scratch_group_make(void **state);
int scratch_group_remove(void **state);

/* From here on the process has a mount namespace of its own, without what other tests have mounted:
 * a copy would keep it mounted after them. Call before any thread is started. Returns whether that
 * is allowed. */
bool scratch_own_mounts(void);

/* The work is done in a process of its own, and gives 0; 77 skips the test. */
void scratch_expect_apart(int (*work)(void));

/* A path in it, valid for the next 8 calls. */
const char *scratch_path(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write a file, made if need be. */
void scratch_write(const char *path, const char *content);

/* n_words words, determined by family; `edits` of them, chosen by version, are replaced by words of
 * that version. Heap string. */
char *scratch_text(unsigned family, unsigned version, unsigned n_words, unsigned edits);

#endif
