/* The identity of a store: schema version, policy with its secret key, and the tree it is of. A
 * store that is another's is refused with a message that says what to do. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/files/trust.h"
#include "engine/index/store_identity.h"
#include "engine/index/index_state.h"
#include "engine/index/tables/meta.h"
#include "engine/index/store_directory.h"

/* -- the policy's file: a rebuild of a damaged store needs the same policy and key -- */

static int open_policy_file(const char *store_path, int flags)
{
    _cleanup_close_ int directory_fd = open(store_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return directory_fd < 0 ? -errno : trust_open_file(directory_fd, "policy", flags, NULL);
}

int store_identity_read_policy_file(const char *store_path, struct policy *ret_policy)
{
    uint8_t encoded[POLICY_ENCODED_BYTES + 1];
    _cleanup_close_ int fd = open_policy_file(store_path, O_RDONLY);
    if (fd < 0)
        return fd;
    ssize_t n = read(fd, encoded, sizeof(encoded));
    return n < 0 ? -errno : policy_decode(encoded, (size_t)n, ret_policy);
}

static int write_policy_file(struct index *index)
{
    struct policy written;
    uint8_t encoded[POLICY_ENCODED_BYTES];
    if (store_identity_read_policy_file(index->store_path, &written) == 0 &&
        policy_id(&written) == policy_id(&index->policy))
        return 0;
    policy_encode(&index->policy, encoded);
    _cleanup_close_ int fd = open_policy_file(index->store_path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return fd;
    ssize_t n = write(fd, encoded, sizeof(encoded));
    if (n < 0)
        return -errno;
    return n != sizeof(encoded) ? -ENOSPC : fsync(fd) < 0 ? -errno : 0;
}

/* -- the database's own rows -- */

int store_identity_old_root(struct index *index, struct file_key *ret_key)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(index->kv, TABLE_META, meta_key("old_root"), &value);
    if (r < 0)
        return r;
    if (value.size_bytes < FILE_KEY_MIN_BYTES || value.size_bytes > FILE_KEY_MAX_BYTES)
        return -EUCLEAN;
    ret_key->size_bytes = (uint8_t)value.size_bytes;
    memcpy(ret_key->bytes, value.data, value.size_bytes);
    return 0;
}

/* The schema's version is written last: a store without it is one that was never finished. */
static int make_identity(struct index *index, const struct policy *policy)
{
    uint8_t encoded[POLICY_ENCODED_BYTES];
    const struct file_key *root = backing_root_key(index->backing);
    policy_encode(policy, encoded);
    int r = meta_put(index->kv, "policy", (struct kv_slice){encoded, sizeof(encoded)});
    if (r == 0)
        r = meta_put(index->kv, "root", (struct kv_slice){root->bytes, root->size_bytes});
    if (r == 0)
        r = meta_put(index->kv, "source", (struct kv_slice){index->source, strlen(index->source)});
    if (r == 0)
        r = meta_put_number(index->kv, META_MADE, clock_real_ns());
    if (r == 0)
        r = meta_put_number(index->kv, "schema", SCHEMA_VERSION);
    if (r == 0)
        r = kv_checkpoint(index->kv);
    return r;
}

/* -- what becomes of words -- */

static int refuse_words(const struct index *index, const char *option, const char *made_with,
                        const char *wanted, char **ret_error)
{
    return index_refuse(
        ret_error, -EPROTO,
        "store %s was made with %s=%s, not %s; leave out %s, or name another store with "
        "store=",
        index->store_path, option, made_with, wanted, option);
}

static int check_words(struct index *index, const struct index_options *options, char **ret_error)
{
    const struct word_options *words = &index->policy.words;
    const char *tokens = token_choice_name(words->tokens),
               *stopwords = stop_list_name(words->stop_list),
               *stemmer = stemmer_name(words->stemmer);
    if (word_options_check(words) < 0)
        return index_refuse(
            ret_error, -EPROTO,
            "store %s was made with stemmer=%s, which the libstemmer of this machine does "
            "not have; install one that has it, or name another store with store=",
            index->store_path, stemmer);
    if (options->tokens && strcmp(options->tokens, tokens) != 0)
        return refuse_words(index, "tokens", tokens, options->tokens, ret_error);
    if (options->stopwords && strcmp(options->stopwords, stopwords) != 0)
        return refuse_words(index, "stopwords", stopwords, options->stopwords, ret_error);
    if (options->stemmer && strcmp(options->stemmer, stemmer) != 0)
        return refuse_words(index, "stemmer", stemmer, options->stemmer, ret_error);
    return 0;
}

/* A new store gets the names of its words from the options. */
static int choose_words(struct index *index, const struct index_options *options, char **ret_error)
{
    char names[WORD_OPTIONS_NAMES_MAX];
    int tokens = options->tokens ? token_choice_find(options->tokens) : 0;
    int stop_list = options->stopwords ? stop_list_find(options->stopwords) : 0;
    int stemmer = options->stemmer ? stemmer_find(options->stemmer) : 0;
    if (tokens < 0) {
        token_choice_names(names);
        return index_refuse(ret_error, -EINVAL, "there are no tokens '%s'; there are: %s",
                            options->tokens, names);
    }
    if (stop_list < 0) {
        stop_list_names(names);
        return index_refuse(ret_error, -EINVAL, "there are no stop words '%s'; there are: %s",
                            options->stopwords, names);
    }
    if (stemmer < 0) {
        stemmer_names(names);
        return index_refuse(ret_error, -EINVAL, "there is no stemmer '%s'; there are: %s",
                            options->stemmer, names);
    }
    index->policy.words = (struct word_options){
        .stop_list = (uint8_t)stop_list, .stemmer = (uint8_t)stemmer, .tokens = (uint8_t)tokens};
    return 0;
}

static int check_policy(struct index *index, const struct index_options *options, char **ret_error)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(index->kv, TABLE_META, meta_key("policy"), &value);
    if (r == 0)
        r = policy_decode(value.data, value.size_bytes, &index->policy);
    if (r > 0)
        return index_refuse(
            ret_error, -EUCLEAN,
            "store %s has the sketches of another version of kinfs, which compare with "
            "none of this one's; `kinfs rebuild --store=%s %s` makes them anew (the "
            "documents are not touched)",
            index->store_path, index->store_path, index->source);
    if (r == -ENOENT || r == -EUCLEAN)
        return index_refuse(
            ret_error, -EUCLEAN,
            "store %s is damaged: its policy cannot be read; run `kinfs check --repair "
            "--store=%s %s` to mend it (the documents are not touched)",
            index->store_path, index->store_path, index->source);
    if (r < 0)
        return r;
    if (options->policy && strcmp(options->policy, index->policy.name) != 0)
        return index_refuse(
            ret_error, -EPROTO,
            "store %s was made with policy '%s', not '%s'; leave out policy=, or name "
            "another store with store=",
            index->store_path, index->policy.name, options->policy);
    return check_words(index, options, ret_error);
}

