#include "tools/documents/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/evp.h>

#include "base/cleanup.h"
#include "base/files/unlocked_read.h"
#include "base/proc_path.h"

int new_file_name(const char *prefix, char ret_name[NEW_FILE_NAME_BYTES])
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return -EAGAIN;
    snprintf(ret_name, NEW_FILE_NAME_BYTES, "%.32s%016llx", prefix, (unsigned long long)number);
    return 0;
}

int new_file_make(int directory_fd, const char *prefix, char ret_temporary[NEW_FILE_NAME_BYTES])
{
    int fd = openat(directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    *ret_temporary = '\0';
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd < 0 ? -errno : fd;
    int r = new_file_name(prefix, ret_temporary);
    if (r < 0)
        return r;
    fd = openat(directory_fd, ret_temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC,
                0600);
    if (fd >= 0)
        return fd;
    *ret_temporary = '\0';
    return -errno;
}

int new_file_link(int fd, int directory_fd, const char *name)
{
    return linkat(AT_FDCWD, proc_path_of(fd).text, directory_fd, name, AT_SYMLINK_FOLLOW) < 0
               ? -errno
               : 0;
}

/* Zeroes are left out: a file with holes takes no more room than it did. */
static int write_at(int to, const char *bytes, ssize_t n, off_t offset)
{
    if (n > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)n - 1) == 0)
        return 0;
    for (ssize_t at = 0, done; at < n; at += done)
        if ((done = pwrite(to, bytes + at, (size_t)(n - at), offset + at)) < 0)
            return -errno;
    return 0;
}

DEFINE_CLEANUP(EVP_MD_CTX *, EVP_MD_CTX_free);

int new_file_copy(int from, int to, uint64_t size_bytes, char ret_sha256[NEW_FILE_DIGITS + 1],
                  bool *ret_cannot_write)
{
    _cleanup_(EVP_MD_CTX_free_p) EVP_MD_CTX *context = EVP_MD_CTX_new();
    char buffer[64 << 10];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n_digest;
    int r = 0;
    *ret_cannot_write = false;
    if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        return -ENOMEM;
    for (uint64_t n_read = 0; n_read < size_bytes;) {
        const uint64_t left = size_bytes - n_read;
        ssize_t n = unlocked_read(
            from, buffer, left < sizeof(buffer) ? (size_t)left : sizeof(buffer), (off_t)n_read);
        if (n <= 0)
            return n < 0 ? (int)n : -ESTALE;
        EVP_DigestUpdate(context, buffer, (size_t)n);
        r = to < 0 ? 0 : write_at(to, buffer, n, (off_t)n_read);
        *ret_cannot_write = r < 0;
        if (r < 0)
            return r;
        n_read += (uint64_t)n;
    }
    if (to >= 0 && ftruncate(to, (off_t)size_bytes) < 0) {
        *ret_cannot_write = true;
        return -errno;
    }
    if (!EVP_DigestFinal_ex(context, digest, &n_digest))
        return -ENOMEM;
    for (unsigned i = 0; i < n_digest; i++)
        snprintf(ret_sha256 + 2 * (size_t)i, 3, "%02x", digest[i]);
    return 0;
}
