/* A file is moved by one rename within a mount, never copied: so it is in one of the two places at
 * any time, whole, with its owner, mode, times and attributes. What was moved is looked at again
 * there: the name may have been given to another file since that was looked at, and what is kept
 * may have gone. Then it is moved back. */
#include "tools/commands/tidy/tidy_trash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "tools/commands/tidy/tidy_run.h"
#include "tools/documents/new_file.h"
#include "tools/documents/tree_place.h"
#include "tools/questions/mounts.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

enum { NAME_BYTES = 200 }; /* of a document's, which leaves room for what is put behind it */

/* -- moving -- */

/* The path as a URI has it. */
static char *encode(const char *path)
{
    char *text = NULL;
    size_t n_bytes;
    FILE *memory = open_memstream(&text, &n_bytes);
    if (!memory)
        return NULL;
    for (const char *at = path; *at; at++) {
        const bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                              (*at >= '0' && *at <= '9') || strchr("/-._~", *at);
        fprintf(memory, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
    if (fclose(memory) == 0)
        return text;
    free(text);
    return NULL;
}

static char *make_info(const struct tidy_run *run, const struct tidy_item *item)
{
    const char *top = run->trash.top, *rest;
    _cleanup_free_ char *path =
        message("%s/%s", strcmp(run->directory, "/") == 0 ? "" : run->directory, item->path);
    _cleanup_free_ char *encoded = encode(top && path_within(path, top, &rest) ? rest : path);
    const time_t now = time(NULL);
    char date[32];
    struct tm tm;
    if (!encoded || !localtime_r(&now, &tm) ||
        !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
        return NULL;
    return message("[Trash Info]\nPath=%s\nDeletionDate=%s\n", encoded, date);
}

static char *info_name(const char *name)
{
    return message("%s.trashinfo", name);
}

static bool is_there(int directory_fd, const char *name)
{
    return faccessat(directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* A name that nothing in the trash has yet. */
static char *choose_name(const struct trash *trash, const char *name)
{
    enum { NUMBERS = 16 };
    const int n = (int)strnlen(name, NAME_BYTES);
    char end[NEW_FILE_NAME_BYTES];
    for (int i = 1; i <= NUMBERS; i++) {
        _cleanup_free_ char *chosen =
            i == 1 ? message("%.*s", n, name) : message("%.*s.%d", n, name, i);
        _cleanup_free_ char *info = info_name(chosen);
        if (!is_there(trash->info_fd, info) && !is_there(trash->files_fd, chosen))
            return TAKE_PTR(chosen);
    }
    return new_file_name(".", end) < 0 ? NULL : message("%.*s%s", n, name, end);
}

static int write_info(int info_fd, const char *name, const char *text)
{
    const size_t n = strlen(text);
    _cleanup_close_ int fd =
        openat(info_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    const ssize_t written = write(fd, text, n);
    if (written == (ssize_t)n)
        return 0;
    const int r = written < 0 ? -errno : -ENOSPC;
    unlinkat(info_fd, name, 0);
    return r;
}

static int rename_to(int from_fd, const char *from, int to_fd, const char *to)
{
    return renameat2(from_fd, from, to_fd, to, RENAME_NOREPLACE) < 0 ? -errno : 0;
}

/* The file that was moved is the one that was looked at, which nobody has opened for writing since,
 * and the one that was to be kept is kept. */
static int look_again(struct tidy_run *run, const struct tidy_item *item,
                      const struct tidy_look *look, const struct tidy_look *keep, const char *name,
                      char **ret_why)
{
    struct tidy_state moved;
    int r = tidy_look_at(run->trash.files_fd, name, &moved);
    if (r < 0 || !tidy_state_has_same_content(&moved, &look->is))
        return refuse(ret_why, -ESTALE, "another file has just been given this name");
    if (!tidy_look_is_free(look))
        return refuse(ret_why, -ETXTBSY, "it has just been opened for writing");
    r = tidy_run_keep_is_there(run, item, keep, ret_why);
    return r == 0 && moved.n_links > 1 ? tidy_run_has_changed(run, &moved) : r;
}

/* What was moved may be another user's: it does not stay behind what only the trash's owner can
 * look into, where somebody has taken its name meanwhile. Returns 0, or an error where it stays. */
static int move_back(struct tidy_run *run, const struct tidy_look *look, const char *name,
                     char **ret_why)
{
    const struct trash *trash = &run->trash;
    char end[NEW_FILE_NAME_BYTES];
    int r = rename_to(trash->files_fd, name, look->directory_fd, look->name);
    if (r == 0)
        return 0;
    run->has_displaced = true;
    free(*ret_why);
    *ret_why = NULL;
    _cleanup_free_ char *beside = r == -EEXIST && new_file_name(".", end) == 0
                                      ? message("%.*s%s", NAME_BYTES, look->name, end)
                                      : NULL;
    if (beside)
        r = rename_to(trash->files_fd, name, look->directory_fd, beside);
    return r == 0 ? refuse(ret_why, 0, "others change its directory; what had its name is %s now",
                           beside)
                  : refuse(ret_why, r, "is in the trash, %s, as %s, and cannot be moved back: %s",
                           trash->path, name, strerror(-r));
}

/* Returns 0, or an error with *ret_why, after which nothing has been moved but what that says. */
static int move(struct tidy_run *run, const struct tidy_item *item, const struct tidy_look *look,
                const struct tidy_look *keep, const char *name, const char *info, char **ret_why)
{
    const struct trash *trash = &run->trash;
    _cleanup_free_ char *of_info = info_name(name);
    int r = write_info(trash->info_fd, of_info, info);
    if (r < 0) {
        run->is_over |= r == -ENOSPC || r == -EDQUOT || r == -EIO;
        return refuse(ret_why, r, "the trash: %s", strerror(-r));
    }
    r = rename_to(look->directory_fd, look->name, trash->files_fd, name);
    if (r < 0) {
        unlinkat(trash->info_fd, of_info, 0);
        return refuse(ret_why, r, "cannot be moved: %s", strerror(-r));
    }
    r = look_again(run, item, look, keep, name, ret_why);
    if (r < 0 && move_back(run, look, name, ret_why) == 0)
        unlinkat(trash->info_fd, of_info, 0);
    return r;
}

int trash_move(struct tidy_run *run, const struct tidy_item *item, const struct tidy_look *look,
               const struct tidy_look *keep, char **ret_why)
{
    _cleanup_free_ char *name = choose_name(&run->trash, look->name), *info = make_info(run, item);
    _cleanup_json_ struct json_object *line = tidy_run_line(item, &look->is);
    if (!name || !info)
        return -ENOMEM;
    struct stat directory;
    if (fstat(look->directory_fd, &directory) < 0)
        return refuse(ret_why, -errno, "the directory it is in: %s", strerror(errno));
    const struct tidy_state of_directory = tidy_state_of(&directory);
    tidy_state_add(line, "directory", &of_directory);
    json_path_add(line, "trash", run->trash.path);
    json_path_add(line, "name", name);
    json_object_object_add(line, "info", json_object_new_string(info));
    int r = tidy_run_begin(run, line, ret_why);
    if (r == 0)
        r = move(run, item, look, keep, name, info, ret_why);
    tidy_run_end();
    return r;
}

/* -- back -- */

/* The entries that were written, or begun, before a move that did not come are removed, where they
 * are those. */
static void remove_info(const struct trash *trash, const char *name, const char *info)
{
    const size_t n = strlen(info);
    _cleanup_free_ char *of_info = info_name(name), *text = malloc(n + 1);
    if (!text || is_there(trash->files_fd, name))
        return;
    _cleanup_close_ int fd =
        openat(trash->info_fd, of_info, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t n_read = fd < 0 ? -1 : read(fd, text, n + 1);
    if (n_read >= 0 && (size_t)n_read <= n && memcmp(text, info, (size_t)n_read) == 0)
        unlinkat(trash->info_fd, of_info, 0);
}

/* The directory is whose it was, and lets nobody in who was not let in before: what is in one that
 * others can exchange for one of theirs is for them to read. */
static bool is_as_closed(int directory_fd, const struct tidy_state *was)
{
    struct stat st;
    return fstat(directory_fd, &st) == 0 && st.st_uid == was->uid && st.st_gid == was->gid &&
           !(st.st_mode & ~was->mode & (S_IRWXG | S_IRWXO));
}

static int put_back(int tree_fd, const char *path, const struct tidy_state *was,
                    const struct tidy_state *directory, const struct trash *trash, const char *name,
                    char **ret_why)
{
    const char *last;
    struct tidy_state is;
    _cleanup_close_ int directory_fd = tree_place_open_directory(tree_fd, path, &last);
    if (directory_fd < 0)
        return refuse(ret_why, directory_fd, "the directory it was in: %s",
                      strerror(-directory_fd));
    if (tidy_look_at(directory_fd, last, &is) == 0 && tidy_state_has_same_content(&is, was))
        return 0;
    int r = tidy_look_at(trash->files_fd, name, &is);
    if (r == -ENOENT)
        return refuse(ret_why, r, "is neither where it was nor in the trash any more");
    if (r < 0 || !tidy_state_has_same_content(&is, was))
        return refuse(ret_why, -ESTALE, "%s in the trash is another file, or has been changed",
                      name);
    if (!is_as_closed(directory_fd, directory))
        return refuse(
            ret_why, -ESTALE,
            "its directory is of another owner or group, or lets others in that it did not; "
            "is in the trash as %s",
            name);
    r = rename_to(trash->files_fd, name, directory_fd, last);
    if (r < 0)
        return refuse(ret_why, r, "%s; is in the trash as %s",
                      r == -EEXIST ? "something else has its name" : strerror(-r), name);
    return 1;
}

int trash_move_back(int tree_fd, const char *path, struct json_object *line, char **ret_why)
{
    _cleanup_(trash_done) struct trash trash = TRASH_NONE;
    _cleanup_free_ char *trash_path = NULL, *name = NULL;
    struct json_object *info;
    struct tidy_state was, directory;
    if (json_path_get(line, "trash", &trash_path) < 0 || json_path_get(line, "name", &name) < 0 ||
        !tree_place_is_path(name) || strchr(name, '/') || tidy_state_get(line, "is", &was) < 0 ||
        tidy_state_get(line, "directory", &directory) < 0 ||
        !json_object_object_get_ex(line, "info", &info) ||
        !json_object_is_type(info, json_type_string))
        return -EINVAL;
    int r = trash_open(trash_path, &trash, ret_why);
    if (r < 0)
        return *ret_why ? r : refuse(ret_why, r, "the trash, %s: %s", trash_path, strerror(-r));
    r = put_back(tree_fd, path, &was, &directory, &trash, name, ret_why);
    if (r >= 0)
        remove_info(&trash, name, json_object_get_string(info));
    return r;
}
