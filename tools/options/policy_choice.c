#include "tools/options/policy_choice.h"

#include <errno.h>

#include "engine/sketch/policy.h"
#include "tools/show/message.h"

int policy_choice(const char *shown, const char *name, char **ret_error)
{
    struct policy unused;
    if (policy_preset(name, &unused) != -EINVAL)
        return 0;
    return refuse(ret_error, -EINVAL, "%s%s: no such policy; there are: default, broder1997", shown,
                  name);
}
