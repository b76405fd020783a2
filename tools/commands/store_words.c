#include "tools/commands/store_words.h"

#include "tools/commands/command.h"
#include "tools/options/word_choice.h"
#include "tools/show/json_path.h"

static int keep_row(void *user, struct json_object *row)
{
    json_object_put(*(struct json_object **)user);
    *(struct json_object **)user = row;
    return row ? 0 : -ENOMEM;
}

int store_words_ask(const struct location *location, unsigned *ret_w, struct word_options *words,
                    char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object(), *row = NULL;
    struct json_object *tokens;
    const struct ask question = {.location = location, .command = "status"};
    int r = ask(&question, request, keep_row, &row, ret_error);
    if (r < 0)
        return r;
    *ret_w = (unsigned)command_count(row, "policy_w");
    if (!json_object_object_get_ex(row, "tokens", &tokens) || !tokens) /* a mount without a store */
        return 0;
    r = word_choice_tokens("", command_text(row, "tokens"), &words->tokens, ret_error);
    if (r >= 0)
        r = word_choice_stopwords("", command_text(row, "stopwords"), &words->stop_list, ret_error);
    if (r >= 0)
        r = word_choice_stemmer("", command_text(row, "stemmer"), &words->stemmer, ret_error);
    return r;
}
