#include "fs/inodes/node.h"

#include <errno.h>
#include <sys/random.h>

struct node_secret node_secret;

int node_secret_draw(void)
{
    struct node_secret drawn;
    if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn)) /* so few come at once */
        return -errno;
    node_secret = drawn;
    return 0;
}
