/* Modes of the views' nodes, as the kernel is told them, and access control lists beside them.
 *
 * The daemon looks at everyone who opens a directory of the views. But a watch (inotify) the kernel
 * grants alone, by the rights that it was told, and a watch tells names as others come upon them.
 * So what mirrors a part of the tree has the rights of that part, its access control list among
 * them: the group's bits of a mode are then but the list's mask, and would let in who is kept out.
 */
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "base/proc_path.h"
#include "fs/views/view.h"
#include "fs/views/views.h"

bool view_is_mirror(const struct view_node *node)
{
    return node->kind == VIEW_DIRECTORY || node->kind == VIEW_DOCUMENT;
}

mode_t view_mode(const struct view_node *mirror, mode_t mirrored)
{
    const mode_t reading = mirrored & 0444;
    /* The links of a document are there to list and to find; a mode of a document has no bit for
     * it. */
    return mirror->kind == VIEW_DOCUMENT ? reading | reading >> 2 : mirrored & 0555;
}

int views_access_list(struct fs *fs, const struct view_node *node, const char *name, void *value,
                      size_t size)
{
    _cleanup_close_ int fd = -1;
    if (!view_is_mirror(node) || strcmp(name, "system.posix_acl_access") != 0)
        return -ENODATA;
    int r = view_open_node(fs, NULL, node, &fd);
    if (r < 0)
        return r;
    ssize_t n_bytes = getxattr(proc_path_of(fd).text, name, value, size);
    if (n_bytes < 0)
        return errno == EOPNOTSUPP ? -ENODATA : -errno;
    struct posix_acl_xattr_entry entry;
    char *bytes = value;
    for (size_t at = sizeof(struct posix_acl_xattr_header);
         size && at + sizeof(entry) <= (size_t)n_bytes; at += sizeof(entry)) {
        memcpy(&entry, bytes + at, sizeof(entry));
        entry.e_perm = htole16((uint16_t)view_mode(node, le16toh(entry.e_perm)));
        memcpy(bytes + at, &entry, sizeof(entry));
    }
    return (int)n_bytes;
}
