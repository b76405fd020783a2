/* Telling a service manager how far it is (sd_notify(3), which is one datagram). */
#ifndef KINFS_TOOLS_MOUNT_SERVICE_H
#define KINFS_TOOLS_MOUNT_SERVICE_H

/* "READY=1", "STOPPING=1"; does nothing where nobody manages this process, and it is nobody's fault
 * when it is not heard. */
void service_tell(const char *state);

#endif
