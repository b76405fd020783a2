/* The last is undone first: what was there then is there again. Each line may be of something that
 * was not done, as the list has it before; and of something that was undone before. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/tidy/tidy_apply.h"
#include "tools/commands/tidy/tidy_lines.h"
#include "tools/commands/tidy/tidy_plan.h"
#include "tools/commands/tidy/tidy_print.h"
#include "tools/commands/tidy/tidy_share.h"
#include "tools/commands/tidy/tidy_trash.h"
#include "tools/documents/tree_place.h"
#include "tools/show/json_path.h"

struct undoing {
    char *directory;
    struct json_object **lines; /* owned */
    size_t n, room;
};

static void undoing_done(struct undoing *undoing)
{
    for (size_t i = 0; i < undoing->n; i++)
        json_object_put(undoing->lines[i]);
    free(undoing->lines);
    free(undoing->directory);
}

static enum tidy_act act_of(struct json_object *line)
{
    struct json_object *member;
    return json_object_object_get_ex(line, "do", &member) &&
                   json_object_is_type(member, json_type_string)
               ? tidy_act_of(json_object_get_string(member))
               : N_TIDY_ACTS;
}

static int add_line(void *user, struct json_object *line)
{
    struct undoing *undoing = user;
    _cleanup_free_ char *path = NULL;
    if (!undoing->directory)
        return command_count(line, "kinfs_tidy_undo") == 1 &&
                       json_path_get(line, "directory", &undoing->directory) == 0 &&
                       *undoing->directory == '/'
                   ? 0
                   : -EINVAL;
    if (act_of(line) == N_TIDY_ACTS || json_path_get(line, "path", &path) < 0 ||
        !tree_place_is_path(path))
        return -EINVAL;
    if (!MAKE_ROOM(undoing->lines, undoing->room, undoing->n + 1))
        return -ENOMEM;
    undoing->lines[undoing->n++] = json_object_get(line);
    return 0;
}

/* Returns 1, 0 where there is nothing to undo, or an error. */
static int undo_one(int tree_fd, const char *path, struct json_object *line, char **ret_why)
{
    switch (act_of(line)) {
    case TIDY_TRASH: return trash_move_back(tree_fd, path, line, ret_why);
    case TIDY_LINK: return tidy_link_back(tree_fd, path, line, ret_why);
    default: return 0; /* two files share what is the same; neither was changed */
    }
}

static int undo_all(const struct undoing *undoing, const struct tidy_options *options,
                    char **ret_error)
{
    bool failed = false;
    _cleanup_close_ int tree_fd = trust_open_anybodys(undoing->directory, ret_error);
    if (tree_fd < 0)
        return *ret_error
                   ? tree_fd
                   : refuse(ret_error, tree_fd, "%s: %s", undoing->directory, strerror(-tree_fd));
    for (size_t i = undoing->n; i > 0; i--) {
        _cleanup_free_ char *path = NULL, *why = NULL;
        int r = json_path_get(undoing->lines[i - 1], "path", &path);
        if (r == 0)
            r = undo_one(tree_fd, path, undoing->lines[i - 1], &why);
        if (r == -ENOMEM)
            return r;
        failed |= r < 0;
        tidy_print(options->json, r < 0 ? "failed" : r ? "restored" : "unchanged", path, r, why);
    }
    return failed ? -ENODATA : 0;
}

int tidy_undo(const struct tidy_options *options, char **ret_error)
{
    _cleanup_(undoing_done) struct undoing undoing = {0};
    unsigned long number = 0;
    signal(SIGIO, SIG_IGN);
    int r = tidy_lines_read(options->undo_file, add_line, &undoing, &number, ret_error);
    if (r == -EINVAL && number)
        return refuse(ret_error, r, "%s:%lu: no line of what kinfs tidy --apply has done",
                      options->undo_file, number);
    if (r == 0 && !undoing.directory)
        return 0; /* it was ended before its first line was there */
    return r < 0 ? r : undo_all(&undoing, options, ret_error);
}
