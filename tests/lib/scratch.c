#include "tests/lib/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <mntent.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mix.h"

void scratch_make(char path[64])
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(path, 64, "%s/kinfs-test-XXXXXX", tmp && strlen(tmp) < 32 ? tmp : "/tmp");
    assert_true(n > 0 && n < 64);
    assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void scratch_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *scratch_path(const char *root, const char *format, ...)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    int n = snprintf(path, PATH_MAX, "%s/", root);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + n, PATH_MAX - (size_t)n, format, arguments);
    va_end(arguments);
    return path;
}

void scratch_write(const char *path, const char *content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    size_t size = strlen(content);
    assert_int_equal(write(fd, content, size), (ssize_t)size);
    assert_int_equal(close(fd), 0);
}

static bool is_of_a_test(const struct mntent *mount)
{
    bool image = strcmp(mount->mnt_type, "ext4") == 0 &&
                 strncmp(mount->mnt_fsname, "/dev/loop", strlen("/dev/loop")) == 0;
    bool fuse = strncmp(mount->mnt_type, "fuse.", strlen("fuse.")) == 0;
    return (image || fuse) && strcmp(mount->mnt_dir, "/") != 0;
}

/* The first that can be; the table is another one afterwards. */
static bool detach_one(void)
{
    bool detached = false;
    FILE *table = setmntent("/proc/self/mounts", "re");
    assert_non_null(table);
    for (struct mntent *mount; !detached && (mount = getmntent(table));)
        detached = is_of_a_test(mount) && umount2(mount->mnt_dir, MNT_DETACH) == 0;
    endmntent(table);
    return detached;
}

char scratch_group[64];

int scratch_group_make(void **state)
{
    scratch_make(scratch_group);
    *state = scratch_group;
    return 0;
}

int scratch_group_remove(void **state)
{
    scratch_remove(*state);
    return 0;
}

bool scratch_own_mounts(void)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    while (detach_one())
        ;
    return true;
}

void scratch_expect_apart(int (*work)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

char *scratch_text(unsigned family, unsigned version, unsigned n_words, unsigned edits)
{
    enum { WORD_BYTES = 9 };
    char *text = calloc(n_words + 1, WORD_BYTES);
    uint8_t *edited = calloc(n_words + 1, 1);
    assert_non_null(text);
    assert_non_null(edited);
    for (unsigned i = 0; i < edits && n_words; i++)
        edited[mix64((uint64_t)version << 32 | (i + 1)) % n_words] = 1;
    char *p = text;
    for (unsigned i = 0; i < n_words; i++) {
        uint64_t seed = (uint64_t)family << 40 | i;
        if (edited[i])
            seed ^= (uint64_t)(version + 1) << 20 | 1ull << 63;
        uint64_t x = mix64(seed + 0x9e3779b97f4a7c15u);
        for (int c = 0; c < WORD_BYTES - 2; c++, x /= 26)
            *p++ = (char)('a' + x % 26);
        *p++ = i % 12 == 11 ? '\n' : ' ';
    }
    *p = '\0';
    free(edited);
    return text;
}
