/* The rows of /proc/self/mountinfo, read line by line. A line is cut at its blanks in place, so a
 * row's strings point into it.
 *
 * Example: "36 35 98:0 / /mnt\040a rw - ext4 /dev/sda rw" has the id 36, the point "/mnt a" and the
 * type ext4. The optional fields before " - " are passed over.
 */
#include "base/mounts/mount_table.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"

/* With a dot and a name behind, or without. */
bool mount_type_is_fuse(const char *type)
{
    const size_t n = strcspn(type, ".");
    return (n == strlen("fuse") && strncmp(type, "fuse", n) == 0) ||
           (n == strlen("fuseblk") && strncmp(type, "fuseblk", n) == 0);
}

int mount_table_open(struct mount_table *table, const char *path)
{
    *table = (struct mount_table){.file = fopen(path ? path : "/proc/self/mountinfo", "re")};
    return table->file ? 0 : -errno;
}

void mount_table_done(struct mount_table *table)
{
    fclose_p(&table->file);
    free(table->line);
    *table = (struct mount_table){0};
}

/* Unescapes \ooo in place. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
            from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static int parse(char *line, struct mount_row *ret_row)
{
    enum { ID, PARENT, DEVICE, ROOT, POINT, FLAGS, N_FIRST };
    char *first[N_FIRST], *rest = line, *optional;
    unsigned int major, minor;
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < N_FIRST; i++)
        if (!(first[i] = strsep(&rest, " ")) || !rest)
            return -EINVAL;
    do
        optional = strsep(&rest, " ");
    while (rest && strcmp(optional, "-") != 0);
    if (!rest || sscanf(first[DEVICE], "%u:%u", &major, &minor) != 2)
        return -EINVAL;
    const char *type = strsep(&rest, " ");
    char *source = strsep(&rest, " ");
    if (!source)
        return -EINVAL;
    unescape(first[ROOT]);
    unescape(first[POINT]);
    unescape(source);
    *ret_row = (struct mount_row){.id = strtoull(first[ID], NULL, 10),
                                  .parent_id = strtoull(first[PARENT], NULL, 10),
                                  .device = makedev(major, minor),
                                  .root = first[ROOT],
                                  .point = first[POINT],
                                  .flags = first[FLAGS],
                                  .type = type,
                                  .source = source,
                                  .options = rest ? rest : ""};
    return 1;
}

int mount_table_next(struct mount_table *table, struct mount_row *ret_row)
{
    if (getline(&table->line, &table->line_bytes, table->file) > 0)
        return parse(table->line, ret_row);
    return feof(table->file) ? 0 : -errno;
}

int mount_table_find(struct mount_table *table, const char *path, uint64_t id,
                     struct mount_row *ret_row)
{
    struct mount_row row;
    int r = mount_table_open(table, path);
    if (r < 0)
        return r;
    while ((r = mount_table_next(table, &row)) > 0)
        if (row.id == id) {
            *ret_row = row;
            return 0;
        }
    return r < 0 ? r : -ENOENT;
}
