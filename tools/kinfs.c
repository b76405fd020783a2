/* kinfs: the command. What each subcommand does is in cmd_<name>.c. */
#include <argp.h>
#include <malloc.h>
#include <sys/resource.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/kernel.h"
#include "tools/command_table.h"
#include "tools/show/command_exit.h"
#include "tools/show/message.h"
#include "tools/mount_helper.h"

static void print_usage(FILE *to)
{
    fputs("Usage: kinfs COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "Shows which documents of a tree resemble each other.\n\n",
          to);
    for (const struct command *command = commands; command->name; command++)
        fprintf(to, "  %-10s %s\n", command->name, command->summary);
    fputs("\n'kinfs COMMAND --help' or 'kinfs help COMMAND' tells more; so does kinfs(1).\n"
          "Exit codes: 0 done; 1 no such answer; 2 usage; 3 failed; 4 it cannot be told.\n",
          to);
}

/* A user who forces a kernel wants that one or none. */
static int refuse_kernel(void)
{
    const char *wanted = kernel_refused();
    if (!wanted)
        return 0;
    _cleanup_free_ char *there = NULL;
    for (int i = 0; i < KERNEL_N; i++) {
        if (!kernel_is_there((enum kernel)i))
            continue;
        char *longer =
            message("%s%s%s", there ? there : "", there ? ", " : "", kernel_name((enum kernel)i));
        free(there);
        there = longer;
    }
    complain("KINFS_KERNEL=%s: this machine has %s", wanted, there);
    return COMMAND_USAGE;
}

/* Each arena of malloc(3) takes address space for itself: where that is bounded all threads share
 * one, and none is without memory that another has. */
static void share_memory(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        mallopt(M_ARENA_MAX, 1);
}

int main(int argc, char **argv)
{
    share_memory();
    /* RocksDB's files have no mode of ours to go by; what a mount is asked to make has the umask of
     * who asks. */
    umask(S_IRWXG | S_IRWXO);
    /* The process that starts this may not want to hear of children; this one waits for its own. */
    signal(SIGCHLD, SIG_DFL);
    work_set_finder(command_work);
    if (mount_helper_is_called(argc, argv))
        return mount_helper_run(argc, argv);
    argp_err_exit_status = COMMAND_USAGE;
    int code = refuse_kernel();
    if (code)
        return code;
    if (argc < 2) {
        print_usage(stderr);
        return COMMAND_USAGE;
    }
    /* "help COMMAND" is "COMMAND --help". */
    char *of_command[] = {argv[0], argc > 2 ? argv[2] : NULL, (char *)"--help", NULL};
    bool asks_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0 ||
                     strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "-?") == 0;
    if (asks_help && (argc == 2 || strcmp(argv[2], "help") == 0)) {
        print_usage(stdout);
        return COMMAND_OK;
    }
    if (asks_help) {
        argc = 3;
        argv = of_command;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("kinfs " KINFS_VERSION);
        return COMMAND_OK;
    }
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, argv[1]) == 0) {
            /* argp names the program by argv[0] in its messages. */
            char *name = message("kinfs %s", command->name);
            argv[1] = name;
            code = command->run(argc - 1, argv + 1);
            free(name);
            return code;
        }
    complain("no command '%s'; kinfs --help lists them", argv[1]);
    return COMMAND_USAGE;
}
