/* The ZIP archive on standard input, of a program that reads documents for kinfs: its members in
 * the order that the document gives them, whatever their order in the archive. */
#ifndef KINFS_TOOLS_EXTRACT_ZIP_H
#define KINFS_TOOLS_EXTRACT_ZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/extract/clock.h"

struct archive;

enum { ZIP_MEMBERS_MAX = 1 << 16 }; /* that are read; what has more is cut */

struct zip {
    struct archive *archive; /* at a member, while that is taken */
    struct extract_clock clock;
    bool opened;                  /* once */
    bool cut, damaged, encrypted; /* the time is over; it cannot be read on; it takes a password */
    char why[128];                /* where it is damaged, what the library says */
};

void zip_begin(struct zip *zip);

/* The names of all members, in no order. Returns whether all could be read. */
bool zip_names(struct zip *zip, void (*take)(void *user, const char *name), void *user);

/* Members by name, in this order; a name that there is not is passed over. take() reads the member
 * from zip by zip_read(), as far as it likes. As many runs through the archive's directory as it
 * takes: one, where the order is the archive's. Ends early when zip is cut or damaged. */
void zip_members(struct zip *zip, char *const *names, size_t n,
                 void (*take)(void *user, const char *name), void *user);

/* Returns how many bytes, 0 at the end, -1 with zip->damaged. Of an xmlInputReadCallback's type. */
int zip_read(void *zip, char *buffer, int size_bytes);

/* One line on standard error, which a program that fails ends with. Returns 1, the exit code. */
int zip_complain(const char *what);

/* Flush standard output, and say how it went. xml: what the XML library says of what it could not
 * read, or NULL. Returns the exit code. */
int zip_end(struct zip *zip, const char *xml);

#endif
