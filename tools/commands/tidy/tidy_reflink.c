/* By FIDEDUPERANGE, for which the kernel locks both files and compares them itself: so no change of
 * either is lost, however it comes, and an end amid it leaves two files as they were. */
#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "tools/commands/tidy/tidy_run.h"
#include "tools/commands/tidy/tidy_share.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

/* All file systems take this much at once; some cut what is more. */
enum { AT_ONCE = 16 << 20 };

/* Returns the bytes that are shared, -ESTALE where they differ, or an errno of ioctl(2). */
static int64_t share(int from, int to, uint64_t offset, uint64_t n_bytes)
{
    const size_t size = sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info);
    _cleanup_free_ struct file_dedupe_range *range = calloc(1, size);
    if (!range)
        return -ENOMEM;
    range->src_offset = offset;
    range->src_length = n_bytes;
    range->dest_count = 1;
    range->info[0].dest_fd = to;
    range->info[0].dest_offset = offset;
    if (ioctl(from, FIDEDUPERANGE, range) < 0)
        return -errno;
    if (range->info[0].status == FILE_DEDUPE_RANGE_DIFFERS)
        return -ESTALE;
    return range->info[0].status < 0 ? range->info[0].status
                                     : (int64_t)range->info[0].bytes_deduped;
}

static int64_t share_all(const struct tidy_look *look, const struct tidy_look *keep)
{
    for (uint64_t at = 0; at < look->is.size_bytes;) {
        const uint64_t left = look->is.size_bytes - at;
        const int64_t n = share(keep->fd, look->fd, at, left < AT_ONCE ? left : AT_ONCE);
        if (n <= 0)
            return n < 0 ? n : -EIO;
        at += (uint64_t)n;
    }
    return 0;
}

int tidy_reflink(struct tidy_run *run, const struct tidy_item *item, const struct tidy_look *look,
                 const struct tidy_look *keep, char **ret_why)
{
    _cleanup_json_ struct json_object *line = tidy_run_line(item, &look->is);
    if (look->is.size_bytes != keep->is.size_bytes)
        return refuse(ret_why, -ESTALE, "it has other bytes");
    int r = tidy_run_begin(run, line, ret_why);
    tidy_run_end(); /* an end amid it does no harm */
    if (r == 0)
        r = (int)share_all(look, keep);
    switch (r) {
    case 0: return 0;
    case -ESTALE: return refuse(ret_why, r, "it has other bytes");
    case -EOPNOTSUPP:
    case -ENOTTY:
    case -EINVAL:
    case -ENOSYS:
        return refuse(ret_why, r, "the file system cannot have two files share what is the same");
    default: return *ret_why ? r : refuse(ret_why, r, "cannot be reflinked: %s", strerror(-r));
    }
}
