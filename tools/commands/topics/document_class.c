#include "tools/commands/topics/document_class.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

#define ATTRIBUTE_NAMESPACE "user."

int document_classes_open(const char *by, const char *store, struct document_classes *ret_classes,
                          char **ret_error)
{
    *ret_classes = (struct document_classes){0};
    if (strncmp(by, ATTRIBUTE_NAMESPACE, strlen(ATTRIBUTE_NAMESPACE)) == 0) {
        ret_classes->attribute = by;
        return 0;
    }
    int r = locate(by, store, &ret_classes->location, ret_error);
    if (r < 0)
        return r;
    return ret_classes->location.is_file
               ? refuse(ret_error, -ENOTDIR,
                        "%s: not a directory; an attribute begins with " ATTRIBUTE_NAMESPACE, by)
               : 0;
}

void document_classes_done(struct document_classes *classes)
{
    location_done(&classes->location);
}

/* The name of the directory in it that the path leads through. */
static int class_by_directory(const struct document_classes *classes, const char *path,
                              char **ret_class)
{
    const char *directory = classes->location.path;
    const size_t n = strlen(directory);
    if (strncmp(path, directory, n) != 0 || (n && path[n] != '/'))
        return 0;
    const char *name = path + n + (n > 0), *end = strchr(name, '/');
    if (!end)
        return 0; /* it is right in the directory */
    *ret_class = strndup(name, (size_t)(end - name));
    return *ret_class ? 1 : -ENOMEM;
}

static int class_by_attribute(const char *attribute, const char *path, char **ret_class)
{
    char value[DOCUMENT_CLASS_BYTES + 1] = {0};
    patience_look(path);
    _cleanup_close_ int fd = regular_file_open(path);
    const ssize_t n_bytes = fd < 0 ? -1 : fgetxattr(fd, attribute, value, DOCUMENT_CLASS_BYTES);
    if (n_bytes <= 0 || !*value)
        return 0;
    *ret_class = strdup(value);
    return *ret_class ? 1 : -ENOMEM;
}

int document_class(const struct document_classes *classes, const char *base, const char *path,
                   char **ret_class)
{
    if (!classes->attribute)
        return class_by_directory(classes, path, ret_class);
    _cleanup_free_ char *absolute = message("%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
    return class_by_attribute(classes->attribute, absolute, ret_class);
}
