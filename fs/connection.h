/* The connection begins with what is agreed with the kernel. */
#ifndef KINFS_FS_CONNECTION_H
#define KINFS_FS_CONNECTION_H

#include "fs/state.h"

void op_init(void *user, struct fuse_conn_info *connection);

#endif
