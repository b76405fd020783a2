/* A line of what became of a document. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_PRINT_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_PRINT_H

#include <stdbool.h>

/* error  negative: standard error, or JSON, says why: by why, or where that is NULL by the error */
void tidy_print(bool json, const char *what, const char *path, int error, const char *why);

#endif
