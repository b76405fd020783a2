#include "tools/commands/tidy/tidy_look.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include <openssl/evp.h>

#include "base/cleanup.h"
#include "base/files/fd_whole.h"
#include "base/mounts/leases.h"
#include "base/mounts/mount_point.h"
#include "engine/index/index.h"
#include "tools/documents/regular_file.h"
#include "tools/documents/tree_place.h"

void tidy_look_done(struct tidy_look *look)
{
    close_p(&look->fd); /* with which the lease ends */
    close_p(&look->directory_fd);
    look->fd = look->directory_fd = -1;
}

/* The state that a FUSE file system has told the kernel before may be old. */
static int get_state(int fd, struct tidy_state *ret_is)
{
    struct statx newest;
    struct stat st;
    (void)statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &newest);
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    *ret_is = tidy_state_of(&st);
    return 0;
}

int tidy_look_open(int tree_fd, const char *path, struct tidy_look *ret_look)
{
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE;
    look.directory_fd = tree_place_open_directory(tree_fd, path, &look.name);
    if (look.directory_fd < 0)
        return look.directory_fd;
    _cleanup_close_ int place =
        mount_point_avoid(look.directory_fd, look.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int r = place < 0 ? place : get_state(place, &look.is);
    if (r < 0)
        return r;
    look.fd = regular_file_open_place(place);
    if (look.fd < 0)
        return look.fd;
    (void)fcntl(look.fd, F_SETFL, O_NOATIME); /* for who may */
    *ret_look = look;
    look = (struct tidy_look)TIDY_LOOK_NONE;
    return 0;
}

int tidy_look_at(int directory_fd, const char *name, struct tidy_state *ret_is)
{
    _cleanup_close_ int place =
        mount_point_avoid(directory_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return place < 0 ? place : get_state(place, ret_is);
}

int tidy_look_at_path(int tree_fd, const char *path, struct tidy_state *ret_is)
{
    const char *name;
    _cleanup_close_ int directory_fd = tree_place_open_directory(tree_fd, path, &name);
    return directory_fd < 0 ? directory_fd : tidy_look_at(directory_fd, name, ret_is);
}

/* -- holding -- */

/* That it is open is believed of any file system, that it is not of some. */
int tidy_look_hold(struct tidy_look *look)
{
    if (fcntl(look->fd, F_SETLEASE, F_RDLCK) < 0)
        return errno == EAGAIN ? -ETXTBSY : -errno;
    look->is_held = leases_are_told(look->fd, NULL);
    if (look->is_held)
        return 0;
    (void)fcntl(look->fd, F_SETLEASE, F_UNLCK);
    return -EOPNOTSUPP;
}

void tidy_look_let_go(struct tidy_look *look)
{
    if (look->is_held)
        (void)fcntl(look->fd, F_SETLEASE, F_UNLCK);
    look->is_held = false;
}

/* The kernel says of a lease that is being broken what it is to become. */
bool tidy_look_is_free(const struct tidy_look *look)
{
    return !look->is_held || fcntl(look->fd, F_GETLEASE) == F_RDLCK;
}

/* -- comparing -- */

int tidy_look_compare(const struct tidy_look *a, const struct tidy_look *b)
{
    enum { AT_ONCE = 256 << 10 };
    struct fd_whole whole_a, whole_b;
    _cleanup_free_ char *bytes = malloc((size_t)2 * AT_ONCE);
    int r = bytes ? fd_whole_begin(&whole_a, a->fd) : -ENOMEM;
    if (r == 0)
        r = fd_whole_begin(&whole_b, b->fd);
    for (ssize_t n = 1; r == 0 && n > 0;) {
        n = fd_whole_read(&whole_a, bytes, AT_ONCE);
        const ssize_t n_b = n < 0 ? n : fd_whole_read(&whole_b, bytes + AT_ONCE, AT_ONCE);
        if (n_b < 0)
            r = (int)n_b;
        else if (n != n_b || memcmp(bytes, bytes + AT_ONCE, (size_t)n) != 0)
            r = -ESTALE;
        else if (!tidy_look_is_free(a) || !tidy_look_is_free(b))
            r = -ETXTBSY;
    }
    return r;
}

/* A mount answers by names below this one, each file another thing. */
static bool is_answer(const char *name)
{
    static const char answers[] = "user.kinfs.";
    return strncmp(name, answers, strlen(answers)) == 0 && strcmp(name, INDEX_KEEP_ATTRIBUTE) != 0;
}

struct attributes {
    char *names; /* with a NUL behind each */
    const char **each;
    size_t n; /* without answers */
};

static void attributes_done(struct attributes *attributes)
{
    free(attributes->each);
    free(attributes->names);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of their names. */
static int list_attributes(int fd, struct attributes *ret_attributes)
{
    char *names = malloc(XATTR_LIST_MAX);
    const ssize_t n = names ? flistxattr(fd, names, XATTR_LIST_MAX) : -1;
    ret_attributes->names = names;
    if (n < 0)
        return !names ? -ENOMEM : errno == EOPNOTSUPP ? 0 : -errno;
    const char **each = calloc((size_t)n / 2 + 1, sizeof(*each));
    ret_attributes->each = each;
    if (!each)
        return -ENOMEM;
    for (const char *name = names; name < names + n; name += strlen(name) + 1)
        if (!is_answer(name))
            each[ret_attributes->n++] = name;
    qsort(each, ret_attributes->n, sizeof(*each), compare_names);
    return 0;
}

/* value  XATTR_SIZE_MAX bytes */
static ssize_t get_attribute(int fd, const char *name, char *value)
{
    const ssize_t n = fgetxattr(fd, name, value, XATTR_SIZE_MAX);
    return n < 0 ? -errno : n;
}

DEFINE_CLEANUP(EVP_MD_CTX *, EVP_MD_CTX_free);

int tidy_look_digest_attributes(int fd, char ret_sha256[TIDY_LOOK_DIGITS + 1])
{
    _cleanup_(attributes_done) struct attributes of = {0};
    _cleanup_(EVP_MD_CTX_free_p) EVP_MD_CTX *context = EVP_MD_CTX_new();
    _cleanup_free_ char *value = malloc(XATTR_SIZE_MAX);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n_digest;
    if (!context || !value || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        return -ENOMEM;
    int r = list_attributes(fd, &of);
    for (size_t i = 0; r == 0 && i < of.n; i++) {
        const ssize_t n = get_attribute(fd, of.each[i], value);
        if (n < 0)
            return (int)n;
        const uint64_t size_bytes = htole64((uint64_t)n);
        EVP_DigestUpdate(context, of.each[i], strlen(of.each[i]) + 1);
        EVP_DigestUpdate(context, &size_bytes, sizeof(size_bytes));
        EVP_DigestUpdate(context, value, (size_t)n);
    }
    if (r == 0 && !EVP_DigestFinal_ex(context, digest, &n_digest))
        r = -ENOMEM;
    for (unsigned i = 0; r == 0 && i < n_digest; i++)
        snprintf(ret_sha256 + 2 * (size_t)i, 3, "%02x", digest[i]);
    return r;
}

int tidy_look_compare_attributes(const struct tidy_look *a, const struct tidy_look *b)
{
    char of_a[TIDY_LOOK_DIGITS + 1], of_b[TIDY_LOOK_DIGITS + 1];
    int r = tidy_look_digest_attributes(a->fd, of_a);
    if (r == 0)
        r = tidy_look_digest_attributes(b->fd, of_b);
    return r < 0 ? r : strcmp(of_a, of_b) != 0 ? -ESTALE : 0;
}

int tidy_look_copy_attributes(int from, int to)
{
    _cleanup_(attributes_done) struct attributes of = {0};
    _cleanup_free_ char *value = malloc(XATTR_SIZE_MAX);
    int r = value ? list_attributes(from, &of) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < of.n; i++) {
        const ssize_t n = get_attribute(from, of.each[i], value);
        r = n < 0 ? (int)n : fsetxattr(to, of.each[i], value, (size_t)n, 0) < 0 ? -errno : 0;
    }
    return r;
}
