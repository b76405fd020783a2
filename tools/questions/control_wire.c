#include "tools/questions/control_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/trust.h"

/* A socket's address holds 108 bytes and a store's path may be longer: through a descriptor of the
 * store any path fits. */
int control_open_address(const char *store, struct sockaddr_un *ret_address, char **ret_why)
{
    int fd = trust_open_directory(store, ret_why);
    if (fd < 0)
        return fd;
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof(ret_address->sun_path),
             "/proc/self/fd/%d/" CONTROL_SOCKET, fd);
    return fd;
}

bool control_is_socket(int store_fd)
{
    struct stat st;
    return fstatat(store_fd, CONTROL_SOCKET, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

int control_send_line(int fd, struct json_object *object)
{
    size_t n;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (!text)
        return -ENOMEM;
    struct iovec parts[2] = {{(void *)text, n}, {(void *)"\n", 1}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(fd, &header, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -errno;
        for (int i = 0; i < 2; i++) {
            size_t part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
    return 0;
}
