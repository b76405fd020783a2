/* Exit codes of the subcommands. */
#ifndef KINFS_TOOLS_SHOW_COMMAND_EXIT_H
#define KINFS_TOOLS_SHOW_COMMAND_EXIT_H

enum command_exit {
    COMMAND_OK = 0,
    COMMAND_NO_ANSWER = 1, /* it worked, and the answer is that there is none */
    COMMAND_USAGE = 2,
    COMMAND_FAILED = 3,
    COMMAND_UNCERTAIN = 4, /* none was found, and that there is none cannot be told */
};

#endif
