/* The order of requests is something ThreadSanitizer cannot see: that the kernel sends a request
 * only after the replies it depends on. The node of a lookup, the handle of an open are used by
 * other threads than made them, and freed by others again, without a lock of ours: FORGET and
 * RELEASE come last.
 *
 * Included by fs/state.h alone. Nothing in other builds.
 */
#ifndef KINFS_FS_KERNEL_ORDER_H
#define KINFS_FS_KERNEL_ORDER_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KINFS_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define KINFS_TSAN 1
#endif

#ifdef KINFS_TSAN
#include <sanitizer/tsan_interface.h>

/* Told before each reply, learnt at the beginning of each request, of one mount. That is coarser
 * than what the kernel promises, but no coarser than the lock of its session which libfuse takes at
 * both places: only requests that overlap are looked at. */
#define KERNEL_ORDER_LEARN(fs) __tsan_acquire(fs)
#define KERNEL_ORDER_TELL(req) __tsan_release(fuse_req_userdata(req))

#define fuse_reply_attr(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_attr(req, __VA_ARGS__))
#define fuse_reply_buf(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_buf(req, __VA_ARGS__))
#define fuse_reply_create(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_create(req, __VA_ARGS__))
#define fuse_reply_data(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_data(req, __VA_ARGS__))
#define fuse_reply_entry(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_entry(req, __VA_ARGS__))
#define fuse_reply_err(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_err(req, __VA_ARGS__))
#define fuse_reply_ioctl(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_ioctl(req, __VA_ARGS__))
#define fuse_reply_lock(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_lock(req, __VA_ARGS__))
#define fuse_reply_lseek(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_lseek(req, __VA_ARGS__))
#define fuse_reply_none(req) (KERNEL_ORDER_TELL(req), fuse_reply_none(req))
#define fuse_reply_open(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_open(req, __VA_ARGS__))
#define fuse_reply_readlink(req, ...)                                                              \
    (KERNEL_ORDER_TELL(req), fuse_reply_readlink(req, __VA_ARGS__))
#define fuse_reply_statfs(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_statfs(req, __VA_ARGS__))
#define fuse_reply_statx(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_statx(req, __VA_ARGS__))
#define fuse_reply_write(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_write(req, __VA_ARGS__))
#define fuse_reply_xattr(req, ...) (KERNEL_ORDER_TELL(req), fuse_reply_xattr(req, __VA_ARGS__))
#else
#define KERNEL_ORDER_LEARN(fs) ((void)0)
#endif

#endif
