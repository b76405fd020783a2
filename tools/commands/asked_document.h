/* A document that a command asks about: a file of a tree, or any other one, which is only read. */
#ifndef KINFS_TOOLS_COMMANDS_ASKED_DOCUMENT_H
#define KINFS_TOOLS_COMMANDS_ASKED_DOCUMENT_H

#include "tools/commands/command.h"
#include "tools/questions/question.h"

struct asked_document {
    const char *command;                  /* of the command table, whose work answers */
    const struct command_options *common; /* its path "-" is standard input */
    const char *tree;    /* the document need not be in it, of the tree that this is in; or NULL */
    bool may_be_missing; /* it may be a name of a tree where nothing is */
    struct question question; /* what is asked for: threshold, limit, relation, common */
    const char *base;         /* the answers' paths are below it */
    int fd; /* of a document that is in no tree, once asked_document_open() has it; else -1 */
    struct location location;
    char *mountpoint;
};
void asked_document_done(struct asked_document *asked);

/* As people are told of it. */
const char *asked_document_shown(const struct asked_document *asked);

/* The document is asked about apart from the tree. */
bool asked_document_is_apart(const struct asked_document *asked);

/* Open one that is asked about apart, at its beginning, where it can be read from again. Returns 0,
 * or an error with a line in *ret_error. */
int asked_document_open(struct asked_document *asked, char **ret_error);

/* Ask: a mount through itself, as anybody may, or the store. request has what the work of the
 * command takes besides the document. Returns as ask(). */
int asked_document_ask(struct asked_document *asked, struct json_object *request, row_fn row,
                       void *user, char **ret_error);

#endif
