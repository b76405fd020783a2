#include "engine/ignore/ignore_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/unlocked_read.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"

/* Any file could be made an ignore file by who may rename or link it into the directory, where that
 * is sticky, too. The group's rights have the mask of an access control list. */
bool ignore_file_counts(const struct stat *file, const struct stat *directory)
{
    const mode_t others_write = S_IWGRP | S_IWOTH, all_read = S_IRUSR | S_IRGRP | S_IROTH;
    return S_ISREG(file->st_mode) && file->st_nlink == 1 && file->st_uid == directory->st_uid &&
           !((file->st_mode | directory->st_mode) & others_write) &&
           (file->st_mode & all_read) == all_read;
}

/* A device is not opened, and nobody waited for who holds a lease. */
static int open_file(int dirfd)
{
    struct stat file, directory;
    _cleanup_close_ int place =
        mount_point_avoid(dirfd, IGNORE_FILE, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return place;
    if (fstat(place, &file) < 0 || fstat(dirfd, &directory) < 0)
        return -errno;
    if (!ignore_file_counts(&file, &directory))
        return -EPERM;
    int fd = open(proc_path_of(place).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* A line that is cut is none. */
static size_t without_cut_line(const char *text, size_t n_bytes)
{
    while (n_bytes && text[n_bytes - 1] != '\n')
        n_bytes--;
    return n_bytes;
}

int ignore_file_read(int dirfd, struct ignore_rules **ret_rules)
{
    *ret_rules = NULL;
    _cleanup_close_ int fd = open_file(dirfd);
    if (fd < 0)
        return fd == -ENOENT || fd == -EXDEV ? 0 : fd;
    _cleanup_free_ char *text = malloc(IGNORE_BYTES_MAX + 1);
    struct ignore_rules *rules = ignore_rules_new();
    size_t n_bytes = 0;
    ssize_t n = text && rules ? 1 : -ENOMEM;
    while (n > 0 && n_bytes <= IGNORE_BYTES_MAX) {
        n = unlocked_read(fd, text + n_bytes, IGNORE_BYTES_MAX + 1 - n_bytes, (off_t)n_bytes);
        n_bytes += n > 0 ? (size_t)n : 0;
    }
    const bool is_cut = n_bytes > IGNORE_BYTES_MAX;
    if (is_cut)
        n_bytes = without_cut_line(text, IGNORE_BYTES_MAX);
    int r = n < 0 ? (int)n : ignore_rules_add_text(rules, text, n_bytes);
    if (r < 0 && r != -E2BIG) {
        ignore_rules_free(rules);
        return r;
    }
    *ret_rules = rules;
    return r == 0 && is_cut ? -E2BIG : r;
}

bool ignore_leaves_out(const struct ignore_rules *list, const struct ignore_level *nearest,
                       const struct ignore_rules *defaults, const char *path, bool is_directory)
{
    const char *slash = strrchr(path, '/');
    const bool is_ignore_file = strcmp(slash ? slash + 1 : path, IGNORE_FILE) == 0;
    size_t steps = IGNORE_STEPS;
    enum ignore_verdict verdict =
        list ? ignore_rules_ask(list, path, is_directory, &steps) : IGNORE_UNSAID;
    for (const struct ignore_level *level = is_ignore_file ? NULL : nearest;
         level && verdict == IGNORE_UNSAID; level = level->above)
        verdict = ignore_rules_ask(level->rules, path + level->from, is_directory, &steps);
    if (verdict == IGNORE_UNSAID)
        verdict = ignore_rules_ask(defaults, path, is_directory, &steps);
    return verdict == IGNORE_OUT;
}

struct ignore_rules *ignore_defaults(void)
{
    static const char text[] =
        "lost+found/\n"
        ".Trash/\n"
        ".Trash-*/\n"
        /* of version control; a working tree of git has a file of that name */
        ".git\n"
        ".hg/\n"
        ".svn/\n"
        ".bzr/\n"
        "CVS/\n"
        /* of vim, emacs, LibreOffice and Word */
        ".*.sw?\n"
        "*~\n"
        "\\#*#\n"
        ".#*\n"
        ".~lock.*#\n"
        "~$*\n";
    struct ignore_rules *rules = ignore_rules_new();
    if (rules && ignore_rules_add_text(rules, text, sizeof(text) - 1) == 0)
        return rules;
    ignore_rules_free(rules);
    return NULL;
}
