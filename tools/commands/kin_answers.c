#include "tools/commands/kin_answers.h"

#include <errno.h>
#include <stdio.h>

#include "tools/show/json_path.h"

error_t kin_answers_parse(struct kin_answers *answers, int key, char *argument,
                          struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &answers->common; return 0;
    case 't': answers->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        answers->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': answers->absolute = true; return 0;
    case 'T': answers->tree = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_json(const struct kin_answers *answers, struct json_object *row)
{
    if (answers->strip)
        answers->strip(row);
    json_object_object_add(row, "complete", json_object_new_boolean(!answers->incomplete));
    command_print_json(row);
}

static void print_text(const struct kin_answers *answers, struct json_object *row)
{
    if (!answers->common.null) {
        command_print_ratio(row, answers->ratio);
        if (answers->note)
            answers->note(row);
        putchar('\t');
    }
    command_print_path(row, "path", answers->common.null);
    if (!answers->common.null)
        putchar('\n');
}

static int print_row(void *user, struct json_object *row)
{
    struct kin_answers *answers = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (command_take_incomplete(taken, &answers->incomplete))
        return 0;
    answers->n_rows++;
    if (answers->absolute)
        command_make_absolute(taken, "path", *answers->base);
    (answers->common.json ? print_json : print_text)(answers, taken);
    return 0;
}

/* The reason is said beside the rows, and in them; without any row it is all there is to say. */
static int end_incomplete(const struct kin_answers *answers, const char *shown)
{
    if (answers->common.json && answers->n_rows == 0) {
        _cleanup_json_ struct json_object *row = question_incomplete_row(answers->incomplete);
        json_object_object_add(row, "complete", json_object_new_boolean(false));
        command_print_json(row);
    } else if (!answers->common.json) {
        complain("%s: %s", shown, answers->incomplete);
    }
    return answers->n_rows == 0 ? COMMAND_UNCERTAIN : COMMAND_OK;
}

int kin_answers_print(struct kin_answers *answers, struct asked_document *asked,
                      struct json_object *request)
{
    _cleanup_free_ char *error = NULL;
    asked->tree = answers->tree;
    asked->question.threshold = answers->threshold;
    asked->question.limit = answers->limit;
    answers->base = &asked->base;
    json_object_object_add(request, "threshold", json_object_new_double(answers->threshold));
    work_add_count(request, "limit", answers->limit);
    int r = asked_document_ask(asked, request, print_row, answers, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && answers->incomplete)
        code = end_incomplete(answers, asked_document_shown(asked));
    else if (code == COMMAND_OK && answers->n_rows == 0)
        code = COMMAND_NO_ANSWER;
    free(answers->incomplete);
    return code;
}
