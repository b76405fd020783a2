#include "tools/commands/cluster/cluster_errors.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "tools/show/message.h"

/* Others could have written what is kept, or have it written over what they like. */
static int explain_untrusted(const char *keep, char **ret_error)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int fd = trust_open_directory(keep, &why);
    if (fd == -EPERM && why)
        return refuse(ret_error, -EPERM, "%s", why);
    return refuse(ret_error, -EPERM,
                  "%s: a file in it is a link, or others can write it; name another directory by "
                  "--keep",
                  keep);
}

int cluster_explain(const struct batch_options *options, int error, char **ret_error)
{
    if (error == -EPERM && options->keep)
        return explain_untrusted(options->keep, ret_error);
    switch (error) {
    case -ENOSPC:
    case -EDQUOT:
    case -EFBIG:
        if (options->keep)
            return refuse(ret_error, error,
                          "%s or %s: no room; name another directory by --keep, or for what does "
                          "not fit into memory by --scratch",
                          options->keep, options->scratch);
        return refuse(ret_error, error,
                      "%s: no room for what does not fit into memory; give more --memory, or name "
                      "another directory by --scratch",
                      options->scratch);
    case -ENOMEM: return refuse(ret_error, error, "not so much memory; give less --memory");
    case -ENOTEMPTY:
        return refuse(
            ret_error, error,
            "%s: not empty, and not what --keep has made; name another directory by --keep",
            options->keep);
    case -EBUSY:
        return refuse(ret_error, error, "%s: another kinfs cluster is at work there; wait for it",
                      options->keep);
    default:
        if (options->keep)
            return refuse(ret_error, error,
                          "%s or %s: %s; name another directory by --scratch or --keep",
                          options->scratch, options->keep, strerror(-error));
        return refuse(ret_error, error, "%s: %s; name another directory by --scratch",
                      options->scratch, strerror(-error));
    }
}

int cluster_explain_kept(const struct batch_options *options, int error, char **ret_error)
{
    if (error == -ENOENT)
        return refuse(ret_error, error, "%s: no sketches there; make them without --phase",
                      options->keep);
    if (error == -EUCLEAN)
        return refuse(ret_error, error,
                      "%s: damaged, or of another machine or version; make it anew "
                      "without --phase",
                      options->keep);
    return cluster_explain(options, error, ret_error);
}
