/* A file that a command writes where a person said: made beside what is there, and in its place
 * when it is whole. A file that is there and was not made by the same command stays, unless it is
 * given up. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_REPORT_FILE_H
#define KINFS_TOOLS_COMMANDS_REPORT_REPORT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/documents/new_file.h"

struct report_file {
    const char *path, *mark;
    bool force;
    FILE *stream; /* to be written to */
    /* private */
    const char *name; /* of path; NULL: standard output */
    int directory_fd;
    char temporary[NEW_FILE_NAME_BYTES];
};

/* path   borrowed; "-" is standard output
 * mark   what each file of the kind begins with; borrowed
 * force  whatever is there is replaced, but no directory
 *
 * A symbolic link is not followed, nor another user's on the way. Returns 0, -EEXIST for what is to
 * stay, or an errno, with *ret_error; end with report_file_done(). */
int report_file_open(const char *path, const char *mark, bool force, struct report_file *ret_file,
                     char **ret_error);

/* The file that was written gets its name. It is for its user alone, as it has paths and texts that
 * others may not read, also in the place of a file that others could read: another user may have
 * put that there, or the group be another. Returns 0 or an error, with *ret_error; then the file
 * that was there is there still. */
int report_file_finish(struct report_file *file, char **ret_error);
void report_file_done(struct report_file *file);

#endif