static int check_root(struct index *index, char **ret_error)
{
    _cleanup_(kv_buf_done) struct kv_buf root = {0}, source = {0};
    const struct file_key *now = backing_root_key(index->backing);
    int r = kv_get(index->kv, TABLE_META, meta_key("root"), &root);
    if (r == 0)
        r = kv_get(index->kv, TABLE_META, meta_key("source"), &source);
    if (r < 0)
        return r == -ENOENT ? -EUCLEAN : r;
    if (root.size_bytes == now->size_bytes && memcmp(root.data, now->bytes, root.size_bytes) == 0)
        return 0;
    /* The same path on a file system made anew (or restored): everything is found again by the
     * scan, and what hangs on the old root alone is then forgotten (scan.c). */
    if (source.size_bytes == strlen(index->source) &&
        memcmp(source.data, index->source, source.size_bytes) == 0) {
        r = meta_put(index->kv, "old_root", kv_buf_slice(&root));
        return r < 0 ? r
                     : meta_put(index->kv, "root", (struct kv_slice){now->bytes, now->size_bytes});
    }
    return index_refuse(
        ret_error, -EPROTO,
        "store %s is that of %.*s, not of %s; name another store with store=", index->store_path,
        (int)source.size_bytes, (const char *)source.data, index->source);
}

