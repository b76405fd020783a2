/* The answers of a command that asks which documents are kin to one: what of them is asked for, and
 * how they are printed. */
#ifndef KINFS_TOOLS_COMMANDS_KIN_ANSWERS_H
#define KINFS_TOOLS_COMMANDS_KIN_ANSWERS_H

#include "tools/commands/asked_document.h"

/* The command fills what has no default of zero, and calls kin_answers_parse() with its options. */
struct kin_answers {
    struct command_options common;
    const char *tree; /* as asked_document has it */
    double threshold;
    uint64_t limit;
    bool absolute;
    const char *ratio;                      /* the member that is printed before the path */
    void (*note)(struct json_object *row);  /* prints more behind that; or NULL */
    void (*strip)(struct json_object *row); /* takes members of the JSON away; or NULL */
    /* -- while it is asked -- */
    const char *const *base; /* of what is asked */
    char *incomplete;        /* why something may be missing, or NULL */
    uint64_t n_rows;
};

/* The options that all such commands have. Returns 0 or ARGP_ERR_UNKNOWN. */
error_t kin_answers_parse(struct kin_answers *answers, int key, char *argument,
                          struct argp_state *state);

/* Asks, with the threshold and limit, and prints. request has what else the work of the command
 * takes, and asked what is else asked about. Returns an exit code. */
int kin_answers_print(struct kin_answers *answers, struct asked_document *asked,
                      struct json_object *request);

#endif
