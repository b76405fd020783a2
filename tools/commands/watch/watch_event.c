#include "tools/commands/watch/watch_event.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/ratio.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

extern char **environ;

static bool has(struct json_object *row, const char *name)
{
    return json_object_object_get_ex(row, name, NULL);
}

/* The name beside the document: what it is near to, or the representative. */
static const char *name_of_other(struct json_object *row)
{
    return has(row, "other") ? "other" : "representative";
}

static void make_absolute(struct json_object *row, const char *base)
{
    if (!base)
        return;
    command_make_absolute(row, "path", base);
    command_make_absolute(row, name_of_other(row), base);
}

static void print_path_or_dash(struct json_object *row, const char *name)
{
    if (has(row, name))
        command_print_path(row, name, false);
    else
        putchar('-');
}

void watch_event_print(struct json_object *row, const char *base, bool json)
{
    make_absolute(row, base);
    if (json) {
        command_print_json(row);
        return;
    }
    printf("%s\t", command_text(row, "event"));
    if (has(row, "missed")) {
        printf("%llu\n", (unsigned long long)command_count(row, "missed"));
        return;
    }
    if (has(row, "from"))
        printf("clusters/%llu\tclusters/%llu", (unsigned long long)command_count(row, "from"),
               (unsigned long long)command_count(row, "cluster"));
    else
        print_path_or_dash(row, "path");
    if (has(row, "document")) {
        putchar('\t');
        print_path_or_dash(row, name_of_other(row));
        putchar('\t');
        command_print_ratio(row, "resemblance");
        printf("\t%llu", (unsigned long long)command_count(row, "cluster"));
        if (has(row, "decayed")) {
            putchar('\t');
            command_print_ratio(row, "decayed");
        }
    }
    putchar('\n');
}

static int wait_for(const char *program, pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    if (WIFSIGNALED(status))
        complain("%s: ended by signal %d", program, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        complain("%s: ended with code %d", program, WEXITSTATUS(status));
    return 0;
}

static int run(const char *program, const char *const *argv)
{
    pid_t pid;
    int r = posix_spawnp(&pid, program, NULL, NULL, (char **)argv, environ);
    if (r != 0) {
        complain("%s: %s", program, strerror(r));
        return -r;
    }
    return wait_for(program, pid);
}

/* A path of a row, or "". */
static char *path_of(struct json_object *row, const char *name)
{
    char *path = NULL;
    return json_path_get(row, name, &path) == 0 ? path : message("%s", "");
}

int watch_event_run(const char *program, const char *base, struct json_object *row)
{
    const char *event = command_text(row, "event");
    _cleanup_free_ char *path = NULL, *other = NULL;
    make_absolute(row, base);
    if (has(row, "missed"))
        path = message("%llu", (unsigned long long)command_count(row, "missed"));
    else if (has(row, "from"))
        path = message("%llu", (unsigned long long)command_count(row, "from"));
    else
        path = path_of(row, "path");
    if (has(row, "from"))
        other = message("%llu", (unsigned long long)command_count(row, "cluster"));
    else
        other = path_of(row, name_of_other(row));
    struct json_object *member = NULL;
    json_object_object_get_ex(row, "resemblance", &member);
    const struct ratio_text ratio =
        member ? ratio_text(json_object_get_double(member)) : (struct ratio_text){""};
    return run(program, (const char *const[]){program, event, path, other, ratio.text, NULL});
}
