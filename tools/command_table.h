/* The table of the subcommands: of the program alone, so that none of them needs all others. */
#ifndef KINFS_TOOLS_COMMAND_TABLE_H
#define KINFS_TOOLS_COMMAND_TABLE_H

#include "tools/questions/work.h"

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is "kinfs NAME" */
    work_fn work;                      /* NULL: not asked over the socket */
};

extern const struct command commands[]; /* ends with a NULL name */

/* The work function of a command, NULL when there is none: for work_set_finder(). */
work_fn command_work(const char *name);

#endif