/* That of a store whose database is lost, unless another one is asked for: its key is secret, and
 * cluster ids look as before under it. */
static bool take_kept_policy(struct index *index, const struct index_options *options)
{
    struct policy kept;
    if (options->tokens || options->stopwords || options->stemmer ||
        store_identity_read_policy_file(index->store_path, &kept) < 0 ||
        (options->policy && strcmp(options->policy, kept.name) != 0) ||
        word_options_check(&kept.words) < 0)
        return false;
    index->policy = kept;
    return true;
}

/* A store that does not say what it is was never finished, and has no rows. */
static int check_is_new(struct index *index, char **ret_error)
{
    for (unsigned table = TABLE_META + 1; table < SCHEMA_N_TABLES; table++) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = kv_scan(index->kv, table, &(struct kv_range){0}, 1, &page);
        if (r < 0)
            return r;
        if (page.n_entries)
            return index_refuse(
                ret_error, -EUCLEAN,
                "store %s is damaged: its schema is lost; run `kinfs check --repair "
                "--store=%s %s` to mend it (the documents are not touched)",
                index->store_path, index->store_path, index->source);
    }
    return 0;
}

int store_identity_check(struct index *index, const struct index_options *options,
                         const struct policy *policy, char **ret_error)
{
    uint64_t schema;
    int r = meta_get_number(index->kv, "schema", &schema);
    if (r == -ENOENT) {
        r = check_is_new(index, ret_error);
        if (r < 0)
            return r;
        bool kept = !policy && take_kept_policy(index, options);
        if (policy)
            index->policy = *policy;
        else if (!kept)
            r = policy_preset(options->policy ? options->policy : "default", &index->policy);
        if (r == -EINVAL)
            return index_refuse(ret_error, r,
                                "there is no policy '%s'; there are: default, broder1997",
                                options->policy);
        if (r == 0 && !policy && !kept)
            r = choose_words(index, options, ret_error);
        if (r == 0)
            r = make_identity(index, &index->policy);
    } else if (r == 0) {
        if (schema != SCHEMA_VERSION)
            return index_refuse(
                ret_error, -EPROTO,
                "store %s has schema %llu, this kinfs knows %d; use the kinfs that made "
                "it, or make another store with kinfs scan --store=DIRECTORY %s and "
                "mount with -o store=DIRECTORY",
                index->store_path, (unsigned long long)schema, SCHEMA_VERSION, index->source);
        r = check_policy(index, options, ret_error);
        if (r == 0)
            r = check_root(index, ret_error);
    }
    if (r == 0)
        r = write_policy_file(index);
    if (r == 0) {
        index->policy_id = policy_id(&index->policy);
        shown_ids_init(&index->shown_ids, &index->policy);
    }
    return r;
}

int index_read_source(const char *store_path, char **ret_source, char **ret_error)
{
    const struct kv_options options = {.tables = schema_tables,
                                       .n_tables = SCHEMA_N_TABLES,
                                       .read_only = true,
                                       .shown_path = store_path};
    _cleanup_free_ char *path = NULL;
    _cleanup_(kv_close_p) struct kv *kv = NULL;
    _cleanup_(kv_buf_done) struct kv_buf source = {0};
    if (asprintf(&path, "%s/" STORE_DB, store_path) < 0)
        return -ENOMEM;
    int r = kv_rocksdb_open(path, &options, &kv, ret_error);
    if (r < 0)
        return r;
    r = kv_get(kv, TABLE_META, meta_key("source"), &source);
    if (r < 0)
        return index_refuse(
            ret_error, r,
            "store %s does not say which tree it is of; run kinfs scan --store=%s with its "
            "source",
            store_path, store_path);
    char *text = strndup(source.data, source.size_bytes);
    if (!text)
        return -ENOMEM;
    *ret_source = text;
    return 0;
}
