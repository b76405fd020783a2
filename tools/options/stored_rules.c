#include "tools/options/stored_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "tools/show/message.h"

static int take_line(struct document_rules *rules, char *line, size_t n_bytes)
{
    char *equals = strchr(line, '=');
    if (!equals || line[n_bytes - 1] != '\0')
        return -EINVAL;
    *equals = '\0';
    int r = document_rules_take(rules, line, equals + 1, NULL);
    return r == 0 ? -EINVAL : r < 0 ? r : 0;
}

static int load(const char *store, struct document_rules *rules)
{
    _cleanup_close_ int store_fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_fclose_ FILE *file = NULL;
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t n_bytes;
    if (store_fd < 0)
        return -errno;
    int r = trust_open_stream(store_fd, STORED_RULES, O_RDONLY, &file);
    while (r == 0 && (n_bytes = getdelim(&line, &room, '\0', file)) > 0)
        r = take_line(rules, line, (size_t)n_bytes);
    return r == 0 && ferror(file) ? -EIO : r;
}

int stored_rules_load(const char *store, struct document_rules *ret_rules, char **ret_error)
{
    struct document_rules rules = {0};
    int r = load(store, &rules);
    if (r == 0) {
        *ret_rules = rules;
        return 1;
    }
    document_rules_done(&rules);
    if (r == -ENOENT)
        return 0;
    return refuse(ret_error, r,
                  "%s/" STORED_RULES ": %s; remove it, and name the rules again, as by kinfs scan "
                  "--exclude or in the configuration",
                  store, r == -EINVAL ? "not as it was written" : strerror(-r));
}

static int save(int store_fd, const struct document_rules *rules)
{
    FILE *file;
    int r = trust_open_stream(store_fd, STORED_RULES_NEW, O_WRONLY | O_CREAT | O_TRUNC, &file);
    if (r < 0)
        return r;
    for (size_t i = 0; i < rules->n_said; i++)
        fwrite(rules->said[i], 1, strlen(rules->said[i]) + 1, file);
    errno = EIO;
    if (ferror(file) || fflush(file) != 0)
        r = -errno;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    if (r == 0 && renameat(store_fd, STORED_RULES_NEW, store_fd, STORED_RULES) < 0)
        r = -errno;
    if (r < 0)
        unlinkat(store_fd, STORED_RULES_NEW, 0);
    return r;
}

int stored_rules_save(int store_fd, const char *store, const struct document_rules *rules,
                      char **ret_error)
{
    int r = save(store_fd, rules);
    return r < 0 ? refuse(ret_error, r, "%s/" STORED_RULES ": %s", store, strerror(-r)) : 0;
}
