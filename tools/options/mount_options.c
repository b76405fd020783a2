#include "tools/options/mount_options.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/statvfs.h>

#include "tools/options/byte_count.h"
#include "tools/options/duration.h"
#include "tools/show/message.h"
#include "tools/options/policy_choice.h"
#include "tools/options/topics_choice.h"
#include "tools/options/word_choice.h"

void mount_options_init(struct mount_options *options)
{
    *options = (struct mount_options){
        /* Below the 0.5 of clusters: an estimate near 0.5 has a standard error of 0.044, and a list
         * shall not lack what is in the same cluster. */
        .threshold = 0.4,
        /* The limit is what a person reads; `kinfs similar --limit=0` has them all. */
        .limit = 100,
        .views = MOUNT_VIEW_SIMILAR | MOUNT_VIEW_CLUSTERS | MOUNT_VIEWS_READING,
        .sketch = true,
        .passages = INDEX_PASSAGES_NONE,
        /* For root the kernel checks every access itself; others need user_allow_other. */
        .allow_other = geteuid() == 0,
        .passthrough = true,
        /* Sketching what was just closed takes milliseconds; past this, a view is better late than
         * an `ls` that hangs. */
        .settle_ms = 2000,
    };
}

void mount_options_done(struct mount_options *options)
{
    free(options->store);
    free(options->policy);
    free(options->tokens);
    free(options->stopwords);
    free(options->stemmer);
    free(options->log);
    free(options->config);
    free(options->extra);
    free(options->of_sketching);
    document_rules_done(&options->documents);
    unique_rules_done(&options->unique);
    *options = (struct mount_options){0};
}

