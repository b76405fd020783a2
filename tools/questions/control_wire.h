/* The form of what goes over a store's control socket, of both its sides: see control.h. */
#ifndef KINFS_TOOLS_QUESTIONS_CONTROL_WIRE_H
#define KINFS_TOOLS_QUESTIONS_CONTROL_WIRE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CONTROL_SOCKET "control"

/* The socket's address, as long as the returned descriptor of the store is open. Returns that,
 * -EPERM where others can change the store (base/files/trust.h), with the reason in *ret_why, or an
 * errno of open(2). */
int control_open_address(const char *store, struct sockaddr_un *ret_address, char **ret_why);

/* The socket lies in the store; what a link leads to is none. */
bool control_is_socket(int store_fd);

/* Returns 0, -ENOMEM or an errno of sendmsg(2); raises no signal. object is borrowed. */
int control_send_line(int fd, struct json_object *object);

#endif