/* The kernel's own, passed on as they are. */
static bool is_for_kernel(const char *name)
{
    static const char *const names[] = {"ro",      "rw",        "suid",       "nosuid", "dev",
                                        "nodev",   "exec",      "noexec",     "sync",   "async",
                                        "dirsync", "symfollow", "nosymfollow"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* The option is one that mount(8), fstab(5) and systemd keep for themselves, wherever it is passed
 * on. */
static bool is_for_mount(const char *name)
{
    static const char *const names[] = {"defaults", "auto",   "noauto", "user",   "nouser",
                                        "users",    "owner",  "group",  "nofail", "_netdev",
                                        "comment",  "helper", "uhelper"};
    if (strncmp(name, "x-", 2) == 0 || strncmp(name, "X-", 2) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int parse_number(const char *name, const char *value, unsigned long long most,
                        unsigned long long *ret_number, char **ret_error)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || number > most)
        return refuse(ret_error, -EINVAL, "-o %s=%s: takes a number from 0 to %llu", name, value,
                      most);
    *ret_number = number;
    return 0;
}

static int parse_cache(const char *value, uint64_t *ret_bytes, char **ret_error)
{
    enum { LEAST_BYTES = 1 << 20 };
    uint64_t bytes = 0;
    if (byte_count_parse(value, &bytes) < 0 || bytes < LEAST_BYTES)
        return refuse(ret_error, -EINVAL,
                      "-o cache=%s: takes a number of bytes, as 64M or 1G, 1M at least", value);
    *ret_bytes = bytes;
    return 0;
}

static int parse_passages(const char *value, unsigned *ret_passages, char **ret_error)
{
    char *end;
    const unsigned long words = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || words < INDEX_PASSAGES_LEAST ||
        words > INDEX_PASSAGES_MOST)
        return refuse(ret_error, -EINVAL,
                      "-o passages=%s: takes the words of the shortest passage that is sure to be "
                      "found, %d to %d",
                      value, INDEX_PASSAGES_LEAST, INDEX_PASSAGES_MOST);
    *ret_passages = (unsigned)words;
    return 0;
}

static int parse_views(const char *value, unsigned *ret_views, char **ret_error)
{
    static const struct {
        const char *name;
        unsigned views;
    } words[] = {{"similar", MOUNT_VIEW_SIMILAR}, {"contains", MOUNT_VIEW_CONTAINS},
                 {"within", MOUNT_VIEW_WITHIN},   {"clusters", MOUNT_VIEW_CLUSTERS},
                 {"unique", MOUNT_VIEW_UNIQUE},   {"listed", MOUNT_VIEW_LISTED},
                 {"hidden", MOUNT_VIEW_HIDDEN},   {"passages", MOUNT_VIEW_PASSAGES},
                 {"lost", MOUNT_VIEW_LOST},       {"related", MOUNT_VIEW_RELATED},
                 {"topics", MOUNT_VIEW_TOPICS}};
    const size_t n_words = sizeof(words) / sizeof(words[0]);
    const unsigned all = MOUNT_VIEW_SIMILAR | MOUNT_VIEW_CLUSTERS | MOUNT_VIEWS_READING;
    _cleanup_free_ char *copy = message("%s", value);
    unsigned views = 0;
    char *rest = copy, *word;
    if (strcmp(value, "none") == 0) {
        *ret_views = 0;
        return 0;
    }
    while ((word = strsep(&rest, ":"))) {
        size_t i = 0;
        while (i < n_words && strcmp(words[i].name, word) != 0)
            i++;
        if (i == n_words)
            return refuse(
                ret_error, -EINVAL,
                "-o views=%s: takes similar, contains, within, passages, related, topics, lost, "
                "clusters, unique, listed and hidden, with colons between, or none",
                value);
        views |= words[i].views;
    }
    if (views & MOUNT_VIEW_LISTED && views & MOUNT_VIEW_HIDDEN)
        return refuse(ret_error, -EINVAL, "-o views=%s: either listed or hidden; leave one out",
                      value);
    if (views & MOUNT_VIEWS_READING && views & MOUNT_VIEW_LISTED)
        views |= MOUNT_VIEW_READING_LISTED;
    *ret_views = views & all ? views : views | all;
    return 0;
}

int mount_options_clustering(const char *text, struct index_clustering *clusterings,
                             size_t *n_clusterings, char **ret_error)
{
    struct index_clustering clustering;
    size_t i = 0;
    int r = index_clustering_parse(text, &clustering, ret_error);
    if (r < 0)
        return r;
    while (i < *n_clusterings && strcmp(clusterings[i].name, clustering.name) != 0)
        i++;
    if (i < *n_clusterings)
        return refuse(ret_error, -EINVAL, "clustering %s is there a second time", clustering.name);
    if (i == INDEX_CLUSTERINGS_MAX)
        return refuse(ret_error, -EINVAL, "clustering %s is one too many; %d can be named",
                      clustering.name, INDEX_CLUSTERINGS_MAX);
    clusterings[(*n_clusterings)++] = clustering;
    return 0;
}

/* Several have commas between, written "\,". Not "\,", and they come as options of their own. */
static int parse_clusters(struct mount_options *options, const char *value, char **ret_error)
{
    _cleanup_free_ char *copy = message("%s", value), *error = NULL;
    char *rest = copy, *text;
    while ((text = strsep(&rest, ","))) {
        if (mount_options_clustering(text, options->clusterings, &options->n_clusterings, &error))
            return refuse(ret_error, -EINVAL, "-o clusters=%s: %s", text, error ? error : "");
    }
    return 0;
}

static int parse_watch(const char *value, unsigned *ret_watch, char **ret_error)
{
    static const char *const names[] = {"auto", "fanotify", "inotify", "none"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(value, names[i]) == 0) {
            *ret_watch = i;
            return 0;
        }
    return refuse(ret_error, -EINVAL, "-o watch=%s: takes auto, fanotify, inotify or none", value);
}

static void replace(char **text, const char *value)
{
    free(*text);
    *text = message("%s", value);
}

static int take_document_rule(struct mount_options *options, const char *name, const char *value,
                              char **ret_error)
{
    _cleanup_free_ char *error = NULL;
    int r = document_rules_take(&options->documents, name, value, &error);
    if (r == 0)
        r = unique_rules_take(&options->unique, name, value, &error);
    return r < 0 && error ? refuse(ret_error, r, "-o %s", error) : r;
}

static int refuse_unknown(const struct mount_options *options, const char *name, const char *equals,
                          char **ret_error)
{
    return options->sloppy ? 0
                           : refuse(ret_error, -EINVAL, "-o %s%s: no such option", name, equals);
}

static int parse_value(struct mount_options *options, const char *name, const char *value,
                       char **ret_error)
{
    unsigned long long number = 0;
    uint8_t choice;
    int r = 0;
    if (strcmp(name, "threshold") == 0) {
        char *end;
        double threshold = strtod(value, &end);
        if (end == value || *end || !(threshold >= 0 && threshold <= 1))
            return refuse(ret_error, -EINVAL, "-o threshold=%s: takes a number from 0 to 1", value);
        options->threshold = threshold;
    } else if (strcmp(name, "limit") == 0) {
        r = parse_number(name, value, UINT32_MAX, &number, ret_error);
        if (r == 0)
            options->limit = number;
    } else if (strcmp(name, "workers") == 0) {
        r = parse_number(name, value, 256, &number, ret_error);
        if (r == 0)
            options->n_workers = (unsigned)number;
    } else if (strcmp(name, "passages") == 0) {
        r = parse_passages(value, &options->passages, ret_error);
    } else if (strcmp(name, "topics") == 0) {
        r = topics_choice("-o topics=", value, &options->topics, ret_error);
    } else if (strcmp(name, "keep_lost") == 0) {
        if (duration_parse_keep_lost(value, &options->keep_lost_s) < 0)
            return refuse(ret_error, -EINVAL,
                          "-o keep_lost=%s: takes " DURATION_FORMS ", or 0 to keep nothing", value);
    } else if (strcmp(name, "cache") == 0) {
        r = parse_cache(value, &options->cache_bytes, ret_error);
    } else if (strcmp(name, "settle_ms") == 0) {
        r = parse_number(name, value, INT_MAX, &number, ret_error);
        if (r == 0)
            options->settle_ms = (int)number;
    } else if (strcmp(name, "watch") == 0) {
        return parse_watch(value, &options->watch, ret_error);
    } else if (strcmp(name, "clusters") == 0) {
        r = parse_clusters(options, value, ret_error);
    } else if (strcmp(name, "views") == 0) {
        r = parse_views(value, &options->views, ret_error);
    } else if (strcmp(name, "tokens") == 0) {
        r = word_choice_tokens("-o tokens=", value, &choice, ret_error);
        if (r == 0)
            replace(&options->tokens, value);
    } else if (strcmp(name, "stopwords") == 0) {
        r = word_choice_stopwords("-o stopwords=", value, &choice, ret_error);
        if (r == 0)
            replace(&options->stopwords, value);
    } else if (strcmp(name, "stemmer") == 0) {
        r = word_choice_stemmer("-o stemmer=", value, &choice, ret_error);
        if (r == 0)
            replace(&options->stemmer, value);
    } else if (!*value) {
        return refuse(ret_error, -EINVAL, "-o %s=: has no value", name);
    } else if ((r = take_document_rule(options, name, value, ret_error)) != 0) {
        r = r < 0 ? r : 0;
    } else if (strcmp(name, "store") == 0) {
        replace(&options->store, value);
    } else if (strcmp(name, "policy") == 0) {
        r = policy_choice("-o policy=", value, ret_error);
        if (r == 0)
            replace(&options->policy, value);
    } else if (strcmp(name, "log") == 0) {
        replace(&options->log, value);
    } else if (strcmp(name, "config") == 0) {
        replace(&options->config, value);
    } else {
        return refuse_unknown(options, name, "=", ret_error);
    }
    /* No views is what there is without sketches, too. */
    if (r == 0 && strcmp(name, "log") != 0 && !(strcmp(name, "views") == 0 && !options->views))
        replace(&options->of_sketching, name);
    return r;
}

/* The last one of options that exclude each other holds. */
static void add_for_kernel(struct mount_options *options, const char *name)
{
    char *extra = options->extra ? message("%s,%s", options->extra, name) : message("%s", name);
    free(options->extra);
    options->extra = extra;
}

static int parse_flag(struct mount_options *options, const char *name, char **ret_error)
{
    static const struct {
        const char *name;
        size_t offset;
        bool value;
    } flags[] = {
        {"sketch", offsetof(struct mount_options, sketch), true},
        {"nosketch", offsetof(struct mount_options, sketch), false},
        {"list_xattr", offsetof(struct mount_options, list_xattr), true},
        {"robots", offsetof(struct mount_options, robots), true},
        {"allow_other", offsetof(struct mount_options, allow_other), true},
        {"noallow_other", offsetof(struct mount_options, allow_other), false},
        {"passthrough", offsetof(struct mount_options, passthrough), true},
        {"nopassthrough", offsetof(struct mount_options, passthrough), false},
        {"debug", offsetof(struct mount_options, debug), true},
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(name, flags[i].name) == 0) {
            *(bool *)((char *)options + flags[i].offset) = flags[i].value;
            if (strcmp(name, "list_xattr") == 0 || strcmp(name, "robots") == 0)
                replace(&options->of_sketching, name);
            return 0;
        }
    if (strcmp(name, "passages") == 0) {
        options->passages = INDEX_PASSAGES_USUAL;
        replace(&options->of_sketching, name);
        return 0;
    }
    if (access_times_option(&options->access_times, name))
        return 0;
    if (!is_for_kernel(name))
        return refuse_unknown(options, name, "", ret_error);
    add_for_kernel(options, name);
    return 0;
}

int mount_options_deny_as(struct mount_options *options, int source_fd, const char *source,
                          char **ret_error)
{
    static const struct {
        unsigned long flag;
        const char *name;
    } denials[] = {{ST_NOSUID, "nosuid"},
                   {ST_NODEV, "nodev"},
                   {ST_NOEXEC, "noexec"},
                   {0x2000, "nosymfollow"}}; /* ST_NOSYMFOLLOW of Linux 5.10, which glibc has not */
    struct statvfs st;
    if (fstatvfs(source_fd, &st) < 0)
        return refuse(ret_error, -errno, "%s: %s", source, strerror(errno));
    for (size_t i = 0; i < sizeof(denials) / sizeof(*denials); i++)
        if (st.f_flag & denials[i].flag)
            add_for_kernel(options, denials[i].name);
    return 0;
}

/* The end of the option that begins at text: the next comma without a backslash; "\," becomes ",".
 */
static char *cut_option(char *text)
{
    char *to = text;
    for (char *from = text; *from; from++) {
        if (*from == ',') {
            *to = '\0';
            return from + 1;
        }
        if (from[0] == '\\' && (from[1] == ',' || from[1] == '\\'))
            from++;
        *to++ = *from;
    }
    *to = '\0';
    return NULL;
}

int mount_options_parse(struct mount_options *options, const char *text, char **ret_error)
{
    _cleanup_free_ char *copy = message("%s", text);
    bool in_clusters = false; /* what has a colon goes on with -o clusters=A:...,B:... */
    for (char *option = copy, *next; option; option = next) {
        next = cut_option(option);
        if (!*option)
            continue;
        char *equals = strchr(option, '=');
        if (equals)
            *equals = '\0';
        if (is_for_mount(option))
            continue;
        in_clusters = equals ? strcmp(option, "clusters") == 0 : in_clusters && strchr(option, ':');
        int r = equals        ? parse_value(options, option, equals + 1, ret_error)
                : in_clusters ? parse_clusters(options, option, ret_error)
                              : parse_flag(options, option, ret_error);
        if (r < 0)
            return r;
    }
    if (!options->sketch && options->of_sketching)
        return refuse(ret_error, -EINVAL,
                      "-o nosketch: nothing is sketched, so -o %s has no meaning; leave one of the "
                      "two out",
                      options->of_sketching);
    return 0;
}
